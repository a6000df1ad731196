//! What is written together.

/// One change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Op {
    Put {
        space: String,
        key: String,
        value: Vec<u8>,
    },
    Delete {
        space: String,
        key: String,
    },
    /// Deletes all keys of a namespace.
    Clear {
        space: String,
    },
}

/// Changes that are kept all or not at all, in their order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Batch {
    pub(crate) ops: Vec<Op>,
}

impl Batch {
    pub fn new() -> Batch {
        Batch::default()
    }

    pub fn put(mut self, space: &str, key: &str, value: impl Into<Vec<u8>>) -> Batch {
        self.ops.push(Op::Put {
            space: space.into(),
            key: key.into(),
            value: value.into(),
        });
        self
    }

    pub fn delete(mut self, space: &str, key: &str) -> Batch {
        self.ops.push(Op::Delete {
            space: space.into(),
            key: key.into(),
        });
        self
    }

    pub fn clear(mut self, space: &str) -> Batch {
        self.ops.push(Op::Clear {
            space: space.into(),
        });
        self
    }

    pub fn is_empty(&self) -> bool {
        self.ops.is_empty()
    }

    pub fn ops(&self) -> &[Op] {
        &self.ops
    }
}
