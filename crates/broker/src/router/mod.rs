//! Who hears which topic: a tree of topic levels, and a memory of topics asked for lately.

mod routes;
mod shared;
mod tree;

use std::collections::HashMap;
use std::sync::Arc;

use rekuiper_mqtt_codec::QoS;
use rekuiper_mqtt_codec::topic::SharedFilter;

pub(crate) use routes::{Route, Routes};
pub(crate) use shared::{Group, GroupId};

use crate::limits::ROUTE_CACHE_TOPICS_MAX;
use crate::message::SubscriberId;

/// How one subscription wants its messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SubOptions {
    pub(crate) qos: QoS,
    pub(crate) no_local: bool,
    pub(crate) retain_as_published: bool,
    pub(crate) id: Option<u32>,
}

#[derive(Debug, Default)]
pub(crate) struct Router {
    tree: tree::Tree,
    groups: shared::Groups,
    cache: HashMap<Box<[u8]>, Arc<Routes>, ahash::RandomState>,
    count: usize,
}

impl Router {
    pub(crate) fn len(&self) -> usize {
        self.count
    }

    /// Subscribes to a valid filter (`$share/…` too); `true` = the subscription is new.
    pub(crate) fn insert(&mut self, filter: &str, who: SubscriberId, options: SubOptions) -> bool {
        self.cache.clear();
        let Ok((group, filter)) = SharedFilter::parse(filter) else {
            return false;
        };
        let leaf = self.tree.leaf(filter);
        let fresh = match group {
            None => leaf.insert(who, options),
            Some(name) => self.groups.join(leaf, name, who, options),
        };
        self.count += usize::from(fresh);
        fresh
    }

    /// Ends a subscription; `false` = there was none.
    pub(crate) fn remove(&mut self, filter: &str, who: SubscriberId) -> bool {
        self.cache.clear();
        let Ok((group, filter)) = SharedFilter::parse(filter) else {
            return false;
        };
        let groups = &mut self.groups;
        let gone = self.tree.edit(filter, |leaf| match group {
            None => leaf.remove(who),
            Some(name) => groups.leave(leaf, name, who),
        });
        self.count -= usize::from(gone);
        gone
    }

    /// The receivers of a topic. `is_link` is asked once per receiver and topic.
    pub(crate) fn routes(
        &mut self,
        topic: &[u8],
        is_link: impl Fn(SubscriberId) -> bool,
    ) -> Arc<Routes> {
        if let Some(known) = self.cache.get(topic) {
            return known.clone();
        }
        let name = std::str::from_utf8(topic).unwrap_or_default();
        let mut routes = Routes::default();
        self.tree.visit(name, &mut |leaf| routes.add(leaf));
        let in_group = |id: &GroupId| self.groups.get(*id).members.iter().any(|m| is_link(m.0));
        routes.has_links =
            routes.direct.iter().any(|r| is_link(r.to)) || routes.groups.iter().any(in_group);
        let routes = Arc::new(routes);
        if self.cache.len() >= ROUTE_CACHE_TOPICS_MAX {
            self.cache.clear();
        }
        self.cache.insert(topic.into(), routes.clone());
        routes
    }

    pub(crate) fn group(&mut self, id: GroupId) -> &mut Group {
        self.groups.get_mut(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rekuiper_mqtt_codec::topic_matches;

    fn options(qos: QoS) -> SubOptions {
        SubOptions {
            qos,
            no_local: false,
            retain_as_published: false,
            id: None,
        }
    }

    fn receivers(router: &mut Router, topic: &str) -> Vec<u32> {
        let routes = router.routes(topic.as_bytes(), |_| false);
        let mut ids: Vec<u32> = routes.direct.iter().map(|r| r.to.0).collect();
        ids.sort_unstable();
        ids
    }

    /// The tree against the plain matcher, over all short filters and topics of a tiny alphabet.
    #[test]
    fn agrees_with_the_plain_matcher() {
        let words = ["a", "b", "", "+", "#", "$s"];
        let mut filters = Vec::new();
        for x in words {
            filters.push(x.to_owned());
            for y in words {
                filters.push(format!("{x}/{y}"));
                filters.extend(words.iter().map(|z| format!("{x}/{y}/{z}")));
            }
        }
        let topics: Vec<_> = filters
            .iter()
            .filter(|f| rekuiper_mqtt_codec::valid_name(f))
            .cloned()
            .collect();
        filters.retain(|f| rekuiper_mqtt_codec::valid_filter(f));
        let mut router = Router::default();
        for (i, filter) in filters.iter().enumerate() {
            let who = SubscriberId(i as u32);
            assert!(router.insert(filter, who, options(QoS::AtMostOnce)));
        }
        for topic in &topics {
            let expected: Vec<u32> = (0..filters.len() as u32)
                .filter(|&i| topic_matches(&filters[i as usize], topic))
                .collect();
            assert_eq!(receivers(&mut router, topic), expected, "{topic}");
        }
        for (i, filter) in filters.iter().enumerate() {
            assert!(router.remove(filter, SubscriberId(i as u32)));
            assert!(!router.remove(filter, SubscriberId(i as u32)));
        }
        assert_eq!((router.len(), router.tree.nodes_in_use()), (0, 1));
    }

    #[test]
    fn overlapping_filters_give_one_copy_with_the_highest_qos_and_all_ids() {
        let mut router = Router::default();
        let who = SubscriberId(1);
        router.insert(
            "a/#",
            who,
            SubOptions {
                id: Some(1),
                ..options(QoS::AtMostOnce)
            },
        );
        router.insert(
            "a/b",
            who,
            SubOptions {
                id: Some(2),
                ..options(QoS::ExactlyOnce)
            },
        );
        let routes = router.routes(b"a/b", |_| false);
        assert_eq!(routes.direct.len(), 1);
        assert_eq!(routes.direct[0].qos, QoS::ExactlyOnce);
        let mut ids = routes.direct[0].ids.as_deref().expect("ids").to_vec();
        ids.sort_unstable();
        assert_eq!(ids, [1, 2]);
        assert!(
            !router.insert("a/b", who, options(QoS::AtMostOnce)),
            "replaced, not added"
        );
        assert_eq!(router.len(), 2);
    }

    #[test]
    fn groups_come_and_go() {
        let mut router = Router::default();
        for who in [1, 2] {
            router.insert("$share/g/a/+", SubscriberId(who), options(QoS::AtMostOnce));
        }
        router.insert("$share/h/a/+", SubscriberId(3), options(QoS::AtMostOnce));
        let routes = router.routes(b"a/b", |_| false);
        assert_eq!((routes.direct.len(), routes.groups.len()), (0, 2));
        for who in [1, 2] {
            assert!(router.remove("$share/g/a/+", SubscriberId(who)));
        }
        assert!(router.remove("$share/h/a/+", SubscriberId(3)));
        assert!(router.routes(b"a/b", |_| false).groups.is_empty());
        assert_eq!(router.tree.nodes_in_use(), 1);
    }
}
