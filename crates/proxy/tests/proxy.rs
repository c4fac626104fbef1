//! The proxy as its clients see it, with servers on loopback.

#![expect(clippy::unwrap_used, reason = "a test that fails may stop")]

#[path = "proxy/secrets.rs"]
mod secrets;

use agent_bash_core::{Clock, Timestamp};
use agent_bash_proxy::{AllowedHosts, ParentProxy, Proxy, RefusalCounts, Refusals, Resolver};
use async_trait::async_trait;
use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// A clock that sleeps for this long at most, and shortly in place of a minute.
#[derive(Debug)]
struct TestClock(Duration);

/// How long a connection may be idle after one side has ended.
const HALF_CLOSED_TIMEOUT: Duration = Duration::from_secs(60);

#[async_trait]
impl Clock for TestClock {
    fn now(&self) -> Duration {
        Duration::ZERO
    }

    fn wall(&self) -> Timestamp {
        Timestamp::from(std::time::UNIX_EPOCH)
    }

    async fn sleep(&self, duration: Duration) {
        let short = Duration::from_millis(50);
        let is_short = duration == HALF_CLOSED_TIMEOUT;
        tokio::time::sleep(if is_short { short } else { duration }.min(self.0)).await;
    }
}

/// Names and their addresses.
#[derive(Debug, Default)]
struct Names(HashMap<&'static str, Vec<&'static str>>);

#[async_trait]
impl Resolver for Names {
    async fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        let found = self.0.get(name).ok_or(io::ErrorKind::NotFound)?;
        Ok(found.iter().map(|it| it.parse().unwrap()).collect())
    }
}

/// A server that answers each connection with what it received, in brackets.
async fn server() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        loop {
            let (mut client, _) = listener.accept().await.unwrap();
            tokio::spawn(async move {
                let mut all = Vec::new();
                let mut buffer = [0; 4096];
                // Without more input for a moment, the request is complete.
                while let Ok(Ok(length)) =
                    tokio::time::timeout(Duration::from_secs(1), client.read(&mut buffer)).await
                {
                    if length == 0 {
                        break;
                    }
                    all.extend_from_slice(&buffer[..length]);
                }
                let text = format!("[{}]", String::from_utf8_lossy(&all));
                let _ = client.write_all(text.as_bytes()).await;
            });
        }
    });
    address
}

struct Running {
    address: SocketAddr,
    refusals: Arc<Refusals>,
}

impl Running {
    async fn with(entries: &[String], names: Names, parent: Option<ParentProxy>) -> Self {
        Self::on(TestClock(Duration::MAX), entries, names, parent).await
    }

    async fn on(
        clock: TestClock,
        entries: &[String],
        names: Names,
        parent: Option<ParentProxy>,
    ) -> Self {
        let allowed = AllowedHosts::parse(entries).unwrap();
        let proxy = Proxy::new(allowed, Box::new(names), parent, Arc::new(clock));
        Self::serve(proxy).await
    }

    async fn serve(proxy: Proxy) -> Self {
        let refusals = proxy.refusals();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(proxy.serve(listener));
        Self { address, refusals }
    }

    /// Sends these bytes and returns everything that is received until the end.
    async fn exchange(&self, bytes: impl AsRef<[u8]>) -> Vec<u8> {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        stream.write_all(bytes.as_ref()).await.unwrap();
        let mut all = Vec::new();
        let _ = stream.read_to_end(&mut all).await;
        all
    }

    async fn text(&self, request: impl AsRef<[u8]>) -> String {
        String::from_utf8(self.exchange(request).await).unwrap()
    }

    fn refused(&self) -> Vec<(String, u64)> {
        let counts = self.refusals.counts();
        let refused = counts.since(&RefusalCounts::default()).into_iter();
        refused
            .map(|(refused, count)| (refused.target.to_string(), count))
            .collect()
    }
}

/// SOCKS5: no authentication, and a connection to a name.
fn socks(name: &str, port: u16) -> Vec<u8> {
    let mut bytes = vec![5, 1, 0, 5, 1, 0, 3, u8::try_from(name.len()).unwrap()];
    bytes.extend_from_slice(name.as_bytes());
    bytes.extend_from_slice(&port.to_be_bytes());
    bytes
}

#[tokio::test]
async fn listed_name_is_reached_by_each_protocol() {
    let server = server().await;
    let port = server.port();
    let names = Names([("ok.example", vec!["127.0.0.1"])].into());
    let entries = [format!("ok.example:{port}"), server.to_string()];
    let proxy = Running::with(&entries, names, None).await;
    let connect = format!("CONNECT ok.example:{port} HTTP/1.1\r\n\r\nhello");
    assert_eq!(
        proxy.text(connect).await,
        "HTTP/1.1 200 Connection established\r\n\r\n[hello]"
    );
    let forwarded = format!(
        "POST http://ok.example:{port}/a HTTP/1.1\r\nHost: evil.example\r\nContent-Length: 2\r\n\r\nhi"
    );
    assert_eq!(
        proxy.text(forwarded).await,
        format!(
            "[POST /a HTTP/1.1\r\nHost: ok.example:{port}\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi]"
        )
    );
    let mut request = socks("ok.example", port);
    request.extend_from_slice(b"hello");
    let answer = proxy.exchange(request).await;
    assert_eq!(answer, b"\x05\x00\x05\x00\x00\x01\0\0\0\0\0\0[hello]");
    assert_eq!(proxy.refused(), []);
}

