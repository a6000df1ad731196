//! Texts: case, trimming, searching, patterns, formats.

mod locale;

crate::registry::functions! {
    concat,
    endswith,
    format,
    format_time,
    indexof,
    length,
    lower,
    lpad,
    ltrim,
    numbytes,
    regexp_matches,
    regexp_replace,
    regexp_substr,
    reverse,
    rpad,
    rtrim,
    split_value,
    startswith,
    substring,
    trim,
    upper,
}
