//! Secrets in requests, and the ways by which a client could get a value.

use crate::{Names, Running, TestClock, socks};
use agent_bash_core::sandbox::HostSecret;
use agent_bash_proxy::{
    AllowedHosts, Host, Proxy, RefusalCounts, StartedTls, TlsProcess, TlsProgram,
};
use std::collections::HashMap;
use std::io;
use std::net::{Shutdown, SocketAddr};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

const VALUE: &str = "ghp_RealRealRealReal";
const PLACEHOLDER: &str = "ghp_FakeFakeFakeFake";

/// `user:PLACEHOLDER` and `user:VALUE` in base64.
const BASIC_PLACEHOLDER: &str = "dXNlcjpnaHBfRmFrZUZha2VGYWtlRmFrZQ==";
const BASIC_VALUE: &str = "dXNlcjpnaHBfUmVhbFJlYWxSZWFsUmVhbA==";

/// A server that stores what it receives.
struct Recorder {
    address: SocketAddr,
    received: Arc<Mutex<String>>,
}

impl Recorder {
    /// Starts a server that sends these parts of a response as soon as it has received something.
    async fn answering(parts: Vec<String>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let received = Arc::<Mutex<String>>::default();
        let all = Arc::clone(&received);
        tokio::spawn(async move {
            loop {
                let (mut client, _) = listener.accept().await.unwrap();
                let (all, parts) = (Arc::clone(&all), parts.clone());
                tokio::spawn(async move {
                    let mut buffer = [0; 4096];
                    let mut text = String::new();
                    // The head, and a body with an end.
                    while !text.contains("\r\n\r\n")
                        || text.contains("POST") && !text.contains("end")
                    {
                        let length = client.read(&mut buffer).await.unwrap_or(0);
                        if length == 0 {
                            break;
                        }
                        text.push_str(&String::from_utf8_lossy(&buffer[..length]));
                    }
                    all.lock().unwrap().push_str(&text);
                    for part in parts {
                        let _ = client.write_all(part.as_bytes()).await;
                        // Separate packets.
                        tokio::time::sleep(Duration::from_millis(20)).await;
                    }
                });
            }
        });
        Self { address, received }
    }

    async fn new() -> Self {
        let response = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
        Self::answering(vec![response.to_owned()]).await
    }

    fn take_received(&self) -> String {
        std::mem::take(&mut *self.received.lock().unwrap())
    }
}

/// A program in place of TLS: notes the host that it was asked for, and copies only for the host
/// `ok.example`.
#[derive(Debug, Default)]
struct TestTls {
    requested_hosts: Arc<Mutex<Vec<String>>>,
    /// True if another process than the program connects.
    is_stranger: bool,
    /// Becomes true if a socket has a file while its connection lasts.
    has_file: Arc<AtomicBool>,
}

/// Removes the file when dropped.
struct SocketFile(PathBuf);

impl Drop for SocketFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

impl TlsProgram for TestTls {
    fn start(&self, host: &Host, stream: UnixStream) -> io::Result<StartedTls> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        self.requested_hosts.lock().unwrap().push(host.to_string());
        let own = std::process::id();
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("agent-bash-test-tls-{own}-{number}"));
        let listener = UnixListener::bind(&path)?;
        let socket_file = SocketFile(path.clone());
        let server = UnixStream::connect(&path)?;
        if host.to_string() == "ok.example" {
            let (mut from, mut to) = (stream.try_clone()?, server.try_clone()?);
            thread::spawn(move || io::copy(&mut from, &mut to));
            let (mut from, mut to) = (server, stream);
            let has_file = Arc::clone(&self.has_file);
            thread::spawn(move || {
                let _ = io::copy(&mut from, &mut to);
                has_file.fetch_or(path.exists(), Ordering::Relaxed);
                let _ = to.shutdown(Shutdown::Both);
            });
        }
        Ok(StartedTls {
            listener,
            socket_file: Box::new(socket_file),
            pid: own + u32::from(self.is_stranger),
            process: Box::new(TestTlsProcess),
        })
    }
}

