//! Aggregates that do not come with this crate: they get the values of all rows at once.

use rekuiper_value::{Result, Value};

use crate::{Accumulator, ExternalFn};

/// Holds the arguments of all rows of a group, one list an argument.
pub struct Gathered {
    function: &'static dyn ExternalFn,
    lists: Vec<Vec<Value>>,
}

impl Gathered {
    pub fn new(function: &'static dyn ExternalFn) -> Self {
        Gathered { function, lists: Vec::new() }
    }
}

impl Accumulator for Gathered {
    fn add(&mut self, args: &[Value]) -> Result<()> {
        self.lists.resize_with(args.len(), Vec::new);
        for (list, arg) in self.lists.iter_mut().zip(args) {
            list.push(arg.clone().normalized());
        }
        Ok(())
    }

    fn finish(&self) -> Result<Value> {
        let args: Vec<Value> = self.lists.iter().cloned().map(Value::array).collect();
        self.function.call(&args, None)
    }

    fn save(&self) -> Value {
        Value::array(self.lists.iter().cloned().map(Value::array).collect())
    }

    fn load(&mut self, state: &Value) {
        let Value::Array(lists) = state else { return };
        let list = |v: &Value| match v {
            Value::Array(items) => items.to_vec(),
            _ => Vec::new(),
        };
        self.lists = lists.iter().map(list).collect();
    }
}

#[cfg(test)]
mod tests {
    use crate::{ArgKind, Cx, ExternalFn, FunctionDef, Kind};
    use rekuiper_value::{Result, Value};

    struct Echo;

    impl ExternalFn for Echo {
        fn call(&self, args: &[Value], _cx: Option<&Cx<'_>>) -> Result<Value> {
            Ok(Value::array(args.to_vec()))
        }
    }

    #[test]
    fn an_aggregate_gets_lists_and_keeps_them_over_a_checkpoint() {
        let def = FunctionDef {
            name: "echo",
            variadic: true,
            ..FunctionDef::of(Kind::External { function: &Echo, aggregate: true })
        };
        assert!(def.is_aggregate());
        assert!(def.check_args(&[ArgKind::Star]).is_err());
        let mut first = def.accumulator().expect("an aggregate");
        first.add(&[Value::Int(1), Value::Null]).expect("added");
        let mut second = def.accumulator().expect("an aggregate");
        second.load(&first.save());
        second.add(&[Value::Int(2), Value::Missing]).expect("added");
        let list = |items: &[Value]| Value::array(items.to_vec());
        let wanted = [list(&[Value::Int(1), Value::Int(2)]), list(&[Value::Null, Value::Null])];
        assert_eq!(second.finish(), Ok(list(&wanted)));
    }
}
