//! What happens because time passes: silent clients, expired sessions, delayed wills.

use std::sync::Arc;

use rekuiper_mqtt_codec::ReasonCode;

use super::{Core, Kind};
use crate::message::SubscriberId;

impl Core {
    pub(crate) fn tick(&mut self, now: u64) {
        let mut over = Vec::new();
        let mut wills = Vec::new();
        for (at, slot) in self.slots.iter_mut().enumerate() {
            let Some(slot) = slot else { continue };
            let Kind::Session(session) = &mut slot.kind else {
                continue;
            };
            let id = SubscriberId(at as u32);
            if let Some(connection) = &mut session.connection {
                // a client we do not read from cannot be blamed for its silence
                if slot.waiting_on.is_some() || slot.stalled {
                    connection.last_heard = now;
                }
                if connection.is_silent(now)
                    && let Some(door) = &slot.door
                {
                    door.close(ReasonCode::KEEP_ALIVE_TIMEOUT);
                }
            } else if session.is_over(now) {
                over.push(id);
            } else if let Some(will) = session.take_due_will(now) {
                wills.push(will.message(id, now));
            }
        }
        for message in wills {
            self.publish_inside(&Arc::new(message));
        }
        for id in over {
            self.end_session(id, now);
        }
        if now >= self.next_sys {
            self.next_sys = now + self.config.limits.sys_interval_ms;
            self.publish_sys(now);
        }
    }
}
