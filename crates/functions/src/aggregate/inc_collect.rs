super::running!(inc_collect of collect);
