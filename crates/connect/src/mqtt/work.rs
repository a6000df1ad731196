//! The life of a connection: made, lost, tried again with growing pauses. What goes over it while
//! it stands is in [`exchange`] and [`packets`].

mod exchange;
mod packets;

use std::sync::{Arc, Weak};
use std::time::Duration;

use rekuiper_mqtt_codec::{CodecError, Connect, Packet, Property};
use rekuiper_rt::Clock;
use tokio::io::{AsyncReadExt, AsyncWriteExt, ReadHalf, WriteHalf};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until, timeout};

use super::ClientOptions;
use super::acks::{Acks, Done};
use super::client::{Command, Subscription};
use super::outgoing::Outgoing;
use super::reader::Reader;
use super::stream::{self, Twin, Transport};
use crate::{ConnStatus, ConnectError, Fault};

/// Answer to CONNECT, SUBSCRIBE and the like must come within this time.
const ANSWER: Duration = Duration::from_secs(5);
const KEEP_ALIVE_S: u16 = 30;
const RETRY_FIRST_MS: u64 = 100;
const RETRY_MAX_MS: u64 = 10_000;
/// A connection that ends sooner than this was not wanted.
const SHORT_LIFE: Duration = Duration::from_secs(3);

/// The task behind the clients.
pub(super) struct Work {
    options: ClientOptions,
    clock: Clock,
    status: Arc<ConnStatus>,
    commands: mpsc::Receiver<Command>,
    subscriptions: Vec<Subscription>,
    /// Sinks that share the client.
    watchers: Vec<Weak<ConnStatus>>,
    outgoing: Outgoing,
    acks: Acks,
    acked: mpsc::UnboundedReceiver<Done>,
    reader: Reader,
    /// Bytes to be written.
    wire: Vec<u8>,
    next_packet_id: u16,
    client_id: String,
    keep_alive: Duration,
    /// QoS 2 messages received and not released yet.
    unreleased: std::collections::HashSet<u16>,
}

/// Why a connection ended.
enum End {
    /// Nobody needs the client any more.
    Finished,
    Lost(String),
    /// The broker will never take us as we are.
    Refused(String),
}

impl From<std::io::Error> for End {
    fn from(e: std::io::Error) -> Self {
        End::Lost(e.to_string())
    }
}

impl From<CodecError> for End {
    fn from(e: CodecError) -> Self {
        End::Lost(format!("the broker sent what is no MQTT: {e}"))
    }
}

impl Work {
    pub(super) fn new(
        options: ClientOptions,
        clock: Clock,
        status: Arc<ConnStatus>,
        commands: mpsc::Receiver<Command>,
    ) -> Self {
        let (acks, acked) = Acks::new();
        let client_id = match options.client_id.as_str() {
            "" => random_id(),
            id => id.to_owned(),
        };
        Work {
            reader: Reader::new(options.version),
            options,
            clock,
            status,
            commands,
            subscriptions: Vec::new(),
            watchers: Vec::new(),
            outgoing: Outgoing::default(),
            acks,
            acked,
            wire: Vec::new(),
            next_packet_id: 0,
            client_id,
            keep_alive: Duration::from_secs(u64::from(KEEP_ALIVE_S)),
            unreleased: Default::default(),
        }
    }

    pub(super) async fn run(mut self) {
        let mut pause = RETRY_FIRST_MS;
        let mut short_lives = 0;
        loop {
            self.status.trying(self.clock.now_ms());
            let began = Instant::now();
            let end = match self.connect().await {
                Ok((read, write, twin)) => {
                    if short_lives < 2 {
                        pause = RETRY_FIRST_MS;
                    }
                    let now = self.clock.now_ms();
                    self.status.connected(now);
                    self.each_status(|status| status.connected(now));
                    tracing::info!(broker = %self.options.address(), "MQTT connected");
                    self.serve(read, write, twin).await
                }
                Err(end) => end,
            };
            let why = match end {
                End::Finished => return,
                End::Lost(why) | End::Refused(why) => why,
            };
            // a connection that is taken away again and again is most often a client id used twice
            let short = self.status.state() == 1 && began.elapsed() < SHORT_LIFE;
            short_lives = if short { short_lives + 1 } else { 0 };
            match short_lives {
                0 | 1 => self.lost(&why).await,
                _ => {
                    let id = &self.client_id;
                    let why = format!("{why}; is client id {id:?} in use elsewhere as well?");
                    self.lost(&why).await;
                    pause = (pause * 3 / 2).min(RETRY_MAX_MS);
                }
            }
            if !self.idle(Duration::from_millis(pause)).await {
                return;
            }
            pause = (pause * 3 / 2).min(RETRY_MAX_MS);
        }
    }

    /// The statuses of all who use the client, besides its own.
    fn each_status(&mut self, tell: impl Fn(&ConnStatus)) {
        self.subscriptions.iter().for_each(|s| tell(&s.status));
        self.watchers.retain(|watcher| watcher.upgrade().inspect(|s| tell(s)).is_some());
    }

