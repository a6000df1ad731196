use rekuiper_value::{Result, Value};

use crate::arguments::array;
use crate::{Arg, Cx, FunctionDef};

pub const DEF: FunctionDef = FunctionDef {
    name: "array_shuffle",
    family: "array",
    args: &[Arg::any("array")],
    pure: false,
    returns: "array",
    doc: "The elements in random order.",
    example: ("array_shuffle(array_create(7))", "[7]"),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], cx: &Cx<'_>) -> Result<Value> {
    let mut items = array(DEF.name, args, 0)?.to_vec();
    for at in (1..items.len()).rev() {
        items.swap(at, (cx.host.random() % (at as u64 + 1)) as usize);
    }
    Ok(Value::array(items))
}

#[cfg(test)]
mod tests {
    use crate::testing;

    #[test]
    fn all_elements_stay() {
        let args = [testing::read("[3,1,2]")];
        let shuffled = super::DEF.call(&args, &testing::cx()).unwrap();
        let mut numbers: Vec<f64> = shuffled
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|v| v.as_f64())
            .collect();
        numbers.sort_by(f64::total_cmp);
        assert_eq!(numbers, [1.0, 2.0, 3.0]);
        testing::scalar(&super::DEF, "[[]]", "null");
        testing::scalar(&super::DEF, "[\"x\"]", "error");
    }
}
