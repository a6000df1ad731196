//! A scripted server on loopback and a reader of transcripts.
//!
//! A transcript is a list of cases. A case begins with `$ WORDS` (quotes as in a shell) and holds
//! any of
//!   `file NAME TEXT`   a file in the folder where the command runs (`\n` is a line break)
//!   `stdin TEXT`       what it reads
//!   `> METHOD PATH BODY` a call that it must make, in order; `*` in a path stands for anything
//!   `< STATUS BODY`    what the server answers to it
//!   `= LINE`           a line of its output, after the one that names the server
//!   `! TEXT`           standard error holds this
//!   `wrote NAME TEXT`  the file holds this afterwards
//!   `exit N`           its exit code
//! `PORT` is the port of the server.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

#[derive(Default, Debug)]
pub struct Case {
    pub line: usize,
    pub words: Vec<String>,
    pub files: Vec<(String, String)>,
    pub stdin: String,
    pub calls: Vec<(String, String, String)>,
    pub replies: Vec<(u16, String)>,
    pub out: String,
    pub err: Vec<String>,
    pub wrote: Vec<(String, String)>,
    pub exit: i32,
}

pub fn read(text: &str) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    for (n, line) in text.lines().enumerate() {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        if word.is_empty() || word.starts_with('#') {
            continue;
        }
        if word == "$" {
            cases.push(Case { line: n + 1, words: split(rest), ..Case::default() });
            continue;
        }
        let case = cases.last_mut().unwrap_or_else(|| panic!("line {}: no case yet", n + 1));
        let pair = || {
            let (a, b) = rest.split_once(' ').unwrap_or((rest, ""));
            (a.to_string(), b.replace("\\n", "\n"))
        };
        match word {
            "file" => case.files.push(pair()),
            "wrote" => case.wrote.push(pair()),
            "stdin" => case.stdin = rest.replace("\\n", "\n"),
            ">" => {
                let mut parts = rest.splitn(3, ' ').map(String::from);
                let mut next = || parts.next().unwrap_or_default();
                case.calls.push((next(), next(), next()));
            }
            "<" => {
                let (status, body) = pair();
                case.replies.push((status.parse().expect("a status"), body));
            }
            "=" => case.out.push_str(&format!("{rest}\n")),
            "!" => case.err.push(rest.into()),
            "exit" => case.exit = rest.parse().expect("an exit code"),
            _ => panic!("line {}: {word} is no word of a transcript", n + 1),
        }
    }
    cases
}

/// Words as a shell splits them: blanks, '...' and "...".
fn split(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for c in text.chars() {
        match quote {
            Some(q) if c == q => quote = None,
            Some(_) => word.get_or_insert_default().push(c),
            None if c == '\'' || c == '"' => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            None if c == ' ' => words.extend(word.take()),
            None => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

pub type Call = (String, String, String);

/// Answers in the order of its script and keeps what it was asked.
pub struct Server {
    pub port: u16,
    script: Arc<Mutex<VecDeque<(u16, String)>>>,
    seen: Arc<Mutex<Vec<Call>>>,
}

impl Server {
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port on loopback");
        let port = listener.local_addr().expect("its address").port();
        let script = Arc::new(Mutex::new(VecDeque::new()));
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (s, k) = (Arc::clone(&script), Arc::clone(&seen));
        std::thread::spawn(move || {
            for socket in listener.incoming().flatten() {
                answer(&socket, &s, &k);
            }
        });
        Self { port, script, seen }
    }

    pub fn expect(&self, replies: &[(u16, String)]) {
        let port = self.port.to_string();
        let replies = replies.iter().map(|(s, body)| (*s, body.replace("PORT", &port)));
        *self.script.lock().unwrap() = replies.collect();
        self.seen.lock().unwrap().clear();
    }

    pub fn seen(&self) -> Vec<Call> {
        self.seen.lock().unwrap().clone()
    }
}

/// One request, one reply, then the connection is closed, as the real one does. A connection
/// without a request (somebody looks whether we are there) is nothing.
fn answer(
    socket: &TcpStream,
    script: &Mutex<VecDeque<(u16, String)>>,
    seen: &Mutex<Vec<Call>>,
) -> Option<()> {
    let mut reader = BufReader::new(socket);
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|n| *n > 0)?;
    let mut head = line.split_whitespace().map(String::from);
    let (method, path) = (head.next()?, head.next()?);
    let mut length = 0;
    loop {
        line.clear();
        reader.read_line(&mut line).ok()?;
        let Some((key, value)) = line.trim().split_once(':') else { break };
        if key.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse().ok()?;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    seen.lock().unwrap().push((method, path, String::from_utf8(body).ok()?));
    let (status, body) =
        script.lock().unwrap().pop_front().unwrap_or((500, "nothing was scripted".into()));
    let mut socket = socket;
    write!(
        socket,
        "HTTP/1.1 {status} x\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )
    .ok()
}

/// Same call? Bodies are compared as JSON where they are JSON.
pub fn same(want: &Call, got: &Call) -> bool {
    let path = match want.1.split_once('*') {
        Some((head, tail)) => got.1.starts_with(head) && got.1.ends_with(tail),
        None => want.1 == got.1,
    };
    let json = |t: &str| serde_json::from_str::<serde_json::Value>(t).ok();
    let body = match (json(&want.2), json(&got.2)) {
        (Some(serde_json::Value::Object(want)), Some(got)) => {
            want.iter().all(|(k, v)| v == "*" || got.get(k) == Some(v))
                && got.as_object().is_some_and(|g| g.len() == want.len())
        }
        (Some(want), Some(got)) => want == got,
        _ => want.2 == got.2,
    };
    want.0 == got.0 && path && body
}
