//! The client: one task that owns the connection, for any number of subscriptions and publishers.

use std::sync::Arc;
use std::time::Duration;

use rekuiper_mqtt_codec::{
    Ack, CodecError, Connect, Frame, Packet, Property, QoS, Subscribe, SubscribeFilter,
    Unsubscribe, topic_matches,
};
use rekuiper_rt::{Clock, Pause, task};
use rekuiper_value::batch::{Msg, Payloads, RawBatch};
use tokio::io::{AsyncReadExt, AsyncWriteExt, ReadHalf, WriteHalf};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until, timeout};

use super::acks::{Acks, Done};
use super::outgoing::{Job, Outgoing};
use super::pace::{Came, Next, Pace};
use super::reader::{Reader, Taken};
use super::stream::{self, Nudge, Transport};
use super::ClientOptions;
use crate::{ConnStatus, ConnectError, Fault, SourceOut};

/// Answer to CONNECT, SUBSCRIBE and the like must come within this time.
const ANSWER: Duration = Duration::from_secs(5);
const KEEP_ALIVE_S: u16 = 30;
const RETRY_FIRST_MS: u64 = 100;
const RETRY_MAX_MS: u64 = 10_000;
/// A connection that ends sooner than this was not wanted.
const SHORT_LIFE: Duration = Duration::from_secs(3);

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

