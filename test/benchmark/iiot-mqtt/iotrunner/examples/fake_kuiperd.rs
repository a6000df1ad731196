//! A pretender for the runner's own tests: just enough REST, MQTT and windows to pass as an engine.
//! `FAKE_LOSE=N` makes it lose every N-th message, so that the tests see a proof fail.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use mqttgen::mqtt;
use serde_json::{Value, json};

/// What REST was told so far.
#[derive(Clone, Default)]
struct Told {
    server: String,
    stream: String,
}

fn main() -> std::io::Result<()> {
    let port = std::env::var("KUIPER__BASIC__RESTPORT").unwrap_or_default();
    let port: u16 = port.parse().map_err(std::io::Error::other)?;
    let listener = TcpListener::bind(("127.0.0.1", port))?;
    let mut told = Told::default();
    for stream in listener.incoming() {
        answer(stream?, &mut told)?;
    }
    Ok(())
}

fn answer(mut stream: TcpStream, told: &mut Told) -> std::io::Result<()> {
    let mut from = BufReader::new(stream.try_clone()?);
    let (mut request, mut line, mut length) = (String::new(), String::new(), 0);
    from.read_line(&mut request)?;
    while from.read_line(&mut line)? > 2 {
        if let Some(text) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = text.trim().parse().unwrap_or(0);
        }
        line.clear();
    }
    let mut body = vec![0; length];
    from.read_exact(&mut body)?;
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    if request.starts_with("PUT /metadata/sources/mqtt/confKeys/bench") {
        told.server = body["server"].as_str().unwrap_or("").replace("tcp://", "");
    } else if request.starts_with("POST /streams") {
        told.stream = body["sql"].as_str().unwrap_or("").to_string();
    } else if request.starts_with("POST /rules ") {
        let told = told.clone();
        std::thread::spawn(move || rule(&told, &body));
    }
    stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")
}

#[derive(Default)]
struct Group {
    n: u64,
    sum: f64,
    max: f64,
}

type Groups = Arc<Mutex<BTreeMap<String, Group>>>;

/// Numbers in the rule's text, e.g. of `SESSIONWINDOW(ss, 10, 2)`.
fn window_numbers(sql: &str, name: &str) -> Option<Vec<u64>> {
    let rest = &sql[sql.find(name)? + name.len()..];
    let list = rest
        .split(')')
        .next()?
        .split(',')
        .filter_map(|word| word.trim().parse().ok());
    Some(list.collect())
}

fn rule(told: &Told, body: &Value) -> std::io::Result<()> {
    let sql = body["sql"].as_str().unwrap_or("").to_string();
    let path = body["actions"][0]["file"]["path"].as_str().unwrap_or("");
    let file = Arc::new(Mutex::new(File::create(path)?));
    let groups = Groups::default();
    let last = Arc::new(Mutex::new(Instant::now()));
    if sql.contains("WINDOW") {
        let (sql, groups, last, file) = (sql.clone(), groups.clone(), last.clone(), file.clone());
        std::thread::spawn(move || close_windows(&sql, &groups, &last, &file));
    }
    let topic = told
        .stream
        .split("DATASOURCE=\"")
        .nth(1)
        .and_then(|t| t.split('"').next());
    let mut stream = TcpStream::connect(&told.server)?;
    stream.write_all(&mqtt::connect(4, "fake"))?;
    stream.write_all(&mqtt::subscribe(4, 1, topic.unwrap_or("")))?;
    let lose: u64 = std::env::var("FAKE_LOSE")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(0);
    let mut from = BufReader::with_capacity(1 << 18, stream);
    let mut seen = 0;
    while let Some(packet) = mqtt::read_packet(&mut from)? {
        if packet.kind != mqtt::PUBLISH {
            continue;
        }
        seen += 1;
        if lose > 0 && seen % lose == 0 {
            continue;
        }
        let size = usize::from(u16::from_be_bytes([packet.body[0], packet.body[1]]));
        let (topic, payload) = packet.body[2..].split_at(size);
        message(&sql, topic, payload, &groups, &file)?;
        *last.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }
    Ok(())
}

fn message(
    sql: &str,
    topic: &[u8],
    payload: &[u8],
    groups: &Groups,
    file: &Mutex<File>,
) -> std::io::Result<()> {
    let write = |row: Value| {
        let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
        file.write_all(format!("{row}\n").as_bytes())
    };
    if sql.contains("self AS state") {
        let text = String::from_utf8_lossy;
        return write(json!({ "topic": text(topic), "state": text(payload) }));
    }
    let row: Value = serde_json::from_slice(payload).unwrap_or_default();
    let (temp, speed) = (
        row["temp"].as_f64().unwrap_or(0.0),
        row["speed"].as_f64().unwrap_or(0.0),
    );
    if sql.contains("GROUP BY") {
        let mut groups = groups.lock().unwrap_or_else(PoisonError::into_inner);
        let name = row["device"].as_str().unwrap_or("").to_string();
        let group = groups.entry(name).or_default();
        let swapped = sql.contains("avg(speed)");
        let (averaged, most) = if swapped {
            (speed, temp)
        } else {
            (temp, speed)
        };
        group.n += 1;
        group.sum += averaged;
        group.max = group.max.max(most);
        return Ok(());
    }
    if temp > 21.0 {
        let (id, device) = (&row["id"], &row["device"]);
        return write(
            json!({ "id": id, "device": device, "temp": temp, "speed_kmh": speed * 3.6 }),
        );
    }
    Ok(())
}

fn close_windows(sql: &str, groups: &Groups, last: &Mutex<Instant>, file: &Mutex<File>) {
    let tumbling = window_numbers(sql, "TUMBLINGWINDOW(");
    let session = window_numbers(sql, "SESSIONWINDOW(");
    let now = || {
        SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |d| d.as_millis() as u64)
    };
    let mut window = 0;
    loop {
        std::thread::sleep(Duration::from_millis(10));
        let due = match (&tumbling, &session) {
            (Some(list), _) => {
                let current = now() / (list[0] * 1000);
                std::mem::replace(&mut window, current) != current
            }
            (_, Some(list)) => {
                let last = *last.lock().unwrap_or_else(PoisonError::into_inner);
                last.elapsed() >= Duration::from_secs(list[1])
            }
            _ => return,
        };
        if !due {
            continue;
        }
        let closed = std::mem::take(&mut *groups.lock().unwrap_or_else(PoisonError::into_inner));
        let mut text = String::new();
        for (device, g) in closed {
            let avg = g.sum / g.n as f64;
            let row = json!({ "device": device, "n": g.n, "avg": avg, "max": g.max });
            text.push_str(&format!("{row}\n"));
        }
        let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
        if file.write_all(text.as_bytes()).is_err() {
            return;
        }
    }
}
