//! How Go prints values: `{{.}}`, print, println and printf.

use rekuiper_value::{Error, Result, Value, text};

use crate::exec::OUTPUT_MAX;

/// Widest field and most decimals of printf.
const WIDTH_MAX: usize = 1000;

/// What `{{.}}` prints.
pub fn print(out: &mut Vec<u8>, value: &Value) {
    match value {
        Value::Missing | Value::Null => out.extend_from_slice(b"<no value>"),
        other => text::render_into(out, other),
    }
}

/// A value as `%v` prints it.
pub fn text(value: &Value) -> String {
    let mut out = Vec::new();
    text::render_into(&mut out, value);
    String::from_utf8_lossy(&out).into_owned()
}

/// `print`: a blank between operands when neither is text.
pub fn sprint(args: &[Value]) -> String {
    let mut out = String::new();
    for (at, arg) in args.iter().enumerate() {
        let texts = |v: &Value| matches!(v, Value::Str(_));
        if at > 0 && !texts(arg) && !texts(&args[at - 1]) {
            out.push(' ');
        }
        out += &text(arg);
    }
    out
}

/// `println`: always a blank, and a line end.
pub fn sprintln(args: &[Value]) -> String {
    let all: Vec<String> = args.iter().map(text).collect();
    all.join(" ") + "\n"
}

#[derive(Default)]
struct Spec {
    minus: bool,
    plus: bool,
    sharp: bool,
    space: bool,
    zero: bool,
    width: Option<usize>,
    precision: Option<usize>,
}

/// `printf`.
pub fn sprintf(format: &str, args: &[Value]) -> Result<String> {
    let mut out = String::new();
    let mut chars = format.chars().peekable();
    let mut next = 0;
    while let Some(c) = chars.next() {
        if out.len() > OUTPUT_MAX {
            return Err(Error::new("printf: the text is longer than 64 MiB"));
        }
        if c != '%' {
            out.push(c);
            continue;
        }
        let mut spec = Spec::default();
        while let Some(flag) = chars.next_if(|c| matches!(c, '-' | '+' | '#' | ' ' | '0')) {
            match flag {
                '-' => spec.minus = true,
                '+' => spec.plus = true,
                '#' => spec.sharp = true,
                ' ' => spec.space = true,
                _ => spec.zero = true,
            }
        }
        spec.width = size(&mut chars, args, &mut next);
        if chars.next_if_eq(&'.').is_some() {
            spec.precision = Some(size(&mut chars, args, &mut next).unwrap_or(0));
        }
        let Some(verb) = chars.next() else {
            out += "%!(NOVERB)";
            break;
        };
        if verb == '%' {
            out.push('%');
            continue;
        }
        let Some(arg) = args.get(next) else {
            out += &format!("%!{verb}(MISSING)");
            continue;
        };
        next += 1;
        let body = verb_text(verb, arg, &spec).unwrap_or_else(|| bad(verb, arg));
        pad(&mut out, body, &spec, arg);
    }
    if next < args.len() {
        let rest: Vec<String> = args[next..]
            .iter()
            .map(|v| match v.is_null() {
                true => "<nil>".into(),
                false => format!("{}={}", go_type(v), text(v)),
            })
            .collect();
        out += &format!("%!(EXTRA {})", rest.join(", "));
    }
    Ok(out)
}

fn size(
    chars: &mut std::iter::Peekable<std::str::Chars<'_>>,
    args: &[Value],
    next: &mut usize,
) -> Option<usize> {
    if chars.next_if_eq(&'*').is_some() {
        let given = args.get(*next).and_then(Value::as_f64)?;
        *next += 1;
        return Some((given.max(0.0) as usize).min(WIDTH_MAX));
    }
    let mut digits = None;
    while let Some(c) = chars.next_if(char::is_ascii_digit) {
        let digit = c as usize - '0' as usize;
        digits = Some((digits.unwrap_or(0) * 10 + digit).min(WIDTH_MAX));
    }
    digits
}

fn bad(verb: char, arg: &Value) -> String {
    if arg.is_null() {
        return format!("%!{verb}(<nil>)");
    }
    format!("%!{verb}({}={})", go_type(arg), text(arg))
}

fn go_type(value: &Value) -> &'static str {
    match value {
        // whole numbers are int in templates
        Value::Int(_) => "int",
        other => other.kind_name(),
    }
}

fn pad(out: &mut String, mut body: String, spec: &Spec, arg: &Value) {
    let width = spec.width.unwrap_or(0);
    let len = body.chars().count();
    if len >= width {
        out.push_str(&body);
        return;
    }
    let fill = width - len;
    if spec.minus {
        out.push_str(&body);
        out.extend(std::iter::repeat_n(' ', fill));
    } else if spec.zero && (arg.is_number() || matches!(arg, Value::Str(_))) {
        if body.starts_with(['-', '+']) && arg.is_number() {
            out.push(body.remove(0));
        }
        out.extend(std::iter::repeat_n('0', fill));
        out.push_str(&body);
    } else {
        out.extend(std::iter::repeat_n(' ', fill));
        out.push_str(&body);
    }
}

