//! How numbers are written in a language: the signs between groups and before the fraction.

/// The signs of one locale.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Locale {
    group: &'static str,
    decimal: char,
    minus: &'static str,
    /// Groups of two digits above the thousand, as in India.
    indian: bool,
}

const NO_BREAK: &str = "\u{a0}";
const MINUS: &str = "\u{2212}";

const fn signs(group: &'static str, decimal: char) -> Locale {
    Locale {
        group,
        decimal,
        minus: "-",
        indian: false,
    }
}

const ENGLISH: Locale = signs(",", '.');
const GERMAN: Locale = signs(".", ',');
const FRENCH: Locale = signs(NO_BREAK, ',');
const SWISS: Locale = signs("\u{2019}", '.');
const INDIAN: Locale = Locale {
    indian: true,
    ..ENGLISH
};
const NORTHERN: Locale = Locale {
    minus: MINUS,
    ..FRENCH
};

/// Regions that differ from their language.
const REGIONS: &[(&str, &str, Locale)] = &[
    ("de", "at", FRENCH),
    ("de", "ch", SWISS),
    ("de", "li", SWISS),
    ("it", "ch", SWISS),
    ("fr", "ch", FRENCH),
    ("en", "in", INDIAN),
    ("en", "za", FRENCH),
    ("en", "ch", SWISS),
    ("en", "at", FRENCH),
    ("en", "de", GERMAN),
    ("en", "nl", GERMAN),
    ("en", "be", GERMAN),
    ("en", "se", FRENCH),
    ("en", "fi", FRENCH),
    ("en", "dk", GERMAN),
    ("en", "si", GERMAN),
    ("pt", "pt", FRENCH),
    ("es", "mx", ENGLISH),
    ("es", "us", ENGLISH),
    ("es", "pr", ENGLISH),
    ("es", "gt", ENGLISH),
    ("es", "hn", ENGLISH),
    ("es", "ni", ENGLISH),
    ("es", "pa", ENGLISH),
    ("es", "pe", ENGLISH),
    ("es", "sv", ENGLISH),
    ("es", "do", ENGLISH),
    ("es", "cr", FRENCH),
    ("ta", "sg", ENGLISH),
    ("ta", "my", ENGLISH),
];

const LANGUAGES: &[(&[&str], Locale)] = &[
    (
        &[
            "en", "zh", "ja", "ko", "th", "he", "ms", "ga", "cy", "mt", "sw", "fil", "am", "ar",
            "yo", "ha", "ig", "zu", "mn", "si", "root",
        ],
        ENGLISH,
    ),
    (
        &[
            "de", "nl", "it", "es", "pt", "tr", "id", "da", "el", "ro", "hr", "bs", "sr", "vi",
            "is", "gl", "ca", "mk", "az", "jv", "km", "lo", "lb", "fo",
        ],
        GERMAN,
    ),
    (
        &[
            "fr", "ru", "uk", "pl", "cs", "sk", "hu", "bg", "be", "kk", "ky", "uz", "hy", "ka",
            "lv", "sq", "af", "tk", "tt",
        ],
        FRENCH,
    ),
    (&["sv", "nb", "no", "nn", "fi", "et", "lt"], NORTHERN),
    (
        &["eu", "sl"],
        Locale {
            minus: MINUS,
            ..GERMAN
        },
    ),
    (
        &[
            "hi", "bn", "ta", "te", "gu", "kn", "ml", "mr", "pa", "or", "as", "ur", "ne",
        ],
        INDIAN,
    ),
    (&["rm"], SWISS),
];

/// By a name such as `de`, `de_DE` or `zh-Hans-CN`; None for what is no locale.
pub(super) fn locale(name: &str) -> Option<Locale> {
    let mut parts = name.split(['_', '-']).map(str::to_ascii_lowercase);
    let language = parts.next()?;
    let mut region = None;
    for (at, part) in parts.enumerate() {
        let letters = part.bytes().all(|b| b.is_ascii_alphabetic());
        match part.len() {
            4 if at == 0 && letters => {}
            2 if region.is_none() && letters => region = Some(part),
            3 if region.is_none() && part.bytes().all(|b| b.is_ascii_digit()) => {
                region = Some(part);
            }
            _ => return None,
        }
    }
    let own = REGIONS
        .iter()
        .find(|(l, r, _)| *l == language && Some(*r) == region.as_deref());
    if let Some((_, _, found)) = own {
        return Some(*found);
    }
    let known = LANGUAGES
        .iter()
        .find(|(names, _)| names.contains(&language.as_str()));
    known.map(|(_, found)| *found)
}

impl Locale {
    /// A number in plain digits (`-1234.50`) in the locale's signs.
    pub(super) fn apply(&self, plain: &str) -> String {
        let (minus, digits) = match plain.strip_prefix('-') {
            Some(rest) => (self.minus, rest),
            None => ("", plain),
        };
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let mut out = String::from(minus);
        for (at, digit) in whole.chars().enumerate() {
            let left = whole.len() - at;
            let edge = if self.indian {
                left >= 3 && left % 2 == 1
            } else {
                left % 3 == 0
            };
            if at > 0 && edge {
                out.push_str(self.group);
            }
            out.push(digit);
        }
        if !fraction.is_empty() {
            out.push(self.decimal);
            out.push_str(fraction);
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_of_locales() {
        let cases = [
            ("en_US", "1234567.89", "1,234,567.89"),
            ("de_DE", "1234567.89", "1.234.567,89"),
            ("en_IN", "12345678.9", "1,23,45,678.9"),
            ("fr_FR", "1234.5", "1\u{a0}234,5"),
            ("de-CH", "1234.5", "1\u{2019}234.5"),
            ("zh-Hans-CN", "1234", "1,234"),
            ("en", "-10000.00", "-10,000.00"),
            ("en_GB", "123", "123"),
            ("sv", "-1", "\u{2212}1"),
            ("es_419", "1000", "1.000"),
        ];
        for (name, plain, want) in cases {
            assert_eq!(locale(name).unwrap().apply(plain), want, "{name}");
        }
        for name in ["", "zz_zz_zz", "xx", "en_USA_", "de_", "_"] {
            assert_eq!(locale(name), None, "{name}");
        }
    }
}
