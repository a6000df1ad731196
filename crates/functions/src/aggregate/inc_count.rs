super::running!(inc_count of count);
