//! Publishing: jobs of encoded frames, and the acknowledgements they wait for.

use std::collections::{HashMap, VecDeque};

use tokio::sync::oneshot;

use crate::ConnectError;

/// A batch of PUBLISH frames. At QoS 1 and 2 the client puts the packet ids in.
pub struct Job {
    pub frames: Vec<u8>,
    /// Where each frame ends.
    pub ends: Vec<u32>,
    /// Where each frame's packet id stands; empty at QoS 0.
    pub ids_at: Vec<u32>,
    pub qos: u8,
    pub reply: oneshot::Sender<Result<(), ConnectError>>,
}

struct Current {
    job: Job,
    /// Frames written.
    sent: usize,
    /// Frames acknowledged, in any order.
    acked: usize,
    /// Lowest frame not acknowledged: what an error reports as written.
    done: Vec<bool>,
}

/// See the module's doc. One job at a time, in order.
#[derive(Default)]
pub struct Outgoing {
    waiting: VecDeque<Job>,
    current: Option<Current>,
    /// packet id → frame of the current job
    flying: HashMap<u16, usize>,
    next_id: u16,
    /// Most frames unacknowledged at once.
    pub window: usize,
}

impl Outgoing {
    pub fn push(&mut self, job: Job) {
        self.waiting.push_back(job);
    }

    /// Appends what may be written now to `out`.
    pub fn fill(&mut self, out: &mut Vec<u8>) {
        if self.current.is_none() {
            let Some(job) = self.waiting.pop_front() else { return };
            let done = vec![false; job.ids_at.len()];
            self.current = Some(Current { job, sent: 0, acked: 0, done });
        }
        let Some(current) = &mut self.current else { return };
        if current.job.qos == 0 {
            if current.sent == 0 {
                out.extend_from_slice(&current.job.frames);
                // answered once it is in the socket's buffer: see `written`
                current.sent = current.job.ends.len();
            }
            return;
        }
        while current.sent < current.job.ends.len() && self.flying.len() < self.window.max(1) {
            let frame = current.sent;
            let id = loop {
                self.next_id = self.next_id.checked_add(1).unwrap_or(1);
                if !self.flying.contains_key(&self.next_id) {
                    break self.next_id;
                }
            };
            let at = current.job.ids_at[frame] as usize;
            current.job.frames[at..at + 2].copy_from_slice(&id.to_be_bytes());
            let start = if frame == 0 { 0 } else { current.job.ends[frame - 1] as usize };
            let end = current.job.ends[frame] as usize;
            out.extend_from_slice(&current.job.frames[start..end]);
            self.flying.insert(id, frame);
            current.sent += 1;
        }
    }

    /// What `fill` gave went into the socket: QoS 0 jobs are done with that.
    pub fn written(&mut self) {
        let at_most_once =
            self.current.as_ref().is_some_and(|c| c.job.qos == 0 && c.sent == c.job.ends.len());
        if at_most_once && let Some(current) = self.current.take() {
            let _ = current.job.reply.send(Ok(()));
        }
    }

    /// PUBACK or PUBCOMP of a packet id.
    pub fn acknowledged(&mut self, id: u16, refused: Option<String>) {
        let Some(frame) = self.flying.remove(&id) else { return };
        let Some(current) = &mut self.current else { return };
        current.done[frame] = true;
        current.acked += 1;
        if let Some(why) = refused {
            tracing::warn!("the broker refused a message: {why}");
        }
        if current.acked == current.job.ends.len()
            && let Some(current) = self.current.take()
        {
            let _ = current.job.reply.send(Ok(()));
        }
    }

    /// PUBREC: whether the id is ours.
    pub fn is_flying(&self, id: u16) -> bool {
        self.flying.contains_key(&id)
    }

    /// The connection ended: every job fails; the sink tries again from what was not acknowledged.
    pub fn fail(&mut self, why: &str) {
        self.flying.clear();
        if let Some(current) = self.current.take() {
            let written = current.done.iter().take_while(|d| **d).count();
            let _ = current.job.reply.send(Err(ConnectError::io(why).after(written)));
        }
        for job in self.waiting.drain(..) {
            let _ = job.reply.send(Err(ConnectError::io(why)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(qos: u8, frames: usize) -> (Job, oneshot::Receiver<Result<(), ConnectError>>) {
        let (reply, heard) = oneshot::channel();
        let ends = (1..=frames as u32).map(|i| i * 4).collect();
        let ids_at =
            if qos == 0 { vec![] } else { (0..frames as u32).map(|i| i * 4 + 1).collect() };
        (Job { frames: vec![0; frames * 4], ends, ids_at, qos, reply }, heard)
    }

    #[test]
    fn keeps_to_the_window_and_reports_what_was_taken() {
        let mut out = Outgoing { window: 2, ..Default::default() };
        let (j, mut heard) = job(1, 3);
        out.push(j);
        let mut wire = Vec::new();
        out.fill(&mut wire);
        assert_eq!(wire.len(), 8, "two of three fly");
        out.acknowledged(1, None);
        out.fill(&mut wire);
        assert_eq!(wire.len(), 12);
        out.fail("gone");
        assert_eq!(heard.try_recv().unwrap().unwrap_err().written, 1);
        let (j, mut heard) = job(0, 5);
        out.push(j);
        out.fill(&mut wire);
        out.written();
        assert!(heard.try_recv().unwrap().is_ok());
        assert!(out.current.is_none() && out.waiting.is_empty());
    }
}
