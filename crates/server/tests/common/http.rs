//! As much of HTTP as tests need.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

#[derive(Debug, Clone)]
pub struct Answer {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: String,
}

impl Answer {
    pub fn header(&self, name: &str) -> &str {
        let found = self
            .headers
            .iter()
            .find(|(k, _)| k.eq_ignore_ascii_case(name));
        found.map_or("", |(_, v)| v)
    }
}

fn connect(url: &str) -> Result<(TcpStream, String), String> {
    let rest = url.strip_prefix("http://").ok_or("not http")?;
    let (host, path) = match rest.find('/') {
        Some(i) => (&rest[..i], &rest[i..]),
        None => (rest, "/"),
    };
    let stream = TcpStream::connect(host).map_err(|e| e.to_string())?;
    stream
        .set_read_timeout(Some(Duration::from_secs(30)))
        .map_err(|e| e.to_string())?;
    Ok((stream, path.to_owned()))
}

fn send(
    url: &str,
    method: &str,
    headers: &[(String, String)],
    body: &[u8],
) -> Result<BufReader<TcpStream>, String> {
    let (mut stream, path) = connect(url)?;
    let mut head = format!("{method} {path} HTTP/1.1\r\nhost: test\r\n");
    for (k, v) in headers {
        head.push_str(&format!("{k}: {v}\r\n"));
    }
    if !body.is_empty() || method != "GET" {
        head.push_str(&format!("content-length: {}\r\n", body.len()));
    }
    head.push_str("\r\n");
    stream
        .write_all(head.as_bytes())
        .map_err(|e| e.to_string())?;
    // A server that refuses early may have closed already; its answer counts.
    let _ = stream.write_all(body);
    Ok(BufReader::new(stream))
}

fn head(reader: &mut impl BufRead) -> Result<Answer, String> {
    let mut line = String::new();
    reader.read_line(&mut line).map_err(|e| e.to_string())?;
    let status = line
        .split(' ')
        .nth(1)
        .and_then(|s| s.parse().ok())
        .ok_or(format!("{line:?}"))?;
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).map_err(|e| e.to_string())?;
        match line.trim_end().split_once(':') {
            None => {
                return Ok(Answer {
                    status,
                    headers,
                    body: String::new(),
                });
            }
            Some((k, v)) => headers.push((k.to_lowercase(), v.trim().to_owned())),
        }
    }
}

/// `path` may be a whole address.
pub fn call(
    base: &str,
    method: &str,
    path: &str,
    headers: &[(String, String)],
    body: &[u8],
) -> Result<Answer, String> {
    let url = if path.starts_with("http") {
        path.to_owned()
    } else {
        format!("{base}{path}")
    };
    let mut reader = send(&url, method, headers, body)?;
    let mut answer = head(&mut reader)?;
    let mut raw = Vec::new();
    reader.read_to_end(&mut raw).map_err(|e| e.to_string())?;
    if answer.header("transfer-encoding") == "chunked" {
        raw = unchunk(&raw);
    }
    answer.body = String::from_utf8_lossy(&raw).into_owned();
    Ok(answer)
}

fn unchunk(mut raw: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    while let Some(end) = raw.windows(2).position(|w| w == b"\r\n") {
        let size = std::str::from_utf8(&raw[..end])
            .ok()
            .and_then(|s| usize::from_str_radix(s, 16).ok());
        match size {
            Some(n) if n > 0 && raw.len() >= end + 4 + n => {
                out.extend_from_slice(&raw[end + 2..end + 2 + n]);
                raw = &raw[end + 4 + n..];
            }
            _ => break,
        }
    }
    out
}

/// The data lines of a stream of server-sent events, read by a thread.
pub fn events(url: &str) -> Result<std::sync::mpsc::Receiver<String>, String> {
    let mut reader = send(url, "GET", &[], b"")?;
    let answer = head(&mut reader)?;
    if answer.status != 200 {
        return Err(format!("status {}", answer.status));
    }
    let (tx, rx) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        for line in reader.lines().map_while(Result::ok) {
            if let Some(data) = line.strip_prefix("data:")
                && tx.send(data.trim().to_owned()).is_err()
            {
                return;
            }
        }
    });
    Ok(rx)
}
