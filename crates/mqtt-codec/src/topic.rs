//! Topic names, topic filters, shared subscriptions.

use crate::CodecError;

/// May messages be published on this name? Not empty, at most 65535 bytes, no wildcard, no U+0000.
pub fn valid_name(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= usize::from(u16::MAX)
        && !name.bytes().any(|b| matches!(b, b'+' | b'#' | 0))
}

/// May this filter be subscribed to? `+` fills a level alone, `#` likewise and only at the end.
/// A `$share/…` filter is judged by the filter inside it and by its group.
pub fn valid_filter(filter: &str) -> bool {
    SharedFilter::parse(filter).is_ok_and(|(_, filter)| plain_filter_is_valid(filter))
}

fn plain_filter_is_valid(filter: &str) -> bool {
    if filter.is_empty() || filter.len() > usize::from(u16::MAX) || filter.contains('\0') {
        return false;
    }
    let mut levels = filter.split('/').peekable();
    while let Some(level) = levels.next() {
        let ok = match level {
            "#" => levels.peek().is_none(),
            "+" => true,
            _ => !level.contains(['+', '#']),
        };
        if !ok {
            return false;
        }
    }
    true
}

/// The two parts of `$share/group/filter`.
pub struct SharedFilter;

impl SharedFilter {
    /// The group, if there is one, and the filter proper.
    pub fn parse(filter: &str) -> Result<(Option<&str>, &str), CodecError> {
        let Some(rest) = filter.strip_prefix("$share/") else {
            return match filter {
                "$share" => Err(CodecError::BadTopicFilter),
                _ => Ok((None, filter)),
            };
        };
        match rest.split_once('/') {
            Some((group, inner))
                if !group.is_empty() && !group.contains(['+', '#']) && !inner.is_empty() =>
            {
                Ok((Some(group), inner))
            }
            _ => Err(CodecError::BadTopicFilter),
        }
    }
}

/// Does the topic match the filter? Names that begin with `$` are not matched by a filter that
/// begins with a wildcard. Both are taken to be valid; `$share/…` must be taken off before.
pub fn topic_matches(filter: &str, topic: &str) -> bool {
    if topic.starts_with('$') && filter.starts_with(['+', '#']) {
        return false;
    }
    let mut filter = filter.split('/');
    let mut topic = topic.split('/');
    loop {
        match (filter.next(), topic.next()) {
            (Some("#"), _) => return true,
            (Some("+"), Some(_)) => {}
            (Some(want), Some(have)) if want == have => {}
            (None, None) => return true,
            _ => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matching() {
        for (filter, topic, expected) in [
            ("a/b", "a/b", true),
            ("a/b", "a/b/c", false),
            ("a/+", "a/b", true),
            ("a/+", "a", false),
            ("a/+", "a/", true),
            ("+/+", "/finance", true),
            ("/+", "/finance", true),
            ("+", "/finance", false),
            ("#", "a/b/c", true),
            ("#", "/", true),
            ("sport/#", "sport", true),
            ("sport/#", "sport/", true),
            ("sport/#", "sports", false),
            ("sport/+/player", "sport/x/player", true),
            ("sport/+/#", "sport", false),
            ("#", "$SYS/x", false),
            ("+/x", "$SYS/x", false),
            ("$SYS/#", "$SYS/x", true),
            ("$SYS/+", "$SYS/x", true),
            ("a/#", "a/$b", true),
            ("A", "a", false),
            ("a//b", "a//b", true),
            ("a/+/b", "a//b", true),
        ] {
            assert_eq!(
                topic_matches(filter, topic),
                expected,
                "{filter} on {topic}"
            );
        }
    }

    #[test]
    fn names_and_filters() {
        for good in ["a", "/", "a/b", " ", "$SYS/x", "ä/ö", "a//b"] {
            assert!(valid_name(good), "{good}");
            assert!(valid_filter(good), "{good}");
        }
        for bad in ["", "a/+", "#", "a\0b", "a+"] {
            assert!(!valid_name(bad), "{bad:?}");
        }
        for good in [
            "#",
            "+",
            "a/#",
            "+/a",
            "a/+/b/#",
            "$share/g/a/+",
            "$share/g/#",
            "/+",
        ] {
            assert!(valid_filter(good), "{good}");
        }
        for bad in [
            "",
            "a#",
            "a/#/b",
            "#/",
            "a+/b",
            "+a",
            "a\0",
            "$share/g",
            "$share//a",
        ] {
            assert!(!valid_filter(bad), "{bad:?}");
        }
        for bad in [
            "$share/+/a",
            "$share/g/",
            "$share",
            "$share/",
            "$share/g/a#",
        ] {
            assert!(!valid_filter(bad), "{bad:?}");
        }
        assert!(!valid_name(&"a".repeat(65_536)));
        assert!(!valid_filter(&"a".repeat(65_536)));
    }

    #[test]
    fn shares() {
        assert!(matches!(
            SharedFilter::parse("$share/g/a/b"),
            Ok((Some("g"), "a/b"))
        ));
        assert!(matches!(
            SharedFilter::parse("$share/g//b"),
            Ok((Some("g"), "/b"))
        ));
        assert!(matches!(
            SharedFilter::parse("$shared/g"),
            Ok((None, "$shared/g"))
        ));
        assert!(matches!(SharedFilter::parse("a"), Ok((None, "a"))));
    }
}
