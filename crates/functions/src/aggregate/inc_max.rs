super::running!(inc_max of max);