#[tokio::test]
async fn second_request_of_a_connection_reaches_no_server() {
    let server = server().await;
    let proxy = Running::with(&[server.to_string()], Names::default(), None).await;
    let hidden = "GET http://evil.example/ HTTP/1.1\r\nHost: evil.example\r\n\r\n";
    for body in [
        "Content-Length: 0\r\n\r\n",
        "\r\n",
        "Content-Length: 3\r\n\r\nabc",
        "Transfer-Encoding: chunked\r\n\r\n2;x=y\r\nab\r\n0\r\nTrailer: x\r\n\r\n",
    ] {
        let request = format!("POST http://{server}/ HTTP/1.1\r\n{body}{hidden}");
        let answer = proxy.text(request).await;
        assert!(answer.starts_with("[POST / HTTP/1.1\r\n"), "{answer}");
        assert!(!answer.contains("evil"), "{answer}");
        assert!(!answer.contains("Trailer"), "{answer}");
    }
}

#[tokio::test]
async fn connection_of_a_client_that_has_gone_ends_although_the_server_is_silent() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let server = listener.local_addr().unwrap();
    let names = Names([("ok.example", vec!["127.0.0.1"])].into());
    let entries = [format!("ok.example:{}", server.port()), server.to_string()];
    let proxy = Running::with(&entries, names, None).await;
    for request in [
        format!("GET http://{server}/ HTTP/1.1\r\n\r\n").into_bytes(),
        format!("CONNECT {server} HTTP/1.1\r\n\r\n").into_bytes(),
        socks("ok.example", server.port()),
    ] {
        let mut client = TcpStream::connect(proxy.address).await.unwrap();
        client.write_all(&request).await.unwrap();
        let (mut connection, _) = listener.accept().await.unwrap();
        drop(client);
        // The server learns of the end of both directions only by a failed write.
        let limit = Duration::from_secs(20);
        let ended = tokio::time::timeout(limit, async {
            let _ = connection.read_to_end(&mut Vec::new()).await;
            while connection.write_all(b"x").await.is_ok() {
                tokio::time::sleep(Duration::from_millis(200)).await;
            }
        });
        assert!(ended.await.is_ok(), "{}", String::from_utf8_lossy(&request));
    }
}

#[tokio::test]
async fn response_says_that_its_connection_ends() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let server = listener.local_addr().unwrap();
    let proxy = Running::with(&[server.to_string()], Names::default(), None).await;
    tokio::spawn(async move {
        loop {
            let (mut client, _) = listener.accept().await.unwrap();
            let _ = client.read(&mut [0; 1024]).await;
            let response = b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nHTTP/1.1 \n";
            let _ = client.write_all(response).await;
        }
    });
    let answer = proxy.text(format!("GET http://{server}/ HTTP/1.1\r\n\r\n"));
    assert_eq!(
        answer.await,
        "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 10\r\n\r\nHTTP/1.1 \n"
    );
}

#[tokio::test]
async fn names_that_are_not_listed_are_refused_and_counted() {
    let server = server().await;
    let port = server.port();
    let names = Names([("ok.example", vec!["127.0.0.1"])].into());
    let entries = [format!("ok.example:{port}"), server.to_string()];
    let proxy = Running::with(&entries, names, None).await;
    for _ in 0..2 {
        let answer = proxy
            .text("CONNECT evil.example:443 HTTP/1.1\r\n\r\n")
            .await;
        let status = "HTTP/1.1 403 Not allowed by sandbox.network: evil.example:443\r\n";
        assert!(answer.starts_with(status), "{answer}");
    }
    let answer = proxy
        .text("GET http://ok.example:1/ HTTP/1.1\r\n\r\n")
        .await;
    assert!(answer.starts_with("HTTP/1.1 403 "), "{answer}");
    let answer = proxy.exchange(socks("evil.example", 22)).await;
    assert_eq!(answer[2..4], [5, 2]);
    // A name that a resolver would take for the listed address.
    let answer = proxy.exchange(socks("127.1", port)).await;
    assert_eq!(answer[2..4], [5, 2]);
    let refused = [
        ("evil.example:22", 1),
        ("evil.example:443", 2),
        ("ok.example:1", 1),
    ];
    let refused = refused.map(|(name, count)| (name.to_owned(), count));
    assert_eq!(proxy.refused(), refused);
}