/// The text of one verb without padding; `None` when the value does not suit it.
fn verb_text(verb: char, arg: &Value, spec: &Spec) -> Option<String> {
    match (verb, arg) {
        ('v', Value::Float(_) | Value::Wide(_)) if spec.precision.is_some() => {
            float('g', arg.as_f64()?, spec)
        }
        ('v', Value::Int(i)) => Some(signed(i.to_string(), spec)),
        ('v', Value::Str(s)) if spec.sharp => Some(quote(s)),
        ('v', _) => Some(text(arg)),
        ('T', _) if arg.is_null() => Some("<nil>".into()),
        ('T', _) => Some(go_type(arg).into()),
        ('t', Value::Bool(b)) => Some(b.to_string()),
        (_, Value::Int(i)) => integer(verb, *i, spec),
        (_, Value::Float(_) | Value::Wide(_)) => float(verb, arg.as_f64()?, spec),
        ('s' | 'q' | 'x' | 'X', Value::Str(s)) => Some(string(verb, s.as_bytes(), spec)),
        ('s' | 'q' | 'x' | 'X', Value::Bytes(b)) => Some(string(verb, b, spec)),
        // the verb is for the elements
        (_, Value::Array(items)) => {
            let all: Vec<String> = items
                .iter()
                .map(|v| verb_text(verb, v, spec).unwrap_or_else(|| bad(verb, v)))
                .collect();
            Some(format!("[{}]", all.join(" ")))
        }
        ('s', Value::Time(_)) => Some(text(arg)),
        _ => None,
    }
}

fn signed(digits: String, spec: &Spec) -> String {
    match (digits.starts_with('-'), spec.plus, spec.space) {
        (false, true, _) => format!("+{digits}"),
        (false, _, true) => format!(" {digits}"),
        _ => digits,
    }
}

fn integer(verb: char, i: i64, spec: &Spec) -> Option<String> {
    let minus = if i < 0 { "-" } else { "" };
    let n = i.unsigned_abs();
    let sharp = |prefix: &'static str| if spec.sharp { prefix } else { "" };
    let body = match verb {
        'd' => n.to_string(),
        'b' => format!("{}{n:b}", sharp("0b")),
        'o' => format!("{}{n:o}", sharp("0")),
        'O' => format!("0o{n:o}"),
        'x' => format!("{}{n:x}", sharp("0x")),
        'X' => format!("{}{n:X}", sharp("0X")),
        'c' => return Some(char::from_u32(i as u32).unwrap_or('\u{fffd}').to_string()),
        'q' => {
            return Some(format!("'{}'", char::from_u32(i as u32).unwrap_or('\u{fffd}')));
        }
        'U' => return Some(format!("U+{i:04X}")),
        _ => return None,
    };
    let least = spec.precision.unwrap_or(0);
    Some(signed(format!("{minus}{body:0>least$}"), spec))
}

fn float(verb: char, f: f64, spec: &Spec) -> Option<String> {
    if !f.is_finite() {
        return matches!(verb, 'e' | 'E' | 'f' | 'F' | 'g' | 'G' | 'v')
            .then(|| text(&Value::Float(f)));
    }
    let body = match verb {
        'f' | 'F' => format!("{f:.*}", spec.precision.unwrap_or(6)),
        'e' | 'E' => exponent(f, spec.precision.unwrap_or(6)),
        'g' | 'G' => match spec.precision {
            None => text(&Value::Float(f)),
            Some(precision) => general(f, precision.max(1)),
        },
        _ => return None,
    };
    let body = if verb.is_uppercase() { body.to_uppercase() } else { body };
    Some(signed(body, spec))
}

/// `1.500000e+06`.
fn exponent(f: f64, precision: usize) -> String {
    let text = format!("{f:.precision$e}");
    let (mantissa, exp) = text.split_once('e').unwrap_or((&text, "0"));
    let (sign, digits) = match exp.strip_prefix('-') {
        Some(digits) => ('-', digits),
        None => ('+', exp),
    };
    format!("{mantissa}e{sign}{digits:0>2}")
}

fn general(f: f64, precision: usize) -> String {
    let text = exponent(f, precision - 1);
    let exp: i32 = text.split_once('e').and_then(|(_, e)| e.parse().ok()).unwrap_or(0);
    let trim = |digits: &str| match digits.contains('.') {
        true => digits.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => digits.to_owned(),
    };
    if exp < -4 || exp >= precision as i32 {
        let (mantissa, rest) = text.split_once('e').unwrap_or((&text, "+00"));
        return format!("{}e{rest}", trim(mantissa));
    }
    let places = (precision as i32 - 1 - exp).max(0) as usize;
    trim(&format!("{f:.places$}"))
}

fn string(verb: char, bytes: &[u8], spec: &Spec) -> String {
    let text = String::from_utf8_lossy(bytes);
    let cut: String = match spec.precision {
        Some(n) => text.chars().take(n).collect(),
        None => text.into_owned(),
    };
    match verb {
        's' => cut,
        'q' => quote(&cut),
        'x' => bytes.iter().map(|b| format!("{b:02x}")).collect(),
        _ => bytes.iter().map(|b| format!("{b:02X}")).collect(),
    }
}

/// Text in Go's double quotes.
pub fn quote(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out += "\\\"",
            '\\' => out += "\\\\",
            '\n' => out += "\\n",
            '\r' => out += "\\r",
            '\t' => out += "\\t",
            '\u{7}' => out += "\\a",
            '\u{8}' => out += "\\b",
            '\u{b}' => out += "\\v",
            '\u{c}' => out += "\\f",
            c if (c as u32) < 0x20 || c as u32 == 0x7f => {
                out += &format!("\\x{:02x}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