struct TestTlsProcess;

impl TlsProcess for TestTlsProcess {
    fn end(&mut self) -> String {
        "another certificate".to_owned()
    }
}

async fn proxy(entries: &[String], hosts: &[String], tls: TestTls) -> Running {
    let names = ["ok.example", "other.example"].map(|name| (name, vec!["127.0.0.1"]));
    let names = Names(HashMap::from(names));
    let [variable, value, placeholder] = ["TOKEN", VALUE, PLACEHOLDER].map(str::to_owned);
    let secret = HostSecret::new(variable, value, placeholder, hosts.to_vec());
    let allowed = AllowedHosts::parse(entries).unwrap();
    let clock = Arc::new(TestClock(Duration::MAX));
    let proxy = Proxy::new(allowed, Box::new(names), None, clock);
    Running::serve(proxy.with_secrets(&[secret], Box::new(tls)).unwrap()).await
}

impl Running {
    /// Returns the targets to which a secret was refused, with their counts.
    fn refused_secrets(&self) -> Vec<(String, u64)> {
        let counts = self.refusals.counts().since(&RefusalCounts::default());
        let counts = counts
            .into_iter()
            .filter(|(refused, _)| refused.secret.is_some());
        counts
            .map(|(refused, count)| (refused.target.to_string(), count))
            .collect()
    }
}

/// Requests, and what the listed and the other server receive. Words in capitals are replaced.
const REQUESTS: [(&str, &str, &str); 19] = [
    // The ways that get the value.
    ("GET http://LISTED/ HTTP/1.1\r\nBEARER\r\n\r\n", VALUE, ""),
    ("GET http://LISTED/ HTTP/1.0\r\nBEARER\r\n\r\n", VALUE, ""),
    (
        "GET http://LISTED/ HTTP/1.1\r\nBASIC\r\n\r\n",
        BASIC_VALUE,
        "",
    ),
    (
        "POST http://LISTED/ HTTP/1.1\r\nprivate-token: FAKE\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nend\r\n0\r\n\r\n",
        VALUE,
        "",
    ),
    // Another host.
    (
        "GET http://OTHER/ HTTP/1.1\r\nBEARER\r\n\r\n",
        "",
        PLACEHOLDER,
    ),
    (
        "GET http://OTHER/ HTTP/1.1\r\nHost: LISTED\r\nBEARER\r\n\r\n",
        "",
        PLACEHOLDER,
    ),
    (
        "GET http://OTHER/http://LISTED/ HTTP/1.1\r\nBEARER\r\n\r\n",
        "",
        PLACEHOLDER,
    ),
    (
        "GET http://OTHER/ HTTP/1.1\r\nBASIC\r\n\r\n",
        "",
        BASIC_PLACEHOLDER,
    ),
    // A second request: after the first one, and in it.
    (
        "GET http://OTHER/ HTTP/1.1\r\nA: b\r\n\r\nSECOND",
        "",
        "A: b",
    ),
    (
        "POST http://OTHER/ HTTP/1.1\r\nContent-Length: LENGTH\r\n\r\nSECONDend",
        "",
        PLACEHOLDER,
    ),
    (
        "POST http://OTHER/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nend\r\n0\r\nBEARER\r\n\r\n",
        "",
        "end",
    ),
    // The server would store or return the value.
    ("GET http://LISTED/?FAKE HTTP/1.1\r\n\r\n", PLACEHOLDER, ""),
    (
        "GET http://LISTED/ HTTP/1.1\r\nX-Amz-Meta-A: FAKE\r\n\r\n",
        PLACEHOLDER,
        "",
    ),
    (
        "POST http://LISTED/ HTTP/1.1\r\nContent-Length: 23\r\n\r\nFAKEend",
        PLACEHOLDER,
        "",
    ),
    (
        "TRACE http://LISTED/ HTTP/1.1\r\nBEARER\r\n\r\n",
        PLACEHOLDER,
        "",
    ),
    // A tunnel is not read.
    (
        "CONNECT LISTED HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\nBEARER\r\n\r\n",
        PLACEHOLDER,
        "",
    ),
    // Ambiguous requests reach no server.
    (
        "GET http://LISTED/ HTTP/1.1\r\nContent-Length: 0\r\nTransfer-Encoding: chunked\r\nBEARER\r\n\r\n",
        "",
        "",
    ),
    (
        "GET http://LISTED@OTHER/ HTTP/1.1\r\nBEARER\r\n\r\n",
        "",
        "",
    ),
    (
        "GET http://OTHER/ HTTP/1.1\r\nA: b\r\n BEARER\r\n\r\n",
        "",
        "",
    ),
];

