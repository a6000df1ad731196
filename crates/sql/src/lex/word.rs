//! Reserved words.

macro_rules! reserved {
    ($($variant:ident $text:literal,)*) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Kw { $($variant,)* }

        const ALL: &[(&str, Kw)] = &[$(($text, Kw::$variant),)*];
    };
}

reserved! {
    Select "SELECT", As "AS", From "FROM", Where "WHERE", And "AND", Or "OR", Group "GROUP",
    Having "HAVING", Order "ORDER", By "BY", Desc "DESC", Asc "ASC", Filter "FILTER",
    Inner "INNER", Left "LEFT", Right "RIGHT", Full "FULL", Cross "CROSS", Join "JOIN", On "ON",
    Case "CASE", When "WHEN", Then "THEN", Default "DEFAULT", Else "ELSE", End "END", In "IN",
    Not "NOT", Between "BETWEEN", Like "LIKE", Over "OVER", Partition "PARTITION",
    Replace "REPLACE", Except "EXCEPT", Invisible "INVISIBLE", Limit "LIMIT", True "TRUE",
    False "FALSE", Dd "DD", Hh "HH", Mi "MI", Ss "SS", Ms "MS",
}

impl Kw {
    pub fn by_text(text: &str) -> Option<Kw> {
        if text.len() > 9 {
            return None;
        }
        ALL.iter()
            .find(|(t, _)| t.eq_ignore_ascii_case(text))
            .map(|(_, k)| *k)
    }

    pub fn text(self) -> &'static str {
        ALL.iter().find(|(_, k)| *k == self).map_or("", |(t, _)| t)
    }
}

/// Whether a name can be written without backquotes.
pub(crate) fn is_bare_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        && Kw::by_text(name).is_none()
}
