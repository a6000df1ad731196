//! The list of all functions, by family, and the lookup by name.

use std::collections::HashMap;
use std::sync::OnceLock;

use crate::FunctionDef;

/// The families. Each is a folder with one file a function.
static FAMILIES: &[&[&FunctionDef]] = &[
    crate::string::LIST,
    crate::math::LIST,
    crate::hashing::LIST,
    crate::transform::LIST,
    crate::datetime::LIST,
    crate::array::LIST,
    crate::object::LIST,
    crate::json::LIST,
    crate::other::LIST,
    crate::aggregate::LIST,
    crate::analytic::LIST,
    crate::multi::LIST,
];

/// All functions, family by family.
pub fn all() -> impl Iterator<Item = &'static FunctionDef> {
    FAMILIES.iter().flat_map(|family| family.iter().copied())
}

/// By name or alias, in any case.
pub fn lookup(name: &str) -> Option<&'static FunctionDef> {
    static BY_NAME: OnceLock<HashMap<&'static str, &'static FunctionDef>> = OnceLock::new();
    let by_name = BY_NAME.get_or_init(|| {
        let mut map = HashMap::new();
        for def in all() {
            map.insert(def.name, def);
            for alias in def.aliases {
                map.insert(alias, def);
            }
        }
        map
    });
    if name.bytes().any(|b| b.is_ascii_uppercase()) {
        return by_name.get(name.to_ascii_lowercase().as_str()).copied();
    }
    by_name.get(name).copied()
}

/// Declares the files of a family and makes its list: `functions! { concat, lower }` in
/// `string/mod.rs` reads `string/concat.rs` and `string/lower.rs`.
macro_rules! functions {
    ($($name:ident),* $(,)?) => {
        $(mod $name;)*
        pub(crate) static LIST: &[&crate::FunctionDef] = &[$(&$name::DEF),*];
    };
}
pub(crate) use functions;

/// `cases! { scalar: "[args]" => "answer", … }` beside a `DEF`.
macro_rules! cases {
    ($how:ident: $($args:expr => $want:expr),* $(,)?) => {
        #[cfg(test)]
        mod tests {
            #[test]
            fn cases() {
                $(crate::testing::$how(&super::DEF, $args, $want);)*
            }
        }
    };
}
pub(crate) use cases;
