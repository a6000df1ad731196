//! The tree of topic levels. Filters are at most `TOPIC_LEVELS_MAX` deep, so walks are too.

use std::collections::HashMap;

use super::{GroupId, SubOptions};
use crate::message::SubscriberId;

/// The subscriptions that end at one node.
#[derive(Debug, Default)]
pub(crate) struct Leaf {
    pub(crate) direct: Vec<(SubscriberId, SubOptions)>,
    pub(crate) groups: Vec<GroupId>,
}

impl Leaf {
    pub(super) fn insert(&mut self, who: SubscriberId, options: SubOptions) -> bool {
        match self.direct.iter_mut().find(|(id, _)| *id == who) {
            Some((_, old)) => {
                *old = options;
                false
            }
            None => {
                self.direct.push((who, options));
                true
            }
        }
    }

    pub(super) fn remove(&mut self, who: SubscriberId) -> bool {
        let Some(at) = self.direct.iter().position(|(id, _)| *id == who) else {
            return false;
        };
        self.direct.swap_remove(at);
        true
    }

    fn is_empty(&self) -> bool {
        self.direct.is_empty() && self.groups.is_empty()
    }
}

#[derive(Debug, Default)]
struct Node {
    /// Next levels, `+` among them under its own name
    next: HashMap<Box<str>, usize, ahash::RandomState>,
    here: Leaf,
    /// Subscriptions to `…/#` from this node on
    below: Leaf,
}

#[derive(Debug)]
pub(super) struct Tree {
    nodes: Vec<Node>,
    free: Vec<usize>,
}

impl Default for Tree {
    fn default() -> Self {
        Tree {
            nodes: vec![Node::default()],
            free: Vec::new(),
        }
    }
}

impl Tree {
    #[cfg(test)]
    pub(super) fn nodes_in_use(&self) -> usize {
        self.nodes.len() - self.free.len()
    }

    /// The leaf of a filter, made if it is not there.
    pub(super) fn leaf(&mut self, filter: &str) -> &mut Leaf {
        let mut at = 0;
        for level in filter.split('/') {
            if level == "#" {
                return &mut self.nodes[at].below;
            }
            at = match self.nodes[at].next.get(level) {
                Some(&next) => next,
                None => {
                    let next = self.free.pop().unwrap_or_else(|| {
                        self.nodes.push(Node::default());
                        self.nodes.len() - 1
                    });
                    self.nodes[at].next.insert(level.into(), next);
                    next
                }
            };
        }
        &mut self.nodes[at].here
    }

    /// Changes the leaf of a filter if there is one, then takes away nodes left empty.
    pub(super) fn edit(&mut self, filter: &str, change: impl FnOnce(&mut Leaf) -> bool) -> bool {
        let mut path = vec![(0, "")];
        let mut at = 0;
        let mut below = false;
        for level in filter.split('/') {
            if level == "#" {
                below = true;
                break;
            }
            let Some(&next) = self.nodes[at].next.get(level) else {
                return false;
            };
            at = next;
            path.push((at, level));
        }
        let node = &mut self.nodes[at];
        let done = change(if below {
            &mut node.below
        } else {
            &mut node.here
        });
        while let Some((at, level)) = path.pop() {
            let node = &self.nodes[at];
            let empty = node.next.is_empty() && node.here.is_empty() && node.below.is_empty();
            let Some(&(parent, _)) = path.last() else {
                break;
            };
            if !empty {
                break;
            }
            self.nodes[parent].next.remove(level);
            self.nodes[at] = Node::default();
            self.free.push(at);
        }
        done
    }

    /// Calls `found` with each leaf whose filter matches the topic.
    pub(super) fn visit<'a>(&'a self, topic: &str, found: &mut impl FnMut(&'a Leaf)) {
        let levels: Vec<&str> = topic.split('/').collect();
        self.walk(0, &levels, topic.starts_with('$'), found);
    }

    fn walk<'a>(
        &'a self,
        at: usize,
        levels: &[&str],
        hidden: bool,
        found: &mut impl FnMut(&'a Leaf),
    ) {
        let node = &self.nodes[at];
        // `hidden` holds only at the root: leading wildcards do not match `$…`
        if !hidden && !node.below.is_empty() {
            found(&node.below);
        }
        let Some((level, rest)) = levels.split_first() else {
            if !node.here.is_empty() {
                found(&node.here);
            }
            return;
        };
        if let Some(&next) = node.next.get(*level) {
            self.walk(next, rest, false, found);
        }
        if !hidden && let Some(&next) = node.next.get("+") {
            self.walk(next, rest, false, found);
        }
    }
}
