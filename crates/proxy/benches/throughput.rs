//! Receives one GiB from a server on loopback, directly and through a tunnel of the proxy, by
//! turns. Prints the times and the median of the ratios.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a program of its own, which measures real time"
)]

use agent_bash_core::{Clock, Timestamp};
use agent_bash_proxy::{AllowedHosts, Proxy, ProxyThread, SystemResolver};
use async_trait::async_trait;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant, UNIX_EPOCH};

const BYTES: usize = 1 << 30;
const CHUNK_BYTES: usize = 128 * 1024;
const ROUNDS: usize = 7;

/// A clock whose waits never end.
#[derive(Debug)]
struct BenchClock;

#[async_trait]
impl Clock for BenchClock {
    fn now(&self) -> Duration {
        Duration::ZERO
    }

    fn wall(&self) -> Timestamp {
        Timestamp::from(UNIX_EPOCH)
    }

    async fn sleep(&self, _: Duration) {
        std::future::pending::<()>().await;
    }
}

fn serve(listener: TcpListener) {
    std::thread::spawn(move || {
        let chunk = vec![7; CHUNK_BYTES];
        for client in listener.incoming() {
            let mut client = client.unwrap();
            for _ in 0..BYTES / CHUNK_BYTES {
                if client.write_all(&chunk).is_err() {
                    break;
                }
            }
        }
    });
}

fn receive(mut stream: TcpStream) -> Duration {
    let started = Instant::now();
    let mut buffer = vec![0; CHUNK_BYTES];
    let mut total = 0;
    while total < BYTES {
        let count = stream.read(&mut buffer).unwrap();
        assert!(count > 0, "the connection ended early");
        total += count;
    }
    started.elapsed()
}

fn tunnel(proxy: SocketAddr, server: SocketAddr) -> TcpStream {
    let mut stream = TcpStream::connect(proxy).unwrap();
    write!(stream, "CONNECT {server} HTTP/1.1\r\n\r\n").unwrap();
    let mut answer = Vec::new();
    while !answer.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).unwrap();
        answer.extend(byte);
    }
    stream
}

fn main() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let server = listener.local_addr().unwrap();
    serve(listener);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let allowed = AllowedHosts::parse(&[server.to_string()]).unwrap();
    let proxy = Proxy::new(
        allowed,
        Box::new(SystemResolver),
        None,
        Arc::new(BenchClock),
    );
    let _running = ProxyThread::start(proxy, move || Ok(listener)).unwrap();
    let mut ratios = Vec::new();
    for _ in 0..ROUNDS {
        let direct = receive(TcpStream::connect(server).unwrap());
        let proxied = receive(tunnel(address, server));
        let ratio = direct.as_secs_f64() / proxied.as_secs_f64();
        println!("direct {direct:?}, through the proxy {proxied:?}: {ratio:.2}");
        ratios.push(ratio);
    }
    ratios.sort_by(f64::total_cmp);
    println!("median ratio {:.2}", ratios[ROUNDS / 2]);
}
