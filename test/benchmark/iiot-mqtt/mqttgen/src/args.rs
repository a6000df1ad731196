//! `--key value` arguments, without a library.

use std::collections::BTreeMap;
use std::str::FromStr;

pub struct Args(BTreeMap<String, String>);

impl Args {
    /// Takes `--key value` pairs; every key must be one of `known`.
    pub fn parse(list: &[String], known: &[&str]) -> Result<Args, String> {
        let mut map = BTreeMap::new();
        let mut rest = list.iter();
        while let Some(word) = rest.next() {
            let key = word.strip_prefix("--").filter(|key| known.contains(key));
            let Some(key) = key else {
                return Err(format!(
                    "unknown option `{word}`: expected --{}",
                    known.join(" --")
                ));
            };
            let value = rest.next().ok_or(format!("--{key} needs a value"))?;
            map.insert(key.to_string(), value.clone());
        }
        Ok(Args(map))
    }

    pub fn text(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(String::as_str)
    }

    pub fn get<T: FromStr>(&self, key: &str, default: T) -> Result<T, String> {
        match self.0.get(key) {
            None => Ok(default),
            Some(text) => text
                .parse()
                .map_err(|_| format!("--{key} {text}: expected a number")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_taken_and_the_rest_is_refused() {
        let words = |text: &str| text.split(' ').map(str::to_string).collect::<Vec<_>>();
        let args = Args::parse(&words("--rate 5"), &["rate"]).unwrap();
        assert_eq!(args.get("rate", 0u64), Ok(5));
        assert_eq!(args.get("seconds", 30u64), Ok(30));
        assert!(Args::parse(&words("--speed 5"), &["rate"]).is_err());
        assert!(Args::parse(&words("--rate"), &["rate"]).is_err());
        assert!(
            Args::parse(&words("--rate x"), &["rate"])
                .unwrap()
                .get("rate", 0u64)
                .is_err()
        );
    }
}
