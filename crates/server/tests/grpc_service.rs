//! Methods of a gRPC service as functions of SQL, from the archive to the results of a rule.

mod common;

use std::convert::Infallible;
use std::io::Write;
use std::time::{Duration, Instant};

use axum::http::header::{HeaderMap, HeaderValue};
use axum::http::{Request, Response};
use bytes::Bytes;
use common::{Folder, Server};
use http_body_util::{BodyExt, StreamBody};
use hyper::body::{Body, Frame, Incoming};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use rekuiper_formats::proto::Schema;
use rekuiper_value::{Object, Value};
use serde_json::json;

const PROTO: &str = "syntax = \"proto3\"; package calc.v1;
    import \"google/protobuf/wrappers.proto\"; import \"google/protobuf/empty.proto\";
    service Calc {
      rpc Add(Two) returns (One) {}
      rpc Twice(google.protobuf.Int64Value) returns (google.protobuf.Int64Value) {}
      rpc Note(One) returns (google.protobuf.Empty) {}
      rpc Watch(One) returns (stream One) {}
    }
    message Two { double a = 1; double b = 2; string unit = 3; }
    message One { double sum = 1; string unit = 2; }";

/// What the peer does with a message.
fn answer(path: &str, message: &[u8]) -> Result<Vec<u8>, &'static str> {
    let schema = Schema::compile("calc.proto", |name: &str| {
        (name == "calc.proto").then(|| PROTO.to_owned())
    });
    let methods = schema.unwrap().methods();
    let method = methods.iter().find(|m| path == format!("/{}/{}", m.service, m.name)).unwrap();
    let row = method.input.decode(message).unwrap();
    let number = |key: &str| row[key].as_f64().unwrap();
    let out = match method.name.as_str() {
        "Add" if number("a") < 0.0 => return Err("a must not be negative"),
        "Add" => Object::from([
            ("sum".into(), Value::Float(number("a") + number("b"))),
            ("unit".into(), row["unit"].clone()),
        ]),
        "Twice" => Object::from([("value".into(), Value::Int(number("value") as i64 * 2))]),
        _ => Object::new(),
    };
    let mut bytes = Vec::new();
    method.output.encode(&out, &mut bytes).unwrap();
    Ok(bytes)
}

async fn served(
    request: Request<Incoming>,
) -> Result<Response<impl Body<Data = Bytes, Error = Infallible>>, Infallible> {
    let path = request.uri().path().to_owned();
    let body = request.into_body().collect().await.unwrap().to_bytes();
    let (mut framed, mut trailers) = (Vec::new(), HeaderMap::new());
    match answer(&path, &body[5..]) {
        Ok(bytes) => {
            framed.push(0);
            framed.extend_from_slice(&(bytes.len() as u32).to_be_bytes());
            framed.extend_from_slice(&bytes);
            trailers.insert("grpc-status", HeaderValue::from_static("0"));
        }
        Err(why) => {
            trailers.insert("grpc-status", HeaderValue::from_static("3"));
            trailers.insert("grpc-message", HeaderValue::from_static(why));
        }
    }
    let frames = [Ok(Frame::data(Bytes::from(framed))), Ok(Frame::trailers(trailers))];
    Ok(Response::new(StreamBody::new(futures_util::stream::iter(frames))))
}

fn peer(runtime: &tokio::runtime::Runtime) -> String {
    let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).unwrap();
    let address = format!("tcp://{}", listener.local_addr().unwrap());
    runtime.spawn(async move {
        while let Ok((tcp, _)) = listener.accept().await {
            let builder = hyper::server::conn::http2::Builder::new(TokioExecutor::new());
            tokio::spawn(builder.serve_connection(TokioIo::new(tcp), service_fn(served)));
        }
    });
    address
}

