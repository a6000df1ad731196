//! Texts as words: title, camelcase and the like.

use super::{Function, f, text_value};

pub const FUNCTIONS: &[Function] = &[
    f("title", 1, 1, |a| text_value(title(a.str(0)?, true))),
    f("untitle", 1, 1, |a| text_value(title(a.str(0)?, false))),
    f("swapcase", 1, 1, |a| {
        let swap = |c: char| match c.is_uppercase() {
            true => c.to_lowercase().collect::<String>(),
            false => c.to_uppercase().collect(),
        };
        text_value(a.str(0)?.chars().map(swap).collect::<String>())
    }),
    f("initials", 1, 1, |a| {
        text_value(
            a.str(0)?.split_whitespace().filter_map(|w| w.chars().next()).collect::<String>(),
        )
    }),
    f("snakecase", 1, 1, |a| text_value(parts(a.str(0)?).join("_"))),
    f("kebabcase", 1, 1, |a| text_value(parts(a.str(0)?).join("-"))),
    f("camelcase", 1, 1, |a| {
        text_value(parts(a.str(0)?).iter().map(|w| title(w, true)).collect::<String>())
    }),
    f("plural", 3, 3, |a| text_value(a.str(if a.int(2)? == 1 { 0 } else { 1 })?)),
    f("abbrev", 2, 2, |a| {
        let (n, text) = (a.int(0)?, a.str(1)?);
        if n < 4 || text.len() as i64 <= n {
            return text_value(text);
        }
        let mut cut = n as usize - 3;
        while !text.is_char_boundary(cut) {
            cut -= 1;
        }
        text_value(format!("{}...", &text[..cut]))
    }),
    f("wrap", 2, 2, |a| text_value(wrap(a.int(0)?, a.str(1)?))),
];

/// The first letter of each word in upper or lower case.
fn title(text: &str, upper: bool) -> String {
    let mut out = String::new();
    let mut inside = false;
    for c in text.chars() {
        match (inside, upper) {
            (false, true) => out.extend(c.to_uppercase()),
            (false, false) => out.extend(c.to_lowercase()),
            _ => out.push(c),
        }
        inside = c.is_alphanumeric() || c == '_' || c == '\'';
    }
    out
}

/// Words in lower case: split at blanks, `_`, `-` and where a capital follows a small letter.
fn parts(text: &str) -> Vec<String> {
    let mut all = vec![String::new()];
    let mut before = ' ';
    for c in text.chars() {
        let cut = c.is_whitespace() || matches!(c, '_' | '-' | '.');
        if cut || c.is_uppercase() && (before.is_lowercase() || before.is_ascii_digit()) {
            all.push(String::new());
        }
        if !cut && let Some(last) = all.last_mut() {
            last.extend(c.to_lowercase());
        }
        before = c;
    }
    all.retain(|word| !word.is_empty());
    all
}

fn wrap(width: i64, text: &str) -> String {
    let width = usize::try_from(width).unwrap_or(1).max(1);
    let mut out = String::new();
    let mut line = 0;
    for word in text.split(' ') {
        let len = word.chars().count();
        if line > 0 && line + 1 + len > width {
            out.push('\n');
            line = 0;
        } else if line > 0 {
            out.push(' ');
            line += 1;
        }
        out += word;
        line += len;
    }
    out
}
