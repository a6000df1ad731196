//! Path text to steps.

use rekuiper_value::{Error, Result, Str, Value, number};

use super::{Comparison, Condition, Operand, Path, Step};

/// Deepest nesting of parentheses, negations and conditions within conditions.
const DEPTH_MAX: usize = 64;
/// Longest path text.
const LEN_MAX: usize = 16 * 1024;

pub(super) fn path(text: &str) -> Result<Path> {
    if text.len() > LEN_MAX {
        return Err(Error::new(format!(
            "json path: longer than {LEN_MAX} bytes"
        )));
    }
    let mut reader = Reader {
        text,
        at: 0,
        depth: 0,
    };
    reader.space();
    let path = match reader.peek() {
        Some('$') => reader.path()?,
        _ => return Err(reader.expected("'$'")),
    };
    reader.space();
    match reader.peek() {
        None => Ok(path),
        Some(_) => Err(reader.expected("'.', '[' or the end")),
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

impl Reader<'_> {
    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or("")
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn take(&mut self, word: &str) -> bool {
        let found = self.rest().starts_with(word);
        if found {
            self.at += word.len();
        }
        found
    }

    fn space(&mut self) {
        while self.peek().is_some_and(char::is_whitespace) {
            self.at += self.peek().map_or(0, char::len_utf8);
        }
    }

    fn expected(&self, what: &str) -> Error {
        let found = self
            .peek()
            .map_or("the end".to_owned(), |c| format!("{c:?}"));
        Error::new(format!(
            "json path {:?}: expected {what} at byte {}, found {found}",
            self.text, self.at
        ))
    }

    fn need(&mut self, word: &str) -> Result<()> {
        self.space();
        if self.take(word) {
            Ok(())
        } else {
            Err(self.expected(&format!("'{word}'")))
        }
    }

    fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.depth >= DEPTH_MAX {
            return Err(Error::new(format!(
                "json path: nested deeper than {DEPTH_MAX}"
            )));
        }
        self.depth += 1;
        let answer = read(self);
        self.depth -= 1;
        answer
    }

    /// `$…` or `@…`
    fn path(&mut self) -> Result<Path> {
        let from_item = !self.take("$");
        if from_item {
            self.need("@")?;
        }
        let mut steps = Vec::new();
        loop {
            if self.take("..") {
                steps.push(Step::Descend);
                match self.peek() {
                    Some('[') => {}
                    _ => steps.push(self.after_dot()?),
                }
            } else if self.take(".") {
                steps.push(self.after_dot()?);
            } else if self.take("[") {
                steps.push(self.brackets()?);
            } else {
                return Ok(Path { from_item, steps });
            }
        }
    }

    fn after_dot(&mut self) -> Result<Step> {
        if self.take("*") {
            return Ok(Step::All);
        }
        let name: String = self
            .rest()
            .chars()
            .take_while(|c| c.is_alphanumeric() || "_-$".contains(*c))
            .collect();
        if name.is_empty() {
            return Err(self.expected("a member name or '*'"));
        }
        self.at += name.len();
        Ok(Step::Member(name.into()))
    }

    fn brackets(&mut self) -> Result<Step> {
        self.space();
        if self.take("?") {
            let condition = self.deeper(Self::either)?;
            self.need("]")?;
            return Ok(Step::Filter(condition));
        }
        if self.take("*") {
            self.need("]")?;
            return Ok(Step::All);
        }
        let mut several = vec![self.subscript()?];
        self.space();
        while self.take(",") {
            several.push(self.subscript()?);
            self.space();
        }
        self.need("]")?;
        match several.len() {
            1 => Ok(several.remove(0)),
            _ => Ok(Step::Several(several)),
        }
    }

    /// A name in quotes, an index, or a slice.
    fn subscript(&mut self) -> Result<Step> {
        self.space();
        if let Some(quote @ ('"' | '\'')) = self.peek() {
            return Ok(Step::Member(self.quoted(quote)?));
        }
        let start = self.index()?;
        self.space();
        if !self.take(":") {
            return start
                .map(Step::Index)
                .ok_or_else(|| self.expected("an index or a name"));
        }
        let end = self.index()?;
        self.space();
        let step = if self.take(":") {
            self.index()?.unwrap_or(1)
        } else {
            1
        };
        if step == 0 {
            return Err(self.expected("a step that is not 0"));
        }
        Ok(Step::Slice(start, end, step))
    }

    fn index(&mut self) -> Result<Option<i64>> {
        self.space();
        let len = self
            .rest()
            .bytes()
            .take_while(|b| b.is_ascii_digit() || *b == b'-')
            .count();
        if len == 0 {
            return Ok(None);
        }
        let found = number::parse_i64(&self.rest().as_bytes()[..len]);
        let index = found.ok_or_else(|| self.expected("a whole number"))?;
        self.at += len;
        Ok(Some(index))
    }

    fn quoted(&mut self, quote: char) -> Result<Str> {
        let mut out = String::new();
        let mut chars = self.rest().char_indices().skip(1);
        while let Some((at, c)) = chars.next() {
            match c {
                c if c == quote => {
                    self.at += at + c.len_utf8();
                    return Ok(out.into());
                }
                '\\' => match chars.next() {
                    Some((_, 'n')) => out.push('\n'),
                    Some((_, 't')) => out.push('\t'),
                    Some((_, other)) => out.push(other),
                    None => break,
                },
                other => out.push(other),
            }
        }
        Err(self.expected("a closing quote"))
    }

    fn either(&mut self) -> Result<Condition> {
        let mut left = self.both()?;
        self.space();
        while self.take("||") {
            left = Condition::Or(Box::new(left), Box::new(self.both()?));
            self.space();
        }
        Ok(left)
    }

    fn both(&mut self) -> Result<Condition> {
        let mut left = self.single()?;
        self.space();
        while self.take("&&") {
            left = Condition::And(Box::new(left), Box::new(self.single()?));
            self.space();
        }
        Ok(left)
    }

    fn single(&mut self) -> Result<Condition> {
        self.space();
        if self.take("(") {
            let inner = self.deeper(Self::either)?;
            self.need(")")?;
            return Ok(inner);
        }
        if !self.rest().starts_with("!=") && self.take("!") {
            return Ok(Condition::Not(Box::new(self.deeper(Self::single)?)));
        }
        let left = self.operand()?;
        self.space();
        const SIGNS: [(&str, Comparison); 6] = [
            ("==", Comparison::Equal),
            ("!=", Comparison::Unequal),
            ("<=", Comparison::LessEqual),
            (">=", Comparison::GreaterEqual),
            ("<", Comparison::Less),
            (">", Comparison::Greater),
        ];
        for (sign, comparison) in SIGNS {
            if self.take(sign) {
                self.space();
                return Ok(Condition::Compare(left, comparison, self.operand()?));
            }
        }
        Ok(Condition::Holds(left))
    }

    fn operand(&mut self) -> Result<Operand> {
        match self.peek() {
            Some('@' | '$') => Ok(Operand::Path(self.deeper(Self::path)?)),
            Some(quote @ ('"' | '\'')) => Ok(Operand::Value(Value::Str(self.quoted(quote)?))),
            Some('-' | '0'..='9') => self.number(),
            _ => {
                let words = [
                    ("true", Value::Bool(true)),
                    ("false", Value::Bool(false)),
                    ("null", Value::Null),
                ];
                for (word, value) in words {
                    if self.take(word) {
                        return Ok(Operand::Value(value));
                    }
                }
                Err(self.expected("a path, a number, text, true, false or null"))
            }
        }
    }

    fn number(&mut self) -> Result<Operand> {
        let mut before = ' ';
        let len = self
            .rest()
            .chars()
            .take_while(|c| {
                let exponent_sign = "+-".contains(*c) && "eE".contains(before);
                let first_sign = *c == '-' && before == ' ';
                before = *c;
                c.is_ascii_digit() || ".eE".contains(*c) || exponent_sign || first_sign
            })
            .count();
        let text = &self.rest().as_bytes()[..len];
        let value = rekuiper_value::json::schemaless_number(text);
        let value = value.ok_or_else(|| self.expected("a number"))?;
        self.at += len;
        Ok(Operand::Value(value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn refused_texts() {
        for bad in [
            "",
            "k",
            "$.",
            "$.[",
            "$[",
            "$[1",
            "$[]",
            "$[?]",
            "$[? @.k>]",
            "$[? (@.k]",
            "$x",
            "$[1:2:0]",
            "$['k]",
            "$[99999999999999999999]",
            "$[? @.k = 1]",
            "$..",
            "$[1,]",
        ] {
            assert!(path(bad).is_err(), "{bad}");
        }
        let deep = format!("$[? {}@.k{}]", "(".repeat(5000), ")".repeat(5000));
        assert!(path(&deep).is_err());
        assert!(path(&format!("$[? {}@.k]", "!".repeat(5000))).is_err());
        assert!(path(&format!("{}1{}", "$[? @".repeat(3000), "]".repeat(3000))).is_err());
    }

    #[test]
    fn accepted_texts() {
        for good in [
            "$",
            " $ ",
            "$.k",
            "$.k[0].z",
            "$['a.b']",
            "$[\"k\"]",
            "$[-1]",
            "$[1:]",
            "$[:2]",
            "$[::2]",
            "$..k",
            "$..*",
            "$..[0]",
            "$.*",
            "$[*]",
            "$[0, 2]",
            "$['a','b']",
            "$[?(@.k>1)]",
            "$[? !(@.k == 'x') || $.on && @ >= -1.5e3]",
            "$.größe",
            "$[?@.k]",
        ] {
            assert!(path(good).is_ok(), "{good}: {:?}", path(good));
        }
    }

    proptest! {
        #[test]
        fn any_text_gives_a_path_or_an_error(text in "\\PC{0,40}") {
            let _ = path(&text);
        }

        #[test]
        fn path_like_text_gives_a_path_or_an_error(
            text in "\\$([.\\[\\]?@*:,'\"ka01()&|!<>=-]| ){0,24}",
        ) {
            if let Ok(path) = path(&text) {
                let doc = rekuiper_value::json::parse(br#"{"k":[{"a":1},[0,"x"]],"a":null}"#);
                let _ = super::super::find(&path, &doc.unwrap());
            }
        }
    }
}
