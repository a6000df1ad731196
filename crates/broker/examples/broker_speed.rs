//! How many QoS 0 messages a second go from TCP connections into a link, and what an idle
//! connection costs. `cargo run --release --example broker_speed -p rekuiper-broker -- 2000000`
//! (messages, then idle connections; it ends by itself). Linux only, for its memory figure.

use std::time::Instant;

use rekuiper_broker::{Broker, BrokerConfig, LinkOptions, QoS};
use rekuiper_mqtt_codec::{Connect, Packet, Publish, Version};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const PUBLISHERS: usize = 8;

fn arg(at: usize, default: usize) -> usize {
    std::env::args()
        .nth(at)
        .and_then(|a| a.parse().ok())
        .unwrap_or(default)
}

fn resident_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|l| l.strip_prefix("VmRSS:"));
    line.and_then(|l| l.split_whitespace().next()?.parse().ok())
        .unwrap_or(0)
}

async fn connect(address: std::net::SocketAddr, id: String) -> std::io::Result<TcpStream> {
    let mut stream = TcpStream::connect(address).await?;
    let mut out = Vec::new();
    let connect = Connect {
        keep_alive_s: 0,
        ..Connect::new(Version::V311, id)
    };
    Packet::Connect(connect)
        .encode(Version::V311, &mut out)
        .map_err(std::io::Error::other)?;
    stream.write_all(&out).await?;
    stream.read_exact(&mut [0; 4]).await?;
    Ok(stream)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (messages, idle) = (arg(1, 1_000_000) / PUBLISHERS * PUBLISHERS, arg(2, 0));
    let listeners = vec!["127.0.0.1:0".parse()?];
    let broker = Broker::start(BrokerConfig {
        listeners,
        ..BrokerConfig::default()
    })
    .await?;
    let address = broker.local_addr().ok_or("no listener")?;
    let mut link = broker.link_with("sum", LinkOptions::default())?;
    link.subscribe(&["factory/#"], QoS::AtMostOnce)?;

    let mut held = Vec::new();
    let before = resident_kib();
    for i in 0..idle {
        held.push(connect(address, format!("idle-{i}")).await?);
    }
    if idle > 0 {
        // both ends live in this process, and the client's end is counted too
        let bytes = (resident_kib() - before) * 1024 / idle as u64;
        println!("{idle} idle connections, {bytes} bytes each, both ends");
    }

    let mut bytes = Vec::new();
    for i in 0..200 {
        let topic = format!("factory/line{}/sensor{}", i % 4, i % 50);
        let payload = vec![b'x'; 146].into();
        let publish = Publish {
            topic,
            payload,
            ..Publish::default()
        };
        Packet::Publish(publish).encode(Version::V311, &mut bytes)?;
    }
    let start = Instant::now();
    for i in 0..PUBLISHERS {
        let mut stream = connect(address, format!("pub-{i}")).await?;
        let bytes = bytes.clone();
        let rounds = messages / PUBLISHERS / 200;
        tokio::spawn(async move {
            for _ in 0..rounds {
                stream.write_all(&bytes).await?;
            }
            stream.read(&mut [0]).await
        });
    }
    let expected = messages / PUBLISHERS / 200 * 200 * PUBLISHERS;
    let (mut got, mut sum, mut batches) = (0, 0, 0);
    let mut batch = Vec::new();
    while got < expected {
        got += link.recv(1024, &mut batch).await?;
        sum += batch.drain(..).map(|m| m.payload.len()).sum::<usize>();
        batches += 1;
    }
    let seconds = start.elapsed().as_secs_f64();
    let rate = got as f64 / seconds;
    println!("{got} messages, {sum} payload bytes, {batches} batches, {rate:.0} messages/s");
    println!("resident {} KiB, {:?}", resident_kib(), broker.stats());
    drop(held);
    broker.shutdown().await;
    Ok(())
}
