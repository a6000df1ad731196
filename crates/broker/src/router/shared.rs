//! Shared subscriptions: each message goes to one member of the group, in turn.

use super::tree::Leaf;
use super::{Route, SubOptions};
use crate::message::SubscriberId;
use std::sync::Arc;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GroupId(usize);

#[derive(Debug, Default)]
pub(crate) struct Group {
    name: Box<str>,
    pub(crate) members: Vec<(SubscriberId, SubOptions)>,
    turn: usize,
}

impl Group {
    /// The next member in turn that `fits`.
    pub(crate) fn next(
        &mut self,
        fits: impl Fn(SubscriberId, &SubOptions) -> bool,
    ) -> Option<Route> {
        let len = self.members.len();
        let at = (0..len).map(|i| (self.turn + i) % len).find(|&at| {
            let (who, options) = &self.members[at];
            fits(*who, options)
        })?;
        self.turn = (at + 1) % len;
        let (to, options) = self.members[at];
        Some(Route {
            to,
            qos: options.qos,
            no_local: false,
            retain_as_published: options.retain_as_published,
            ids: options.id.map(|id| Arc::from([id])),
        })
    }
}

#[derive(Debug, Default)]
pub(super) struct Groups {
    slots: Vec<Group>,
    free: Vec<usize>,
}

impl Groups {
    pub(super) fn get(&self, id: GroupId) -> &Group {
        &self.slots[id.0]
    }

    pub(super) fn get_mut(&mut self, id: GroupId) -> &mut Group {
        &mut self.slots[id.0]
    }

    fn find(&self, leaf: &Leaf, name: &str) -> Option<GroupId> {
        leaf.groups
            .iter()
            .copied()
            .find(|id| *self.get(*id).name == *name)
    }

    pub(super) fn join(
        &mut self,
        leaf: &mut Leaf,
        name: &str,
        who: SubscriberId,
        options: SubOptions,
    ) -> bool {
        let id = self.find(leaf, name).unwrap_or_else(|| {
            let at = self.free.pop().unwrap_or_else(|| {
                self.slots.push(Group::default());
                self.slots.len() - 1
            });
            self.slots[at] = Group {
                name: name.into(),
                ..Group::default()
            };
            leaf.groups.push(GroupId(at));
            GroupId(at)
        });
        let members = &mut self.get_mut(id).members;
        match members.iter_mut().find(|(id, _)| *id == who) {
            Some((_, old)) => {
                *old = options;
                false
            }
            None => {
                members.push((who, options));
                true
            }
        }
    }

    pub(super) fn leave(&mut self, leaf: &mut Leaf, name: &str, who: SubscriberId) -> bool {
        let Some(id) = self.find(leaf, name) else {
            return false;
        };
        let group = self.get_mut(id);
        let before = group.members.len();
        group.members.retain(|(id, _)| *id != who);
        group.turn = 0;
        let gone = group.members.len() < before;
        if group.members.is_empty() {
            leaf.groups.retain(|other| *other != id);
            self.slots[id.0] = Group::default();
            self.free.push(id.0);
        }
        gone
    }
}