struct Work {
    options: ClientOptions,
    clock: Clock,
    status: Arc<ConnStatus>,
    commands: mpsc::Receiver<Command>,
    subscriptions: Vec<Subscription>,
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
    fn new(
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

    async fn run(mut self) {
        let mut pause = RETRY_FIRST_MS;
        let mut short_lives = 0;
        loop {
            self.status.trying(self.clock.now_ms());
            let began = Instant::now();
            let end = match self.connect().await {
                Ok((read, write, nudge)) => {
                    if short_lives < 2 {
                        pause = RETRY_FIRST_MS;
                    }
                    let now = self.clock.now_ms();
                    self.status.connected(now);
                    self.subscriptions.iter().for_each(|s| s.status.connected(now));
                    tracing::info!(broker = %self.options.address(), "MQTT connected");
                    self.serve(read, write, nudge).await
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
        for s in &self.subscriptions {
            s.status.disconnected(now, why);
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
    ) -> Result<(ReadHalf<Box<dyn Transport>>, WriteHalf<Box<dyn Transport>>, Nudge), End> {
        let address = self.options.address();
        let late = |_| End::Lost(format!("no answer from {address} in 5 s"));
        let made = timeout(ANSWER, stream::connect(&self.options)).await.map_err(late)?;
        let (transport, nudge) = made.map_err(|e| match e.fault {
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
        Ok((read, write, nudge))
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

    async fn serve(
        &mut self,
        mut read: ReadHalf<Box<dyn Transport>>,
        mut write: WriteHalf<Box<dyn Transport>>,
        nudge: Nudge,
    ) -> End {
        for at in 0..self.subscriptions.len() {
            if let Err(e) = self.put_subscribe(at) {
                return e;
            }
        }
        let mut pings = tokio::time::interval(self.keep_alive.mul_f32(0.75));
        pings.reset();
        match self.exchange(&mut read, &mut write, &nudge, &mut pings).await {
            Ok(()) => End::Finished,
            Err(end) => end,
        }
    }

    async fn exchange(
        &mut self,
        read: &mut ReadHalf<Box<dyn Transport>>,
        write: &mut WriteHalf<Box<dyn Transport>>,
        nudge: &Nudge,
        pings: &mut tokio::time::Interval,
    ) -> Result<(), End> {
        let (mut pace, mut pause) = (Pace::new(Instant::now()), Pause::new());
        let mut fresh = false;
        loop {
            let came = self.take_in(write, pings).await?;
            self.outgoing.fill(&mut self.wire);
            if !self.wire.is_empty() {
                write.write_all(&self.wire).await?;
                self.wire.clear();
                self.outgoing.written();
            }
            if std::mem::take(&mut fresh) {
                match pace.next(came) {
                    Next::Read => {}
                    Next::Acknowledge => nudge.acknowledge(),
                    Next::Linger(wait) => {
                        pause.wait(wait).await;
                        nudge.acknowledge();
                    }
                }
            }
            self.reader.make_room();
            pace.waits(Instant::now());
            tokio::select! {
                biased;
                command = self.commands.recv() => match command {
                    None => return self.goodbye(write).await,
                    Some(command) => self.command(command)?,
                },
                done = self.acked.recv() => if let Some(done) = done { self.pay(done) },
                _ = pings.tick() => self.wire.extend_from_slice(&[0xc0, 0]),
                got = read.read_buf(&mut self.reader.buf) => {
                    if got? == 0 {
                        return Err(End::Lost("the broker closed the connection".into()));
                    }
                    pace.reads(Instant::now());
                    fresh = true;
                }
            }
        }
    }

    /// Everything the reader holds: messages to their subscriptions, answers to where they belong.
    async fn take_in(
        &mut self,
        write: &mut WriteHalf<Box<dyn Transport>>,
        pings: &mut tokio::time::Interval,
    ) -> Result<Came, End> {
        let mut came = Came::default();
        loop {
            let mut others = Vec::new();
            let more = self.reader.parse(|frame, body| {
                others.push((frame.clone(), body.to_vec()));
                Ok(())
            })?;
            for (frame, body) in others {
                self.answer(&frame, &body)?;
            }
            if !self.reader.has_messages() {
                self.reader.settle();
                return Ok(came);
            }
            let taken = self.reader.take();
            came.messages += taken.msgs.len();
            came.bytes += taken.bytes.len();
            self.deliver(taken, write, pings).await?;
            if !more {
                return Ok(came);
            }
        }
    }

    /// Hands messages to subscriptions, waiting for room while keep-alives go on.
    async fn deliver(
        &mut self,
        mut taken: Taken,
        write: &mut WriteHalf<Box<dyn Transport>>,
        pings: &mut tokio::time::Interval,
    ) -> Result<(), End> {
        let ack = taken.acked.then(|| self.owe(&taken.msgs));
        let ts = self.clock.now_ms();
        let single = self.subscriptions.len() == 1;
        for at in 0..self.subscriptions.len() {
            let msgs = match single && at == 0 {
                true => std::mem::take(&mut taken.msgs),
                false => matching(&self.subscriptions[at], &taken),
            };
            if msgs.is_empty() {
                continue;
            }
            let payloads = Payloads::Bytes { bytes: taken.bytes.clone(), msgs };
            let mut batch = RawBatch { payloads, meta: None, ts, ack: ack.clone() };
            loop {
                match self.subscriptions[at].out.try_send(batch) {
                    Ok(None) | Err(_) => break, // a stopped stream unsubscribes by itself
                    Ok(Some(back)) => batch = back,
                }
                tokio::select! {
                    _ = self.subscriptions[at].out.tx.freed() => {}
                    _ = pings.tick() => write.write_all(&[0xc0, 0]).await?,
                    done = self.acked.recv() => {
                        if let Some(done) = done { self.pay(done) }
                        if !self.wire.is_empty() {
                            write.write_all(&self.wire).await?;
                            self.wire.clear();
                        }
                    }
                }
            }
        }
        Ok(())
    }

    fn owe(&mut self, msgs: &[Msg]) -> rekuiper_value::batch::Ack {
        let owed = msgs.iter().filter(|m| m.meta.packet_id != 0);
        self.acks.owe(owed.map(|m| (m.meta.packet_id, m.meta.qos)).collect())
    }

    fn pay(&mut self, done: Done) {
        let (wire, version) = (&mut self.wire, self.options.version);
        let unreleased = &mut self.unreleased;
        self.acks.done(done, |(id, qos)| {
            let ack = Ack::new(id, rekuiper_mqtt_codec::ReasonCode(0));
            let packet = if qos == 2 {
                unreleased.insert(id);
                Packet::PubRec(ack)
            } else {
                Packet::PubAck(ack)
            };
            // an acknowledgement without properties always fits
            let _ = packet.encode(version, wire);
        });
    }

    fn answer(&mut self, frame: &Frame, body: &[u8]) -> Result<(), End> {
        let version = self.options.version;
        match Packet::from_frame(version, frame, body)? {
            Packet::PubAck(a) => self.outgoing.acknowledged(a.packet_id, refusal(&a)),
            Packet::PubComp(a) => self.outgoing.acknowledged(a.packet_id, None),
            Packet::PubRec(a) => {
                if a.reason.0 >= 0x80 {
                    self.outgoing.acknowledged(a.packet_id, refusal(&a));
                } else if self.outgoing.is_flying(a.packet_id) {
                    let release = Ack::new(a.packet_id, rekuiper_mqtt_codec::ReasonCode(0));
                    Packet::PubRel(release).encode(version, &mut self.wire)?;
                }
            }
            Packet::PubRel(a) => {
                self.unreleased.remove(&a.packet_id);
                let complete = Ack::new(a.packet_id, rekuiper_mqtt_codec::ReasonCode(0));
                Packet::PubComp(complete).encode(version, &mut self.wire)?;
            }
            Packet::SubAck(a) => {
                if let Some(reason) = a.reasons.iter().find(|r| r.0 >= 0x80) {
                    tracing::error!("the broker refused a subscription: {reason}");
                }
            }
            Packet::Disconnect(d) => {
                return Err(End::Lost(format!(
                    "the broker disconnected client id {:?}: {}",
                    self.client_id, d.reason
                )));
            }
            _ => {}
        }
        Ok(())
    }

    fn command(&mut self, command: Command) -> Result<(), End> {
        match command {
            Command::Subscribe(s) => {
                s.status.connected(self.clock.now_ms());
                self.subscriptions.push(s);
                self.put_subscribe(self.subscriptions.len() - 1)?;
            }
            Command::Unsubscribe(id) => {
                if let Some(at) = self.subscriptions.iter().position(|s| s.id == id) {
                    let gone = self.subscriptions.remove(at);
                    self.put_unsubscribe(gone)?;
                }
            }
            Command::Publish(job) => self.outgoing.push(job),
        }
        Ok(())
    }

    fn packet_id(&mut self) -> u16 {
        self.next_packet_id = self.next_packet_id.checked_add(1).unwrap_or(1);
        self.next_packet_id
    }

    fn put_subscribe(&mut self, at: usize) -> Result<(), End> {
        let packet_id = self.packet_id();
        let s = &self.subscriptions[at];
        let filters =
            s.filters.iter().map(|f| SubscribeFilter::new(f.clone(), s.qos)).collect();
        let packet = Subscribe { packet_id, properties: Default::default(), filters };
        Packet::Subscribe(packet).encode(self.options.version, &mut self.wire)?;
        Ok(())
    }

    /// Filters that no other subscription needs.
    fn put_unsubscribe(&mut self, gone: Subscription) -> Result<(), End> {
        let needed = |f: &String| self.subscriptions.iter().any(|s| s.filters.contains(f));
        let filters: Vec<String> = gone.filters.into_iter().filter(|f| !needed(f)).collect();
        if filters.is_empty() || self.options.session {
            return Ok(());
        }
        let packet_id = self.packet_id();
        let packet = Unsubscribe { packet_id, properties: Default::default(), filters };
        Packet::Unsubscribe(packet).encode(self.options.version, &mut self.wire)?;
        Ok(())
    }

    async fn goodbye(&mut self, write: &mut WriteHalf<Box<dyn Transport>>) -> Result<(), End> {
        self.wire.extend_from_slice(&[0xe0, 0]); // DISCONNECT, the same in all versions
        write.write_all(&self.wire).await?;
        let _ = write.shutdown().await;
        Ok(())
    }
}

fn refusal(ack: &Ack) -> Option<String> {
    (ack.reason.0 >= 0x80).then(|| ack.reason.to_string())
}

fn matching(subscription: &Subscription, taken: &Taken) -> Vec<Msg> {
    let fits = |msg: &&Msg| {
        let (at, len) = (msg.meta.topic.0 as usize, msg.meta.topic.1 as usize);
        let topic = std::str::from_utf8(taken.bytes.get(at..at + len).unwrap_or(&[]));
        topic.is_ok_and(|t| subscription.filters.iter().any(|f| filter_matches(f, t)))
    };
    taken.msgs.iter().filter(fits).cloned().collect()
}

/// A filter, `$share/group/` aside.
fn filter_matches(filter: &str, topic: &str) -> bool {
    let plain = filter.strip_prefix("$share/").and_then(|rest| rest.split_once('/'));
    topic_matches(plain.map_or(filter, |(_, f)| f), topic)
}

/// A client id nobody else has: eKuiper uses a random UUID.
fn random_id() -> String {
    use std::hash::{BuildHasher, Hasher};
    let random = || std::collections::hash_map::RandomState::new().build_hasher().finish();
    format!("rekuiper-{:016x}{:08x}", random(), random() as u32)
}
