//! Points in time: the clock, parts of a time, reckoning with times.

mod clock;

crate::registry::functions! {
    cur_date,
    cur_time,
    current_date,
    current_time,
    current_timestamp,
    date_calc,
    date_diff,
    day_name,
    day_of_month,
    day_of_week,
    day_of_year,
    from_days,
    from_unix_time,
    hour,
    last_day,
    local_time,
    local_timestamp,
    microsecond,
    minute,
    month,
    month_name,
    now,
    second,
}
