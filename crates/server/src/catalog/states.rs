//! States of rules, beside the definitions: operators write them as bytes.

use rekuiper_flow::StateStore;
use rekuiper_store::{Batch, Store};

use super::{Catalog, space};

/// States in the store of the catalog.
pub struct States(Store);

impl Catalog {
    /// Where the engine keeps states.
    pub fn states(&self) -> States {
        States(self.store.clone())
    }
}

fn failed(rule: &str) -> rekuiper_store::Answer<()> {
    let rule = rule.to_owned();
    Box::new(move |kept| {
        if let Err(error) = kept {
            tracing::error!(rule, "its state is not saved: {error}");
        }
    })
}

impl StateStore for States {
    fn put(&self, rule: &str, state: Vec<u8>) {
        self.0.submit(Batch::new().put(space::STATE, rule, state), failed(rule));
    }

    fn get(&self, rule: &str) -> Option<Vec<u8>> {
        self.0.get(space::STATE, rule).ok().flatten()
    }

    fn remove(&self, rule: &str) {
        self.0.submit(Batch::new().delete(space::STATE, rule), failed(rule));
    }
}
