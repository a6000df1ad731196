//! A file as one message, and the rows of a json array as messages of their own.

use std::fs::File;
use std::io::{self, Read};

use rekuiper_formats::codec::Compression;

/// Largest file that is read as one message, unpacked.
pub const WHOLE_BYTES_MAX: usize = 1 << 30;

pub fn read(file: File, packed: Option<Compression>) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(WHOLE_BYTES_MAX as u64 + 1).read_to_end(&mut bytes)?;
    if bytes.len() > WHOLE_BYTES_MAX {
        return Err(io::Error::other(format!(
            "the file is larger than {WHOLE_BYTES_MAX} bytes, the most that is read as one \
             message; use fileType lines or csv"
        )));
    }
    let Some(packed) = packed else { return Ok(bytes) };
    let mut plain = Vec::new();
    packed
        .decompress(&bytes, WHOLE_BYTES_MAX, &mut plain)
        .map_err(|e| io::Error::other(e.to_string()))?;
    Ok(plain)
}

/// The elements of a JSON array as they are written, if the text is one; whether an element is
/// well formed is for the decoder to say.
pub fn elements(text: &[u8]) -> Option<Vec<(usize, usize)>> {
    let start = text.iter().position(|b| !b.is_ascii_whitespace())?;
    if text[start] != b'[' {
        return None;
    }
    let mut found = Vec::new();
    let (mut depth, mut in_text, mut from) = (0usize, false, start + 1);
    let mut at = start;
    while at < text.len() {
        match text[at] {
            b'\\' if in_text => at += 1,
            b'"' => in_text = !in_text,
            _ if in_text => {}
            b'[' | b'{' => depth += 1,
            b']' | b'}' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    let blank = text[from..at].iter().all(u8::is_ascii_whitespace);
                    if !(blank && found.is_empty()) {
                        found.push((from, at));
                    }
                    let rest = &text[at + 1..];
                    return rest.iter().all(u8::is_ascii_whitespace).then_some(found);
                }
            }
            b',' if depth == 1 => {
                found.push((from, at));
                from = at + 1;
            }
            _ => {}
        }
        at += 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_are_cut_between_their_elements() {
        let cut = |t: &'static str| {
            elements(t.as_bytes())
                .map(|all| all.into_iter().map(|(a, b)| t[a..b].trim()).collect::<Vec<_>>())
        };
        assert_eq!(cut(r#" [{"a":[1,2]}, {"b":"],\"["}] "#).unwrap().len(), 2);
        assert_eq!(cut("[]").unwrap().len(), 0);
        assert_eq!(cut("[1,2]"), Some(vec!["1", "2"]));
        for other in ["", "{}", "[1", "[1]x", "]", "[\"a]"] {
            assert_eq!(cut(other), None, "{other}");
        }
    }
}
