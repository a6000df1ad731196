//! The client as its users see it: any number of subscriptions and publishers over one connection,
//! which a task of its own looks after.

use std::sync::{Arc, Weak};

use rekuiper_mqtt_codec::QoS;
use rekuiper_rt::{Clock, task};
use tokio::sync::mpsc;

use super::ClientOptions;
use super::outgoing::Job;
use super::work::Work;
use crate::{ConnStatus, ConnectError, SourceOut};

/// Messages of these filters go to `out`.
pub struct Subscription {
    pub id: u64,
    pub filters: Vec<String>,
    pub qos: QoS,
    pub out: SourceOut,
    /// Status to keep besides the client's own.
    pub status: Arc<ConnStatus>,
}

pub(super) enum Command {
    Subscribe(Subscription),
    Unsubscribe(u64),
    /// One more who wants to know how the connection stands.
    Watch(Weak<ConnStatus>),
    Publish(Job),
}

/// A handle; the connection ends when the last one is dropped.
pub struct Client {
    pub(super) commands: mpsc::Sender<Command>,
    pub status: Arc<ConnStatus>,
    _task: task::Task,
}

impl Client {
    /// Starts a client. It connects by itself and again for ever.
    pub fn start(options: ClientOptions, clock: Clock, status: Arc<ConnStatus>) -> Self {
        let (commands, heard) = mpsc::channel(64);
        let name = format!("mqtt client {}", options.address());
        let work = Work::new(options, clock, status.clone(), heard);
        Client { commands, status, _task: task::spawn(name, work.run()) }
    }

    pub async fn subscribe(&self, subscription: Subscription) -> Result<(), ConnectError> {
        let ended = |_| ConnectError::io("the MQTT client has ended");
        self.commands.send(Command::Subscribe(subscription)).await.map_err(ended)
    }

    /// Keeps this status as the client's own, for as long as somebody holds it.
    pub fn watch(&self, status: &Arc<ConnStatus>) {
        if !Arc::ptr_eq(status, &self.status) {
            // a full command queue belongs to a client that is ending or stuck
            let _ = self.commands.try_send(Command::Watch(Arc::downgrade(status)));
        }
    }

    pub async fn unsubscribe(&self, id: u64) {
        let _ = self.commands.send(Command::Unsubscribe(id)).await;
    }

    /// Publishes; returns when the broker has it (QoS 0: when the socket has it).
    pub async fn publish(
        &self,
        make: impl FnOnce(tokio::sync::oneshot::Sender<Result<(), ConnectError>>) -> Job,
    ) -> Result<(), ConnectError> {
        let ended = || ConnectError::io("the MQTT client has ended");
        let (reply, answer) = tokio::sync::oneshot::channel();
        self.commands.send(Command::Publish(make(reply))).await.map_err(|_| ended())?;
        answer.await.map_err(|_| ended())?
    }
}
