//! How the core gets the attention of the task behind a connection or a link.

use std::sync::atomic::{AtomicU8, Ordering};

use rekuiper_mqtt_codec::ReasonCode;
use tokio::sync::Notify;

#[derive(Debug, Default)]
pub(crate) struct Door {
    wake: Notify,
    /// Why the task must end; 0 = it need not
    kill: AtomicU8,
}

impl Door {
    pub(crate) fn knock(&self) {
        self.wake.notify_one();
    }

    pub(crate) async fn knocked(&self) {
        self.wake.notified().await;
    }

    pub(crate) fn close(&self, reason: ReasonCode) {
        self.kill.store(reason.0, Ordering::Release);
        self.wake.notify_one();
    }

    pub(crate) fn closed(&self) -> Option<ReasonCode> {
        match self.kill.load(Ordering::Acquire) {
            0 => None,
            code => Some(ReasonCode(code)),
        }
    }
}
