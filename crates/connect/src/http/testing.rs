//! A server for tests: hands each request to a function and writes what it gives.

use std::sync::{Arc, Mutex};

use rekuiper_rt::task::{self, Task};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// Status line and body for a request.
type Answer = Arc<dyn Fn(&Seen) -> (String, String) + Send + Sync>;

/// A request as it came over the wire.
#[derive(Clone, Debug)]
pub struct Seen {
    pub line: String,
    /// `name: value`, names in lower case.
    pub headers: Vec<String>,
    pub body: String,
}

pub struct TestServer {
    pub url: String,
    pub port: u16,
    pub seen: Arc<Mutex<Vec<Seen>>>,
    pub connections: Arc<Mutex<usize>>,
    _task: Task,
}

impl TestServer {
    /// `answer` gives the whole answer after `HTTP/1.1 `: status line, headers; the body is added
    /// with its length.
    pub async fn start(
        answer: impl Fn(&Seen) -> (String, String) + Send + Sync + 'static,
    ) -> TestServer {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let connections = Arc::new(Mutex::new(0));
        let answer: Answer = Arc::new(answer);
        let (log, count) = (seen.clone(), connections.clone());
        let task = task::spawn("test server", async move {
            while let Ok((tcp, _)) = listener.accept().await {
                *count.lock().unwrap() += 1;
                task::spawn("test connection", serve(tcp, answer.clone(), log.clone())).detach();
            }
        });
        TestServer { url: format!("http://127.0.0.1:{port}"), port, seen, connections, _task: task }
    }

    pub fn last(&self) -> Seen {
        self.seen.lock().unwrap().last().cloned().expect("a request came")
    }
}

async fn serve(
    mut tcp: TcpStream,
    answer: Answer,
    log: Arc<Mutex<Vec<Seen>>>,
) {
    let mut buffer = Vec::new();
    loop {
        let mut chunk = [0u8; 4096];
        let (head, length) = loop {
            if let Some(at) = memchr::memmem::find(&buffer, b"\r\n\r\n") {
                let head = String::from_utf8_lossy(&buffer[..at]).into_owned();
                let length = head.to_lowercase().lines().find_map(|l| {
                    l.strip_prefix("content-length:").and_then(|n| n.trim().parse().ok())
                });
                let length: usize = length.unwrap_or(0);
                if buffer.len() >= at + 4 + length {
                    break (head, length);
                }
            }
            match tcp.read(&mut chunk).await {
                Ok(n) if n > 0 => buffer.extend_from_slice(&chunk[..n]),
                _ => return,
            }
        };
        let start = head.len() + 4;
        let body = String::from_utf8_lossy(&buffer[start..start + length]).into_owned();
        buffer.drain(..start + length);
        let mut lines = head.lines().map(str::to_owned);
        let line = lines.next().unwrap_or_default();
        let lower = |l: String| match l.split_once(':') {
            Some((name, value)) => format!("{}:{value}", name.to_lowercase()),
            None => l,
        };
        let request = Seen { line, headers: lines.map(lower).collect(), body };
        let (head, body) = answer(&request);
        log.lock().unwrap().push(request);
        if head.is_empty() {
            return; // hangs up without an answer
        }
        let text = format!("HTTP/1.1 {head}\r\ncontent-length: {}\r\n\r\n{body}", body.len());
        if tcp.write_all(text.as_bytes()).await.is_err() {
            return;
        }
    }
}
