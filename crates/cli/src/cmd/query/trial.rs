//! A trial run of the server and its feed of results (server-sent events on a port of their own,
//! which the server names). The feed is opened before the run starts, so no result is missed.

use std::io::{BufRead, BufReader, Read};

use serde_json::json;

use super::lines::Printer;
use crate::client::Client;
use crate::outcome::Failure;

/// A longer line of a feed is cut: nothing that comes in may fill the memory.
const LINE_BYTES_MAX: u64 = 64 * 1024 * 1024;

pub struct Trial<'a> {
    client: &'a Client,
    id: String,
    feed: Option<Box<dyn Read + Send>>,
}

impl<'a> Trial<'a> {
    pub fn open(client: &'a Client, sql: &str, number: u32) -> Result<Self, Failure> {
        let id = format!("kuiper_query_{}_{number}", std::process::id());
        let body = json!({"id": id, "sql": sql, "sinkProps": {"sendSingle": true}}).to_string();
        let made = client.post("/ruletest", &body)?.json()?;
        let mut trial = Trial { client, id, feed: None };
        let port = made["port"].as_u64().unwrap_or(10081);
        trial.feed = Some(Box::new(client.stream(port, &format!("/test/{}", trial.id))?));
        client.post(&format!("/ruletest/{}/start", trial.id), "")?.text()?;
        Ok(trial)
    }

    /// Hands over each result until the feed ends or `on_result` says that it is enough.
    pub fn read(mut self, on_result: impl FnMut(&str) -> bool) {
        if let Some(feed) = self.feed.take() {
            events(feed, on_result);
        }
    }

    /// Shows the results from now on, beside what the caller does next.
    pub fn show(&mut self, mut printer: Printer) {
        let Some(feed) = self.feed.take() else { return };
        std::thread::spawn(move || {
            events(feed, |result| {
                printer(result);
                true
            });
        });
    }
}

impl Drop for Trial<'_> {
    /// Ends the run; its feed ends with it. A server that is gone has ended it already.
    fn drop(&mut self) {
        let _ = self.client.delete(&format!("/ruletest/{}", self.id));
    }
}

/// The `data:` of each event.
fn events(feed: impl Read, mut on_event: impl FnMut(&str) -> bool) {
    let mut feed = BufReader::new(feed);
    let mut event = String::new();
    let mut line = Vec::new();
    loop {
        line.clear();
        match (&mut feed).take(LINE_BYTES_MAX).read_until(b'\n', &mut line) {
            Ok(n) if n > 0 => {}
            _ => return,
        }
        let text = String::from_utf8_lossy(&line);
        let text = text.trim_end_matches(['\n', '\r']);
        if let Some(data) = text.strip_prefix("data:") {
            if !event.is_empty() {
                event.push('\n');
            }
            event.push_str(data.strip_prefix(' ').unwrap_or(data));
        } else if text.is_empty() && !event.is_empty() {
            if !on_event(&event) {
                return;
            }
            event.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(feed: &str) -> Vec<String> {
        let mut seen = Vec::new();
        events(feed.as_bytes(), |e| {
            seen.push(e.to_string());
            seen.len() < 3
        });
        seen
    }

    #[test]
    fn data_lines_of_an_event_are_joined_and_the_rest_is_skipped() {
        let feed = ": hello\nid: 1\ndata: {\"a\":1}\n\ndata: x\r\ndata:y\r\n\r\n";
        assert_eq!(read(feed), ["{\"a\":1}", "x\ny"]);
    }

    #[test]
    fn a_cut_event_is_no_event_and_enough_is_enough() {
        assert_eq!(read("data: 1\n\ndata: 2"), ["1"]);
        assert_eq!(read("data: 1\n\ndata: 2\n\ndata: 3\n\ndata: 4\n\n").len(), 3);
    }
}
