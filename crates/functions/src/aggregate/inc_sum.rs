super::running!(inc_sum of sum);