    fn watch(&mut self, watcher: Weak<ConnStatus>) {
        self.watchers.retain(|known| known.strong_count() > 0);
        if let Some(status) = watcher.upgrade() {
            match self.status.state() {
                1 => status.connected(self.clock.now_ms()),
                0 => {}
                _ => status.disconnected(self.clock.now_ms(), &self.status.message()),
            }
            self.watchers.push(watcher);
        }
    }

    async fn lost(&mut self, why: &str) {
        let now = self.clock.now_ms();
        let address = self.options.address();
        tracing::warn!(broker = %address, client_id = %self.client_id, "MQTT not connected: {why}");
        self.status.disconnected(now, why);
        self.outgoing.fail(why);
        self.acks.forget();
        self.unreleased.clear();
        self.reader.reset();
        self.wire.clear();
        self.each_status(|status| status.disconnected(now, why));
        for s in &self.subscriptions {
            let error = rekuiper_value::Error::new(format!("disconnected: {why}"));
            // best effort: a stream that is full has worse news to tell
            let _ = s.out.tx.try_send(crate::SourceItem::Error(error));
        }
    }

    /// Waits before the next try while commands are still taken. False: nobody needs us.
    async fn idle(&mut self, pause: Duration) -> bool {
        let until = Instant::now() + pause;
        loop {
            tokio::select! {
                command = self.commands.recv() => match command {
                    None => return false,
                    Some(Command::Subscribe(s)) => self.subscriptions.push(s),
                    Some(Command::Unsubscribe(id)) => self.subscriptions.retain(|s| s.id != id),
                    Some(Command::Watch(status)) => self.watch(status),
                    Some(Command::Publish(job)) => {
                        let text = format!("not connected to {}", self.options.address());
                        let _ = job.reply.send(Err(ConnectError::io(text)));
                    }
                },
                _ = sleep_until(until) => return true,
            }
        }
    }

    async fn connect(
        &mut self,
    ) -> Result<(ReadHalf<Box<dyn Transport>>, WriteHalf<Box<dyn Transport>>, Twin), End> {
        let address = self.options.address();
        let late = |_| End::Lost(format!("no answer from {address} in 5 s"));
        let made = timeout(ANSWER, stream::connect(&self.options)).await.map_err(late)?;
        let (transport, twin) = made.map_err(|e| match e.fault {
            Fault::Config => End::Refused(e.text),
            _ => End::Lost(e.text),
        })?;
        let (mut read, mut write) = tokio::io::split(transport);
        let mut hello = Connect::new(self.options.version, self.client_id.clone());
        hello.clean = !self.options.session;
        hello.keep_alive_s = KEEP_ALIVE_S;
        hello.user_name = self.options.username.clone();
        hello.password = self.options.password.clone().map(Into::into);
        if self.options.version.is_v5() && self.options.session {
            let expiry = Property::SessionExpiryInterval(self.options.session_expiry_s);
            hello.properties.push(expiry);
        }
        self.wire.clear();
        Packet::Connect(hello).encode(self.options.version, &mut self.wire)?;
        write.write_all(&self.wire).await?;
        self.wire.clear();
        timeout(ANSWER, self.connack(&mut read)).await.map_err(late)??;
        Ok((read, write, twin))
    }

    /// Reads the CONNACK; messages right behind it stay in the reader.
    async fn connack(&mut self, read: &mut ReadHalf<Box<dyn Transport>>) -> Result<(), End> {
        self.reader.reset();
        loop {
            self.reader.make_room();
            if read.read_buf(&mut self.reader.buf).await? == 0 {
                return Err(End::Lost("the broker closed the connection before CONNACK".into()));
            }
            let version = self.options.version;
            let Some((packet, used)) = Packet::decode(version, &self.reader.buf)? else { continue };
            self.reader.buf.drain(..used);
            let Packet::ConnAck(ack) = packet else {
                return Err(End::Lost("the broker's first answer is no CONNACK".into()));
            };
            if ack.reason.0 != 0 {
                return Err(End::Refused(format!(
                    "the broker refused client id {:?}: {}",
                    self.client_id, ack.reason
                )));
            }
            let max = ack.properties.receive_maximum().copied().unwrap_or(u16::MAX);
            self.outgoing.window = usize::from(max).min(1024);
            let keep_alive = ack.properties.server_keep_alive().copied().unwrap_or(KEEP_ALIVE_S);
            self.keep_alive = Duration::from_secs(u64::from(keep_alive.max(1)));
            return Ok(());
        }
    }
}

/// A client id nobody else has: eKuiper uses a random UUID.
fn random_id() -> String {
    use std::hash::{BuildHasher, Hasher};
    let random = || std::collections::hash_map::RandomState::new().build_hasher().finish();
    format!("rekuiper-{:016x}{:08x}", random(), random() as u32)
}
