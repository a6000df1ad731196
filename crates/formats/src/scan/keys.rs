//! The needed keys: which slot a key has.

use std::collections::HashMap;

use ahash::RandomState;
use rekuiper_value::{Str, json};

use super::UNNEEDED;

/// Up to this many names are compared one by one.
const FEW: usize = 8;

#[derive(Debug, Default)]
pub struct Keys {
    few: Vec<(Box<[u8]>, u32)>,
    many: HashMap<Box<[u8]>, u32, RandomState>,
    /// Bit `min(len, 63)` of each name's length: most unneeded keys are turned away by it.
    lengths: u64,
    /// Names are in lower case, and keys are looked up so.
    any_case: bool,
}

impl Keys {
    pub fn new(names: &[Str]) -> Self {
        let mut keys = Keys::default();
        for (slot, name) in names.iter().enumerate() {
            let name: Box<[u8]> = name.as_bytes().into();
            keys.lengths |= 1 << name.len().min(63);
            if names.len() <= FEW {
                keys.few.push((name, slot as u32));
            } else {
                keys.many.insert(name, slot as u32);
            }
        }
        keys
    }

    pub fn any_case(names: &[Str]) -> Self {
        let lower: Vec<Str> = names.iter().map(|n| n.to_ascii_lowercase()).collect();
        Keys { any_case: true, ..Keys::new(&lower) }
    }

    /// The slot of a key as it stands between its quotes.
    #[inline]
    pub fn find(&self, key: &[u8]) -> u32 {
        if key.contains(&b'\\') {
            return self.look_up(json::unescape(key).as_bytes());
        }
        self.look_up(key)
    }

    fn look_up(&self, key: &[u8]) -> u32 {
        if self.lengths >> key.len().min(63) & 1 == 0 {
            return UNNEEDED;
        }
        if self.any_case && key.iter().any(u8::is_ascii_uppercase) {
            return self.look_up(&key.to_ascii_lowercase());
        }
        if self.many.is_empty() {
            let found = self.few.iter().find(|(name, _)| **name == *key);
            return found.map_or(UNNEEDED, |(_, slot)| *slot);
        }
        self.many.get(key).copied().unwrap_or(UNNEEDED)
    }
}
