super::running!(inc_merge_agg of merge_agg);