fn install(server: &Server, address: &str) {
    let work = Folder::new("grpc-zip");
    let file = work.path().join("calc.zip");
    let mut zip = zip::ZipWriter::new(std::fs::File::create(&file).unwrap());
    let descriptor = json!({
        "about": {"author": {"name": "a"}},
        "interfaces": {"calc": {
            "description": "sums", "address": address, "protocol": "grpc",
            "schemaType": "protobuf", "schemaFile": "calc.proto",
            "functions": [{"name": "addUp", "serviceName": "Add"}],
        }},
    });
    for (name, text) in
        [("calc.json", descriptor.to_string()), ("schemas/calc.proto", PROTO.to_owned())]
    {
        zip.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
        zip.write_all(text.as_bytes()).unwrap();
    }
    zip.finish().unwrap();
    let body = json!({"name": "calc", "file": format!("file://{}", file.display())});
    let made = server.call("POST", "/services", &body.to_string());
    assert_eq!(made.status, 201, "{}", made.body);
}

/// The lines that a rule with this selection writes for three rows.
fn results(server: &Server, id: &str, sql: &str) -> Vec<String> {
    let path = server.base.path().join(id);
    let action = json!({"file": {"path": path, "sendSingle": true}});
    let rule = json!({"id": id, "sql": sql, "actions": [action], "options": {"sendError": true}});
    let made = server.call("POST", "/rules", &rule.to_string());
    assert_eq!(made.status, 201, "{}", made.body);
    let until = Instant::now() + Duration::from_secs(20);
    while server.get(&format!("/rules/{id}/status"))["status"] != "stopped" {
        assert!(Instant::now() < until, "rule {id} does not end");
        std::thread::sleep(Duration::from_millis(10));
    }
    std::fs::read_to_string(path).unwrap().lines().map(str::to_owned).collect()
}

#[test]
fn methods_are_functions() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let address = peer(&runtime);
    for private in ["true", "false"] {
        let server = Server::start("grpc", &[("KUIPER__BASIC__ENABLEPRIVATENET", private)]);
        install(&server, &address);
        let rows = json!({"interval": 1, "loop": false, "data": [
            {"a": 1, "b": 2.5, "unit": "m"}, {"a": 3, "b": 4, "unit": "s"},
            {"a": -1, "b": 4, "unit": "s"}]});
        let key = "/metadata/sources/simulator/confKeys/k";
        assert_eq!(server.call("PUT", key, &rows.to_string()).status, 200);
        let stream = r#"CREATE STREAM s () WITH (DATASOURCE="x", TYPE="simulator", CONF_KEY="k")"#;
        let made = server.call("POST", "/streams", &json!({"sql": stream}).to_string());
        assert_eq!(made.status, 201, "{}", made.body);
        let sum = results(&server, "sum", "SELECT addUp(a, b, unit)->sum AS sum FROM s");
        if private == "false" {
            assert!(sum.iter().all(|line| line.contains("internal network")), "{sum:?}");
            server.stop();
            continue;
        }
        assert_eq!(sum[..2], [r#"{"sum":3.5}"#, r#"{"sum":7}"#]);
        assert!(sum[2].contains("grpc status 3: a must not be negative"), "{sum:?}");
        let whole = "SELECT addUp(object_construct(\"b\", b, \"a\", 10)) AS x FROM s WHERE a = 3";
        let whole = results(&server, "whole", whole);
        assert_eq!(whole, [r#"{"x":{"sum":14,"unit":""}}"#]);
        let more = "SELECT Twice(21) AS t, Note(1.5, unit) AS n FROM s WHERE a = 3";
        assert_eq!(results(&server, "more", more), [r#"{"t":42}"#]);
        let watch = results(&server, "watch", "SELECT Watch(a, unit) AS w FROM s WHERE a = 3");
        assert!(watch[0].contains("stream"), "{watch:?}");
        let few = results(&server, "few", "SELECT addUp(a) AS w FROM s WHERE a = 3");
        assert!(few[0].contains("require 3 parameters but only got 1"), "{few:?}");
        server.stop();
    }
}
