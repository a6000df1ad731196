//! From AST to text that parses to the same AST again.

mod expr;
mod select;

use std::fmt::{self, Display, Formatter};

use crate::lex::is_bare_name;

/// A name, in backquotes where it needs them.
struct Quoted<'a>(&'a str);

impl Display for Quoted<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if is_bare_name(self.0) {
            f.write_str(self.0)
        } else {
            write!(f, "`{}`", self.0)
        }
    }
}

/// Things with a comma between.
fn commas<T>(
    f: &mut Formatter<'_>,
    items: &[T],
    mut one: impl FnMut(&mut Formatter<'_>, &T) -> fmt::Result,
) -> fmt::Result {
    for (i, item) in items.iter().enumerate() {
        if i > 0 {
            f.write_str(", ")?;
        }
        one(f, item)?;
    }
    Ok(())
}
