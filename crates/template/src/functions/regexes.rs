//! Regular expressions.

use regex::{Captures, Regex, RegexBuilder};
use rekuiper_value::{Result, Value};

use super::strings::texts;
use super::{Args, Function, f, text_value};

pub const FUNCTIONS: &[Function] = &[
    f("regexMatch", 2, 2, |a| Ok(Value::Bool(regex(a)?.is_match(a.str(1)?)))),
    f("mustRegexMatch", 2, 2, |a| Ok(Value::Bool(regex(a)?.is_match(a.str(1)?)))),
    f("regexFind", 2, 2, |a| {
        text_value(regex(a)?.find(a.str(1)?).map_or("", |found| found.as_str()))
    }),
    f("regexFindAll", 3, 3, |a| {
        let most = usize::try_from(a.int(2)?).unwrap_or(usize::MAX);
        let regex = regex(a)?;
        let found = regex.find_iter(a.str(1)?).take(most).map(|m| m.as_str().to_owned());
        Ok(texts(found.collect()))
    }),
    f("regexReplaceAll", 3, 3, |a| {
        let (text, by) = (a.str(1)?, a.str(2)?);
        let expand = |found: &Captures<'_>| {
            let mut out = String::new();
            found.expand(by, &mut out);
            out
        };
        let done = regex(a)?.replace_all(text, expand).into_owned();
        a.limit(done.len())?;
        text_value(done)
    }),
    f("regexReplaceAllLiteral", 3, 3, |a| {
        let by = regex::NoExpand(a.str(2)?);
        text_value(regex(a)?.replace_all(a.str(1)?, by).into_owned())
    }),
    f("regexSplit", 3, 3, |a| {
        let regex = regex(a)?;
        let parts = match usize::try_from(a.int(2)?) {
            Ok(most) => regex.splitn(a.str(1)?, most).map(str::to_owned).collect(),
            Err(_) => regex.split(a.str(1)?).map(str::to_owned).collect(),
        };
        Ok(texts(parts))
    }),
    f("regexQuoteMeta", 1, 1, |a| text_value(regex::escape(a.str(0)?))),
];

fn regex(a: &Args<'_, '_>) -> Result<Regex> {
    let pattern = a.str(0)?;
    RegexBuilder::new(pattern)
        .size_limit(1 << 20)
        .build()
        .map_err(|e| a.error(format!("error parsing regexp {pattern:?}: {e}")))
}
