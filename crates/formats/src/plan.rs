//! What to read for the fields that rules want: the names to look for, and which column each
//! field's data ends up in.

use rekuiper_value::{Field, Str};

/// Where a field's column comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// The member of that slot.
    Slot(usize),
    Whole,
    Meta(Str),
    MetaWhole,
    /// Retired, or not to be had.
    Nothing,
}

#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// The members to look for; a slot is an index here.
    pub names: Vec<Str>,
    /// One a field.
    pub sources: Vec<Source>,
    /// The slot of the event time's column.
    pub stamp: Option<usize>,
    pub whole: bool,
    pub meta: bool,
    any_case: bool,
}

impl Plan {
    /// `known` tells whether a member of that name can be had at all; with `expand` every known
    /// name has to be read as soon as the whole row is wanted.
    pub fn new(
        fields: &[Option<Field>],
        stamp: Option<&Str>,
        known: impl Fn(&str) -> bool,
        expand: &[Str],
        any_case: bool,
    ) -> Self {
        let mut plan = Plan { any_case, ..Plan::default() };
        for field in fields {
            let source = match field {
                Some(Field::Named(name)) if known(name) => Source::Slot(plan.slot(name)),
                Some(Field::Named(_)) | None => Source::Nothing,
                Some(Field::Whole) => {
                    plan.whole = true;
                    Source::Whole
                }
                Some(Field::Meta(key)) => {
                    plan.meta = true;
                    Source::Meta(key.clone())
                }
                Some(Field::MetaWhole) => {
                    plan.meta = true;
                    Source::MetaWhole
                }
            };
            plan.sources.push(source);
        }
        if let Some(name) = stamp {
            plan.stamp = Some(plan.slot(name));
        }
        if plan.whole {
            for name in expand {
                plan.slot(name);
            }
        }
        plan
    }

    fn slot(&mut self, name: &Str) -> usize {
        let same = |n: &Str| n == name || (self.any_case && n.eq_ignore_ascii_case(name));
        if let Some(at) = self.names.iter().position(same) {
            return at;
        }
        self.names.push(name.clone());
        self.names.len() - 1
    }
}
