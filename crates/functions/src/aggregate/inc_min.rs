super::running!(inc_min of min);
