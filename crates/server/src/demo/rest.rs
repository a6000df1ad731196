//! What the demo asks of the REST API, over HTTP as any client would.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// W1 of the benchmarks, and a window by device as in W2 with a shorter time.
pub const RULES: [&str; 2] = ["hot", "by_device"];
const SQL: [&str; 2] = [
    "SELECT id, device, temp, speed * 3.6 AS speed_kmh FROM telem WHERE temp > 21.0",
    "SELECT device, count(*) AS n, avg(temp) AS avg_temp, max(speed) AS max_speed FROM telem \
     GROUP BY device, TUMBLINGWINDOW(ss, 2)",
];
const STREAM: &str = "CREATE STREAM telem () WITH (TYPE=\"mqtt\", CONF_KEY=\"demo\", \
                      DATASOURCE=\"fleet/+/telemetry\", FORMAT=\"json\", SHARED=\"true\")";
const ANSWER: Duration = Duration::from_secs(10);
/// Results go to the next file after so many, and the demo deletes what it has read.
const ROWS_OF_A_FILE: u64 = 500_000;

/// A rule as `/rules/NAME/status` tells it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Status {
    /// Messages the stream took in.
    pub received: u64,
    /// Rows that reached the sink.
    pub out: u64,
    pub errors: u64,
    pub connected: bool,
}

pub struct Rest {
    at: SocketAddr,
}

impl Rest {
    pub fn new(at: SocketAddr) -> Rest {
        Rest { at }
    }

    /// Where the broker is, the stream, the rules; returns once both rules listen.
    pub fn set_up(&self, broker: SocketAddr, results: &Path) -> Result<(), String> {
        let server = json!({"server": format!("tcp://{broker}"), "qos": 0});
        self.call("PUT", "/metadata/sources/mqtt/confKeys/demo", Some(&server))?;
        self.call("POST", "/streams", Some(&json!({"sql": STREAM})))?;
        for (rule, sql) in RULES.into_iter().zip(SQL) {
            let file = json!({
                "path": results.join(format!("{rule}.jsonl")),
                "fileType": "lines",
                "sendSingle": true,
                "rollingCount": ROWS_OF_A_FILE,
                "rollingNamePattern": "suffix",
            });
            let rule = json!({"id": rule, "sql": sql, "actions": [{"file": file}]});
            self.call("POST", "/rules", Some(&rule))?;
        }
        let began = Instant::now();
        for rule in RULES {
            while !self.status(rule)?.connected {
                if began.elapsed() > ANSWER {
                    return Err(format!("rule {rule} does not reach the broker at {broker}"));
                }
                std::thread::sleep(Duration::from_millis(20));
            }
        }
        Ok(())
    }

    pub fn stop(&self, rule: &str) -> Result<(), String> {
        self.call("POST", &format!("/rules/{rule}/stop"), None).map(drop)
    }

    pub fn status(&self, rule: &str) -> Result<Status, String> {
        let text = self.call("GET", &format!("/rules/{rule}/status"), None)?;
        let value: Value = serde_json::from_str(&text)
            .map_err(|e| format!("the status of rule {rule} is no JSON: {e}"))?;
        Ok(status_of(&value))
    }

    fn call(&self, method: &str, path: &str, body: Option<&Value>) -> Result<String, String> {
        let failed = |why: String| format!("REST: {method} http://{}{path}: {why}", self.at);
        let body = body.map(Value::to_string).unwrap_or_default();
        let answer = self.exchange(method, path, &body).map_err(|e| failed(e.to_string()))?;
        let (head, text) = answer
            .split_once("\r\n\r\n")
            .ok_or_else(|| failed("the server closed before its answer was complete".into()))?;
        match head.split(' ').nth(1) {
            Some("200" | "201") => Ok(text.to_owned()),
            status => Err(failed(format!("status {}: {text}", status.unwrap_or("missing")))),
        }
    }

    /// HTTP/1.0, so that the body ends where the connection ends.
    fn exchange(&self, method: &str, path: &str, body: &str) -> std::io::Result<String> {
        let mut stream = TcpStream::connect_timeout(&self.at, ANSWER)?;
        stream.set_read_timeout(Some(ANSWER))?;
        stream.set_write_timeout(Some(ANSWER))?;
        let (host, length) = (self.at, body.len());
        let head = format!(
            "{method} {path} HTTP/1.0\r\nHost: {host}\r\nContent-Type: application/json\r\n\
             Content-Length: {length}\r\n\r\n{body}"
        );
        stream.write_all(head.as_bytes())?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        Ok(answer)
    }
}

/// Nodes are called by kind first: `source_telem_0_records_in_total`.
fn status_of(status: &Value) -> Status {
    let mut out = Status::default();
    for (key, value) in status.as_object().into_iter().flatten() {
        let number = value.as_u64().unwrap_or(0);
        let node = |kind: &str, metric: &str| key.starts_with(kind) && key.ends_with(metric);
        if key.ends_with("_exceptions_total") {
            out.errors += number;
        } else if node("source_", "_records_in_total") {
            out.received = number;
        } else if node("source_", "_connection_status") {
            out.connected = number == 1;
        } else if node("sink_", "_records_in_total") {
            out.out = number;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_found_by_the_kind_of_node() {
        let status = json!({
            "status": "running",
            "source_telem_0_records_in_total": 10,
            "source_telem_0_connection_status": 1,
            "op_2_decoder_0_records_in_total": 9,
            "op_2_decoder_0_exceptions_total": 1,
            "sink_file_0_0_records_in_total": 7,
            "sink_file_0_0_exceptions_total": 2,
        });
        let want = Status { received: 10, out: 7, errors: 3, connected: true };
        assert_eq!(status_of(&status), want);
    }
}
