//! Regular expressions as Go's RE2 reads them, said in the syntax of the `regex` crate.
//!
//! The two differ in: `\d \w \s \b` mean ASCII in Go; inside a class Go takes `[`, `&&`, `--` and
//! `~~` as plain characters; `{` that starts no counted repetition is a plain character, and so
//! are `\<` and `\>`; `\Q…\E` quotes.

/// The same expression for the `regex` crate.
pub(crate) fn from_go(pattern: &str) -> String {
    let chars: Vec<char> = pattern.chars().collect();
    let mut out = String::with_capacity(pattern.len() + 8);
    let mut at = 0;
    while at < chars.len() {
        at = match chars[at] {
            '\\' => escape(&chars, at, &mut out, false),
            '[' => class(&chars, at, &mut out),
            '{' if !counted(&chars[at + 1..]) => push(&mut out, "\\{", at + 1),
            c => {
                out.push(c);
                at + 1
            }
        };
    }
    out
}

fn push(out: &mut String, text: &str, next: usize) -> usize {
    out.push_str(text);
    next
}

/// Whether `{` is followed by `n}`, `n,}` or `n,m}`.
fn counted(rest: &[char]) -> bool {
    let digits = |from: &[char]| from.iter().take_while(|c| c.is_ascii_digit()).count();
    let first = digits(rest);
    if first == 0 {
        return false;
    }
    match rest.get(first) {
        Some('}') => true,
        Some(',') => {
            let after = &rest[first + 1..];
            after.get(digits(after)) == Some(&'}')
        }
        _ => false,
    }
}

/// An escape at `at`; the position behind it.
fn escape(chars: &[char], at: usize, out: &mut String, in_class: bool) -> usize {
    let Some(&c) = chars.get(at + 1) else {
        return push(out, "\\", at + 1);
    };
    let text = match (c, in_class) {
        ('d', false) => "[0-9]",
        ('d', true) => "0-9",
        ('D', _) => "[^0-9]",
        ('w', false) => "[0-9A-Za-z_]",
        ('w', true) => "0-9A-Za-z_",
        ('W', _) => "[^0-9A-Za-z_]",
        ('s', false) => "[\\t\\n\\f\\r ]",
        ('s', true) => "\\t\\n\\f\\r\\x20",
        ('S', _) => "[^\\t\\n\\f\\r ]",
        ('b', false) => "(?-u:\\b)",
        ('<', _) => "<",
        ('>', _) => ">",
        ('Q', false) => return quoted(chars, at + 2, out),
        ('p' | 'P' | 'x', _) if chars.get(at + 2) == Some(&'{') => return braced(chars, at, out),
        (c, _) => {
            out.push('\\');
            out.push(c);
            return at + 2;
        }
    };
    push(out, text, at + 2)
}

/// `\p{Han}`, `\p{^Han}` or `\x{4e16}` at `at`; the position behind it.
fn braced(chars: &[char], at: usize, out: &mut String) -> usize {
    let inside = at + 3;
    let length = chars[inside..]
        .iter()
        .position(|c| *c == '}')
        .unwrap_or(chars.len() - inside);
    let end = (inside + length + 1).min(chars.len());
    let (kind, from) = match (chars[at + 1], chars.get(inside)) {
        ('p', Some('^')) => ('P', inside + 1),
        ('P', Some('^')) => ('p', inside + 1),
        (kind, _) => (kind, inside),
    };
    out.push('\\');
    out.push(kind);
    out.push('{');
    out.extend(&chars[from..end]);
    end
}

/// Text up to `\E` or the end stands for itself.
fn quoted(chars: &[char], from: usize, out: &mut String) -> usize {
    let mut at = from;
    while at < chars.len() {
        if chars[at] == '\\' && chars.get(at + 1) == Some(&'E') {
            return at + 2;
        }
        out.push_str(&regex::escape(chars[at].encode_utf8(&mut [0; 4])));
        at += 1;
    }
    at
}

/// A class that starts at `at`; the position behind it.
fn class(chars: &[char], at: usize, out: &mut String) -> usize {
    out.push('[');
    let mut next = at + 1;
    if chars.get(next) == Some(&'^') {
        out.push('^');
        next += 1;
    }
    if chars.get(next) == Some(&']') {
        out.push_str("\\]");
        next += 1;
    }
    while let Some(&c) = chars.get(next) {
        next = match c {
            ']' => return push(out, "]", next + 1),
            '\\' => escape(chars, next, out, true),
            '[' if chars.get(next + 1) == Some(&':') => named(chars, next, out),
            '[' => push(out, "\\[", next + 1),
            '&' | '~' => {
                out.push('\\');
                out.push(c);
                next + 1
            }
            '-' if chars.get(next + 1) == Some(&'-') => push(out, "-\\-", next + 2),
            c => {
                out.push(c);
                next + 1
            }
        };
    }
    next
}

/// `[:alpha:]` as it is; a `[:` that no `:]` follows is two characters.
fn named(chars: &[char], at: usize, out: &mut String) -> usize {
    let end = chars[at + 2..].windows(2).position(|two| two == [':', ']']);
    match end {
        Some(length) if length <= 8 => {
            let next = at + length + 4;
            out.extend(&chars[at..next]);
            next
        }
        _ => push(out, "\\[", at + 1),
    }
}

#[cfg(test)]
mod tests {
    use crate::context::regex;

    #[test]
    fn read_as_go_reads_them() {
        let cases = [
            (r"^\d$", "٣", false),
            (r"^\w$", "é", false),
            (r"^[\w-]+$", "a-b", true),
            (r"^\s$", "\u{a0}", false),
            (r"\bé", "aé", true),
            (r"\pL", "é", true),
            (r"^[[a]$", "[", true),
            (r"^[a&&b]+$", "a&b", true),
            (r"^[+--]+$", "+,-", true),
            (r"^a{$", "a{", true),
            (r"^a{,2}$", "a{,2}", true),
            (r"^a{1,2}$", "aa", true),
            (r"^\Qa.b\E+$", "a.bb", true),
            (r"^\Q[", "[", true),
            (r"\<", "<", true),
            (r"^[[:alpha:]]+$", "abc", true),
            (r"^[]a]+$", "]a", true),
            (r"^[^]a]$", "]", false),
            (r"^\D\W\S$", "a-b", true),
            (r"^[\D]$", "1", false),
            (r"(?i)É", "é", true),
            (r"a.b", "a\nb", false),
            (r"(?P<n>a)", "a", true),
            (r"^\x{4e16}$", "世", true),
            (r"^\p{^Han}$", "世", false),
            (r"^[\p{Han}]$", "世", true),
            (r"^\P{^Han}$", "世", true),
        ];
        for (pattern, text, want) in cases {
            assert_eq!(
                regex(pattern).map(|r| r.is_match(text)),
                Ok(want),
                "{pattern}"
            );
        }
        for pattern in [
            "(", "[", "*", "[a", r"\", "a**b)", "[z-a]", r"\pX", r"\p{", r"\x{4", "(?=a)", "a{3,2}",
        ] {
            assert!(regex(pattern).is_err(), "{pattern}");
        }
    }
}
