//! HTTP as the routes see it: a call comes in, a reply goes out.

mod call;
pub mod cors;
pub mod json;
mod reply;
pub mod serve;

pub use call::{Call, covers};
pub use reply::Reply;

/// Whether a name may be used for a stream, rule, configuration key and so on. Such names are safe
/// as parts of file names.
pub fn is_name(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= 255
        && name
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
}

/// `name`, or what is wrong with it; `what` is what it names.
pub fn check_name<'a>(what: &str, name: &'a str) -> crate::error::ApiResult<&'a str> {
    if is_name(name) {
        return Ok(name);
    }
    Err(crate::error::ApiError::bad(format!(
        "{what} {:?} is not a valid name: use at most 255 letters, digits, '_' and '-'",
        shortened(name)
    )))
}

/// Enough of a text to know it again in an error; texts of clients may have any length.
pub fn shortened(text: &str) -> std::borrow::Cow<'_, str> {
    const MOST: usize = 80;
    match text.char_indices().nth(MOST) {
        None => text.into(),
        Some((end, _)) => format!("{}…", &text[..end]).into(),
    }
}
