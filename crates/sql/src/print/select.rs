//! SELECT as text.

use std::fmt::{self, Display, Formatter};

use super::{Quoted, commas};
use crate::{Item, Join, Select, Source};

impl Display for Select {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("SELECT ")?;
        commas(f, &self.items, |f, i| write!(f, "{i}"))?;
        write!(f, " FROM {}", self.from)?;
        for join in &self.joins {
            write!(f, " {join}")?;
        }
        if let Some(e) = &self.where_ {
            write!(f, " WHERE {e}")?;
        }
        if !self.group_by.is_empty() {
            f.write_str(" GROUP BY ")?;
            commas(f, &self.group_by, |f, e| write!(f, "{e}"))?;
        }
        if let Some(e) = &self.having {
            write!(f, " HAVING {e}")?;
        }
        if !self.order_by.is_empty() {
            f.write_str(" ORDER BY ")?;
            commas(f, &self.order_by, |f, s| write!(f, "{s}"))?;
        }
        match self.limit {
            Some(n) => write!(f, " LIMIT {n}"),
            None => Ok(()),
        }
    }
}

impl Display for Item {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.expr)?;
        if let Some(a) = &self.alias {
            write!(f, " AS {}", Quoted(a))?;
        }
        if self.invisible {
            f.write_str(" INVISIBLE")
        } else {
            Ok(())
        }
    }
}

impl Display for Source {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}", Quoted(&self.name))?;
        match &self.alias {
            Some(a) => write!(f, " AS {}", Quoted(a)),
            None => Ok(()),
        }
    }
}

impl Display for Join {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} JOIN {}", self.kind.word(), self.source)?;
        match &self.on {
            Some(e) => write!(f, " ON {e}"),
            None => Ok(()),
        }
    }
}
