super::running!(inc_avg of avg);
