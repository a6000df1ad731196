//! LIKE patterns: `%` any run of characters (line breaks too), `_` one character, `\` takes the
//! next character as it is. Nothing else is special.

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    Char(char),
    One,
    Many,
}

/// A pattern taken apart once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LikePattern {
    tokens: Box<[Token]>,
    text: Box<str>,
}

impl LikePattern {
    pub fn new(pattern: &str) -> Self {
        let mut tokens: Vec<Token> = Vec::new();
        let mut chars = pattern.chars();
        while let Some(c) = chars.next() {
            match c {
                '%' if tokens.last() == Some(&Token::Many) => {}
                '%' => tokens.push(Token::Many),
                '_' => tokens.push(Token::One),
                '\\' => tokens.push(Token::Char(chars.next().unwrap_or('\\'))),
                c => tokens.push(Token::Char(c)),
            }
        }
        LikePattern {
            tokens: tokens.into(),
            text: pattern.into(),
        }
    }

    /// The pattern as written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether the whole text fits. Time O(text × pattern) at worst, no recursion.
    pub fn matches(&self, text: &str) -> bool {
        let (mut rest, mut at) = (text.chars(), 0);
        let mut retry: Option<(std::str::Chars<'_>, usize)> = None;
        loop {
            match self.tokens.get(at) {
                Some(Token::Many) => {
                    at += 1;
                    if at == self.tokens.len() {
                        return true;
                    }
                    retry = Some((rest.clone(), at));
                    continue;
                }
                Some(token) => {
                    if let Some(c) = rest.next()
                        && (*token == Token::One || *token == Token::Char(c))
                    {
                        at += 1;
                        continue;
                    }
                }
                None if rest.as_str().is_empty() => return true,
                None => {}
            }
            // no fit here: let the last % take one character more
            let Some((mut from, token)) = retry.take() else {
                return false;
            };
            if from.next().is_none() {
                return false;
            }
            rest = from.clone();
            at = token;
            retry = Some((from, token));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        let cases = [
            ("ab%", "abc", true),
            ("%ab", "cab", true),
            ("%ab%", "xaby", true),
            ("%", "", true),
            ("a_c", "abc", true),
            ("a_c", "ac", false),
            ("_", "世", true),
            ("__", "世", false),
            ("a.c", "abc", false),
            ("", "", true),
            ("", "x", false),
            ("a\\%", "a%", true),
            ("a\\%", "ab", false),
            ("a%b%c", "a--b--b--c", true),
            ("a%b%c", "a--b--b--", false),
            ("a%b", "a\nb", true),
            ("%aab", "aaab", true),
        ];
        for (pattern, text, want) in cases {
            assert_eq!(
                LikePattern::new(pattern).matches(text),
                want,
                "{text} LIKE {pattern}"
            );
        }
    }
}
