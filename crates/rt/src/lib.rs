//! The only door to time, tasks, queues and limits
