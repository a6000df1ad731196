//! The receivers of one topic.

use std::sync::Arc;

use rekuiper_mqtt_codec::QoS;

use super::GroupId;
use super::tree::Leaf;
use crate::message::SubscriberId;

/// One receiver, however many of its filters matched.
#[derive(Clone, Debug)]
pub(crate) struct Route {
    pub(crate) to: SubscriberId,
    pub(crate) qos: QoS,
    pub(crate) no_local: bool,
    pub(crate) retain_as_published: bool,
    /// The subscription identifiers of all filters that matched
    pub(crate) ids: Option<Arc<[u32]>>,
}

#[derive(Debug, Default)]
pub(crate) struct Routes {
    pub(crate) direct: Vec<Route>,
    pub(crate) groups: Vec<GroupId>,
    pub(crate) has_links: bool,
}

impl Routes {
    pub(crate) fn is_empty(&self) -> bool {
        self.direct.is_empty() && self.groups.is_empty()
    }

    pub(super) fn add(&mut self, leaf: &Leaf) {
        self.groups.extend_from_slice(&leaf.groups);
        // a receiver can only come twice if another filter was added before
        let known = self.direct.len();
        for (who, options) in &leaf.direct {
            let ids = options.id.map(|id| Arc::from([id]));
            let old = self.direct[..known]
                .iter_mut()
                .find(|route| route.to == *who);
            let Some(old) = old else {
                self.direct.push(Route {
                    to: *who,
                    qos: options.qos,
                    no_local: options.no_local,
                    retain_as_published: options.retain_as_published,
                    ids,
                });
                continue;
            };
            old.qos = old.qos.max(options.qos);
            old.no_local &= options.no_local;
            old.retain_as_published |= options.retain_as_published;
            old.ids = match (old.ids.take(), ids) {
                (Some(a), Some(b)) => Some(a.iter().chain(b.iter()).copied().collect()),
                (a, b) => a.or(b),
            };
        }
    }
}