#[tokio::test]
async fn value_reaches_the_credentials_for_its_host_and_nothing_else() {
    let (listed, other) = (Recorder::new().await, Recorder::new().await);
    let [to_listed, to_other] = [&listed, &other].map(|it| it.address.to_string());
    let hosts = [format!("http://{to_listed}")];
    let entries = [to_listed.clone(), to_other.clone()];
    let proxy = proxy(&entries, &hosts, TestTls::default()).await;
    let bearer = format!("Authorization: Bearer {PLACEHOLDER}");
    let second = format!("GET http://{to_listed}/ HTTP/1.1\r\n{bearer}\r\n\r\n");
    for (words, want_listed, want_other) in REQUESTS {
        let request = words
            .replace("LENGTH", &(second.len() + 3).to_string())
            .replace("SECOND", &second)
            .replace("BEARER", &bearer)
            .replace(
                "BASIC",
                &format!("Authorization: Basic {BASIC_PLACEHOLDER}"),
            )
            .replace("FAKE", PLACEHOLDER)
            .replace("LISTED", &to_listed)
            .replace("OTHER", &to_other);
        let answer = proxy.text(&request).await;
        let received = [listed.take_received(), other.take_received()];
        for (got, want) in received.iter().zip([want_listed, want_other]) {
            let is_as_wanted = got.contains(want) && got.is_empty() == want.is_empty();
            assert!(is_as_wanted, "{request}\n{got}");
            let has_value = got.contains(VALUE) || got.contains(BASIC_VALUE);
            let may_have_value = [VALUE, BASIC_VALUE].contains(&want);
            assert_eq!(has_value, may_have_value, "{request}\n{got}");
        }
        assert!(!answer.contains("Real"), "{answer}");
    }
    let mut tunnel = socks("127.0.0.1", listed.address.port());
    tunnel.truncate(3);
    tunnel.extend_from_slice(&[5, 1, 0, 1, 127, 0, 0, 1]);
    tunnel.extend_from_slice(&listed.address.port().to_be_bytes());
    tunnel.extend_from_slice(format!("GET / HTTP/1.1\r\n{bearer}\r\n\r\n").as_bytes());
    proxy.exchange(tunnel).await;
    let got = listed.take_received();
    assert!(got.contains(PLACEHOLDER) && !got.contains(VALUE), "{got}");
    let mut want = vec![(to_listed, 3), (to_other, 4)];
    want.sort();
    let mut refused = proxy.refused_secrets();
    refused.sort();
    assert_eq!(refused, want);
}

#[tokio::test]
async fn value_in_a_response_is_replaced_even_if_it_comes_in_parts() {
    let (start, end) = VALUE.split_at(7);
    let parts = [
        "HTTP/1.1 200 OK\r\n\r\nghp_", VALUE, ";", start, end, BASIC_VALUE, start,
    ];
    let echo = Recorder::answering(parts.map(str::to_owned).to_vec()).await;
    let address = echo.address.to_string();
    let hosts = [format!("http://{address}")];
    let proxy = proxy(std::slice::from_ref(&address), &hosts, TestTls::default()).await;
    let with = |field: &str| format!("GET http://{address}/ HTTP/1.1\r\n{field}\r\n\r\n");
    let hidden = format!("ghp_{PLACEHOLDER};{PLACEHOLDER}{BASIC_PLACEHOLDER}{start}");
    let basic = with(&format!("Authorization: Basic {BASIC_PLACEHOLDER}"));
    let answer = proxy.text(basic).await;
    assert!(answer.ends_with(&hidden), "{answer}");
    // A request without the value does not tell whether a guess is right.
    let answer = proxy.text(with("A: b")).await;
    assert!(answer.contains(VALUE), "{answer}");
}

