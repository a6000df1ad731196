//! The check of a call when a rule is made: number of arguments and kinds of literals.

use rekuiper_value::Value;

use crate::{ArgKind, FunctionDef, Kind, Refuse};

impl FunctionDef {
    /// Whether a call with such arguments may be part of a rule; the text says what is wrong.
    pub fn check_args(&self, args: &[ArgKind]) -> Result<(), String> {
        let (least, most) = self.arity();
        let count = args.len();
        if count < least || most.is_some_and(|m| count > m) {
            let wanted = match most {
                Some(m) if m == least => least.to_string(),
                Some(m) => format!("{least} to {m}"),
                None => format!("at least {least}"),
            };
            return Err(format!(
                "Expect {wanted} arguments but found {count} in the call of {}.",
                self.name
            ));
        }
        let no_star = matches!(
            self.kind,
            Kind::Scalar(_) | Kind::External { .. } | Kind::Aggregate { star: false, .. }
        );
        if no_star && args.iter().any(|a| matches!(a, ArgKind::Star)) {
            return Err(format!(
                "{}: * is no argument for it, name columns.",
                self.name
            ));
        }
        for (at, kind) in args.iter().enumerate() {
            let Some(arg) = self.args.get(at).or(self.args.last()) else {
                break;
            };
            if arg.refuse.has(kind.bit()) {
                return Err(format!(
                    "{}: argument {} ({}) may not be {}.",
                    self.name,
                    at + 1,
                    arg.name,
                    kind.words()
                ));
            }
        }
        self.check.map_or(Ok(()), |check| check(args))
    }
}

impl ArgKind {
    fn bit(&self) -> Refuse {
        match self {
            ArgKind::Literal(Value::Int(_) | Value::Wide(_)) => Refuse::INT,
            ArgKind::Literal(Value::Float(_)) => Refuse::FLOAT,
            ArgKind::Literal(Value::Str(_)) => Refuse::STRING,
            ArgKind::Literal(Value::Bool(_)) => Refuse::BOOLEAN,
            ArgKind::Unit(_) => Refuse::UNIT,
            ArgKind::Comparison => Refuse::COMPARISON,
            ArgKind::Column => Refuse::COLUMN,
            ArgKind::Call => Refuse::CALL,
            ArgKind::Literal(_) | ArgKind::Star | ArgKind::Other => Refuse::NONE,
        }
    }

    fn words(&self) -> &'static str {
        match self {
            ArgKind::Literal(Value::Int(_) | Value::Wide(_)) => "a whole number",
            ArgKind::Literal(Value::Float(_)) => "a number with a fraction",
            ArgKind::Literal(Value::Str(_)) => "text",
            ArgKind::Literal(Value::Bool(_)) => "true or false",
            ArgKind::Unit(_) => "a time unit",
            ArgKind::Comparison => "a comparison",
            ArgKind::Column => "a column",
            ArgKind::Call => "a call",
            ArgKind::Star => "*",
            ArgKind::Literal(_) | ArgKind::Other => "such an expression",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_refused_and_accepted() {
        let substring = crate::lookup("SUBSTRING").expect("substring");
        let int = |i| ArgKind::Literal(Value::Int(i));
        assert_eq!(
            substring.check_args(&[ArgKind::Column, int(1), int(2)]),
            Ok(())
        );
        let abs = crate::lookup("abs").expect("abs");
        assert!(abs.check_args(&[ArgKind::Star]).is_err());
        for (args, part) in [
            (vec![ArgKind::Column], "Expect 2 to 3 arguments but found 1"),
            (
                vec![int(1), int(1)],
                "argument 1 (text) may not be a whole number",
            ),
            (
                vec![ArgKind::Column, int(4), int(2)],
                "end 2 is before start 4",
            ),
        ] {
            let said = substring.check_args(&args).expect_err("refused");
            assert!(said.contains(part), "{said}");
        }
    }
}