#[tokio::test]
async fn listed_name_with_an_address_that_is_not_public_is_refused() {
    let server = server().await;
    let port = server.port();
    let names = Names(
        [
            ("inner.example", vec!["127.0.0.1"]),
            ("mapped.example", vec!["::ffff:127.0.0.1"]),
            ("metadata.example", vec!["169.254.169.254", "10.0.0.1"]),
        ]
        .into(),
    );
    let entries = [format!("*.example:{port}"), format!("*.a.example:{port}")];
    let entries = [entries[1].clone()]
        .into_iter()
        .chain(["inner", "mapped", "metadata"].map(|name| format!("{name}.example:{port}")));
    let proxy = Running::with(&entries.collect::<Vec<_>>(), names, None).await;
    for name in ["inner", "mapped", "metadata"] {
        let request = format!("CONNECT {name}.example:{port} HTTP/1.1\r\n\r\n");
        let answer = proxy.text(request).await;
        assert!(answer.starts_with("HTTP/1.1 403 "), "{name}: {answer}");
    }
    let literal = proxy
        .text(format!("CONNECT {server} HTTP/1.1\r\n\r\n"))
        .await;
    assert!(literal.starts_with("HTTP/1.1 403 "), "{literal}");
    // The counted targets are the addresses, which the list lacks.
    let refused = [
        ("127.0.0.1".to_owned(), 3),
        ("169.254.169.254".to_owned(), 1),
    ];
    let refused = refused.map(|(address, count)| (format!("{address}:{port}"), count));
    assert_eq!(proxy.refused(), refused);
}

#[tokio::test]
async fn other_socks_commands_and_methods_are_refused() {
    let proxy = Running::with(&[], Names::default(), None).await;
    for (command, code) in [(1, 2), (2, 7), (3, 7)] {
        let request = [5, 1, 0, 5, command, 0, 1, 127, 0, 0, 1, 0, 80];
        assert_eq!(proxy.exchange(request).await[2..4], [5, code]);
    }
    assert_eq!(proxy.exchange([5, 1, 2]).await, [5, 0xff]);
    assert_eq!(proxy.exchange([5, 1, 0, 5, 1, 0, 9]).await[2..4], [5, 8]);
    let answer = proxy.text("\x04\x01 HTTP/1.1\r\n\r\n").await;
    assert!(answer.starts_with("HTTP/1.1 400 "), "{answer}");
}

#[tokio::test]
async fn slow_and_long_heads_are_ended() {
    let clock = TestClock(Duration::from_millis(300));
    let proxy = Running::on(clock, &[], Names::default(), None).await;
    let mut slow = TcpStream::connect(proxy.address).await.unwrap();
    slow.write_all(b"GET http://a.com/ HT").await.unwrap();
    let mut all = Vec::new();
    let _ = slow.read_to_end(&mut all).await;
    assert_eq!(all, b"");
    let proxy = Running::with(&[], Names::default(), None).await;
    let long = format!("GET http://a.com/{} HTTP/1.1\r\n", "x".repeat(70_000));
    let mut stream = TcpStream::connect(proxy.address).await.unwrap();
    stream.write_all(long.as_bytes()).await.unwrap();
    let mut first = [0; 12];
    stream.read_exact(&mut first).await.unwrap();
    assert_eq!(&first, b"HTTP/1.1 400");
}

#[tokio::test]
async fn parent_proxy_gets_the_name_and_the_credentials() {
    let parent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://u:p%40ss@{}", parent.local_addr().unwrap());
    let parent_proxy = ParentProxy::parse(&url, "localhost,.direct.example").unwrap();
    let entries = ["far.example".to_owned(), "a.direct.example".to_owned()];
    let proxy = Running::with(&entries, Names::default(), Some(parent_proxy)).await;
    let played = tokio::spawn(async move {
        let (mut client, _) = parent.accept().await.unwrap();
        let mut head = vec![0; 1024];
        let length = client.read(&mut head).await.unwrap();
        client
            .write_all(b"HTTP/1.1 200 OK\r\nVia: x\r\n\r\nearly")
            .await
            .unwrap();
        String::from_utf8(head[..length].to_vec()).unwrap()
    });
    let answer = proxy.text("CONNECT far.example:443 HTTP/1.1\r\n\r\n").await;
    assert_eq!(answer, "HTTP/1.1 200 Connection established\r\n\r\nearly");
    assert_eq!(
        played.await.unwrap(),
        "CONNECT far.example:443 HTTP/1.1\r\nHost: far.example:443\r\n\
         Proxy-Authorization: Basic dTpwQHNz\r\n\r\n"
    );
    // The exception is resolved here, where it has no address.
    let answer = proxy
        .text("CONNECT a.direct.example:443 HTTP/1.1\r\n\r\n")
        .await;
    assert!(answer.starts_with("HTTP/1.1 502 "), "{answer}");
}