#[tokio::test]
async fn redirect_to_another_host_has_the_placeholder() {
    let other = Recorder::new().await;
    let to_other = other.address.to_string();
    let moved = format!("HTTP/1.1 302 Found\r\nLocation: http://{to_other}/\r\n\r\n");
    let listed = Recorder::answering(vec![moved]).await;
    let to_listed = listed.address.to_string();
    let hosts = [format!("http://{to_listed}")];
    let proxy = proxy(
        &[to_listed.clone(), to_other.clone()],
        &hosts,
        TestTls::default(),
    )
    .await;
    let to =
        |host: &str| format!("GET http://{host}/ HTTP/1.1\r\nX-Api-Key: {PLACEHOLDER}\r\n\r\n");
    let answer = proxy.text(to(&to_listed)).await;
    assert!(
        answer.contains(&to_other) && other.take_received().is_empty(),
        "{answer}"
    );
    // As curl does with `--location-trusted`.
    proxy.text(to(&to_other)).await;
    assert!(listed.take_received().contains(VALUE));
    assert!(other.take_received().contains(PLACEHOLDER));
    assert_eq!(proxy.refused_secrets(), [(to_other, 1)]);
}

#[tokio::test]
async fn request_to_the_host_of_a_secret_is_encrypted_and_fails_without_its_certificate() {
    let server = Recorder::new().await;
    let port = server.address.port();
    let entries = [
        format!("ok.example:{port}"),
        format!("other.example:{port}"),
        server.address.to_string(),
    ];
    let asked = Arc::<Mutex<Vec<String>>>::default();
    let tls = TestTls {
        requested_hosts: Arc::clone(&asked),
        ..TestTls::default()
    };
    let has_file = Arc::clone(&tls.has_file);
    let proxy = proxy(&entries, &entries[..2], tls).await;
    let request = |host: &str| {
        format!("GET http://{host}:{port}/ HTTP/1.1\r\nAuthorization: Bearer {PLACEHOLDER}\r\n\r\n")
    };
    let answer = proxy.text(request("ok.example")).await;
    assert!(answer.ends_with("\r\n\r\nok"), "{answer}");
    assert!(server.take_received().contains(VALUE));
    assert!(!has_file.load(Ordering::Relaxed));
    let answer = proxy.text(request("other.example")).await;
    let status =
        format!("HTTP/1.1 502 Cannot reach other.example:{port} by TLS: another certificate");
    assert!(answer.starts_with(&status), "{answer}");
    assert_eq!(server.take_received(), "");
    // The control: a host without a secret is not encrypted.
    proxy.text(request("127.0.0.1")).await;
    assert!(server.take_received().contains(PLACEHOLDER));
    assert_eq!(*asked.lock().unwrap(), ["ok.example", "other.example"]);
}

#[tokio::test]
async fn only_the_started_program_reaches_the_server() {
    for is_stranger in [false, true] {
        let server = Recorder::new().await;
        let host = format!("ok.example:{}", server.address.port());
        let tls = TestTls {
            is_stranger,
            ..TestTls::default()
        };
        let entries = [host.clone(), server.address.to_string()];
        let proxy = proxy(&entries, &entries[..1], tls).await;
        let bearer = format!("Authorization: Bearer {PLACEHOLDER}");
        let answer = proxy
            .text(format!("GET http://{host}/ HTTP/1.1\r\n{bearer}\r\n\r\n"))
            .await;
        assert_eq!(answer.contains("another certificate"), is_stranger);
        assert_eq!(server.take_received().is_empty(), is_stranger);
    }
}
