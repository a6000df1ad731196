//! As much HTTP as talking to a local REST API needs.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

const TIMEOUT: Duration = Duration::from_secs(15);

/// Sends one request to 127.0.0.1 and returns status and body.
pub fn request(port: u16, method: &str, path: &str, body: &str) -> Result<(u16, String), String> {
    let context = |e: std::io::Error| format!("{method} {path} on port {port}: {e}");
    let addr = SocketAddr::from(([127, 0, 0, 1], port));
    let mut stream = TcpStream::connect_timeout(&addr, TIMEOUT).map_err(context)?;
    stream.set_read_timeout(Some(TIMEOUT)).map_err(context)?;
    let head = format!(
        "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).map_err(context)?;
    stream.write_all(body.as_bytes()).map_err(context)?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).map_err(context)?;
    parse(&answer).ok_or(format!(
        "{method} {path} on port {port}: not an HTTP answer"
    ))
}

/// As `request`, but any status from 400 on is an error that carries the body.
pub fn expect_ok(port: u16, method: &str, path: &str, body: &str) -> Result<String, String> {
    match request(port, method, path, body)? {
        (status, text) if status < 400 => Ok(text),
        (status, text) => Err(format!(
            "{method} {path} answered {status}: {}",
            text.trim()
        )),
    }
}

fn parse(answer: &[u8]) -> Option<(u16, String)> {
    let end = memchr::memmem::find(answer, b"\r\n\r\n")?;
    let head = std::str::from_utf8(&answer[..end]).ok()?;
    let status = head.split(' ').nth(1)?.parse().ok()?;
    let body = &answer[end + 4..];
    let chunked = head
        .to_ascii_lowercase()
        .contains("transfer-encoding: chunked");
    let body = if chunked {
        unchunk(body)?
    } else {
        body.to_vec()
    };
    Some((status, String::from_utf8_lossy(&body).into_owned()))
}

fn unchunk(mut rest: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    loop {
        let end = memchr::memmem::find(rest, b"\r\n")?;
        let size = std::str::from_utf8(&rest[..end])
            .ok()?
            .split(';')
            .next()?
            .trim();
        let size = usize::from_str_radix(size, 16).ok()?;
        if size == 0 {
            return Some(out);
        }
        out.extend_from_slice(rest.get(end + 2..end + 2 + size)?);
        rest = rest.get(end + 4 + size..)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_and_chunked_bodies_are_read() {
        let plain = b"HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\nok";
        assert_eq!(parse(plain), Some((201, "ok".to_string())));
        let chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\
            3\r\nabc\r\n2;x=1\r\nde\r\n0\r\n\r\n";
        assert_eq!(parse(chunked), Some((200, "abcde".to_string())));
        assert_eq!(parse(b"nonsense"), None);
        assert_eq!(unchunk(b"ff\r\nshort"), None);
    }
}
