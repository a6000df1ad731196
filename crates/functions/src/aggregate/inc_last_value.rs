super::running!(inc_last_value of last_value);
