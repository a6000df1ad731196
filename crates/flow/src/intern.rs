//! One copy of what many rules have alike: names of nodes, shapes of topologies, lists of columns.
//! Ten thousand rules of one form keep one of each.

use std::borrow::Borrow;
use std::collections::HashSet;
use std::hash::Hash;
use std::sync::{Arc, LazyLock, Mutex};

use crate::metrics::Topo;

/// The set is looked through for what nobody has any more when it has grown to twice this.
const KEPT_MIN: usize = 1024;

struct Interner<T: ?Sized>(Mutex<(HashSet<Arc<T>>, usize)>);

impl<T: ?Sized + Eq + Hash> Interner<T> {
    fn new() -> Self {
        Interner(Mutex::new((HashSet::new(), KEPT_MIN)))
    }

    fn get<B: ?Sized + Eq + Hash>(&self, like: &B, make: impl FnOnce() -> Arc<T>) -> Arc<T>
    where
        Arc<T>: Borrow<B>,
    {
        let mut kept = self.0.lock().unwrap_or_else(|e| e.into_inner());
        let (set, limit) = &mut *kept;
        if let Some(known) = set.get(like) {
            return known.clone();
        }
        if set.len() >= *limit {
            set.retain(|item| Arc::strong_count(item) > 1);
            *limit = KEPT_MIN.max(set.len() * 2);
        }
        let made = make();
        set.insert(made.clone());
        made
    }
}

static NAMES: LazyLock<Interner<str>> = LazyLock::new(Interner::new);
static TOPOS: LazyLock<Interner<Topo>> = LazyLock::new(Interner::new);
static NAME_LISTS: LazyLock<Interner<[Arc<str>]>> = LazyLock::new(Interner::new);
static LISTS: LazyLock<Interner<[String]>> = LazyLock::new(Interner::new);

pub fn name(name: &str) -> Arc<str> {
    NAMES.get(name, || name.into())
}

pub fn topo(topo: Topo) -> Arc<Topo> {
    let topo = Arc::new(topo);
    TOPOS.get(&*topo, || topo.clone())
}

pub fn names(names: &[Arc<str>]) -> Arc<[Arc<str>]> {
    NAME_LISTS.get(names, || names.iter().map(|n| name(n)).collect())
}

pub fn list(list: &[String]) -> Arc<[String]> {
    LISTS.get(list, || list.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_alike_is_one_and_what_nobody_has_goes() {
        let interner: Interner<str> = Interner::new();
        let get = |text: &str| interner.get(text, || text.into());
        let first = get("a");
        assert!(Arc::ptr_eq(&first, &get("a")));
        assert!(!Arc::ptr_eq(&first, &get("b")));
        (0..10 * KEPT_MIN).for_each(|n| drop(get(&n.to_string())));
        assert!(interner.0.lock().unwrap().0.len() <= KEPT_MIN + 1);
        assert!(Arc::ptr_eq(&first, &get("a")), "somebody still has it");
    }
}
