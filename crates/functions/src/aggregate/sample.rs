//! All numbers of a group, for what cannot be told from running sums.

use rekuiper_value::{Result, Value};

use super::{saved_items, unfit};
use crate::arguments::compare_numbers;

#[derive(Default)]
pub(super) struct Sample(pub(super) Vec<Value>);

impl Sample {
    pub(super) fn add(&mut self, name: &str, value: &Value) -> Result<()> {
        if value.is_number() {
            self.0.push(value.clone());
        } else if !value.is_null() {
            return Err(unfit(name, "numbers", value));
        }
        Ok(())
    }

    pub(super) fn sorted(&self) -> Vec<&Value> {
        let mut sorted: Vec<&Value> = self.0.iter().collect();
        sorted.sort_by(|a, b| compare_numbers(a, b));
        sorted
    }

    /// Mean square distance from the mean; `less` is 1 for samples. None where there are not
    /// enough values.
    pub(super) fn variance(&self, less: usize) -> Option<f64> {
        let n = self.0.len();
        if n <= less {
            return None;
        }
        let values = || self.0.iter().filter_map(Value::as_f64);
        let mean = values().sum::<f64>() / n as f64;
        Some(values().map(|f| (f - mean) * (f - mean)).sum::<f64>() / (n - less) as f64)
    }

    pub(super) fn save(&self) -> Value {
        Value::array(self.0.clone())
    }

    pub(super) fn load(&mut self, state: &Value) {
        self.0 = saved_items(state);
    }
}

/// Folds that only differ in what they make of the sample.
macro_rules! of_sample {
    ($name:ident, $word:literal, $finish:expr) => {
        #[derive(Default)]
        struct $name(super::sample::Sample);

        impl super::Fold for $name {
            fn add(&mut self, args: &[Value]) -> Result<()> {
                self.0.add($word, crate::arguments::at(args, 0))
            }
            fn finish(&self) -> Result<Value> {
                let finish: fn(&super::sample::Sample) -> Option<f64> = $finish;
                Ok(finish(&self.0).map_or(Value::Null, Value::Float))
            }
            fn save(&self) -> Value {
                self.0.save()
            }
            fn load(&mut self, state: &Value) {
                self.0.load(state);
            }
        }
    };
}
pub(super) use of_sample;
