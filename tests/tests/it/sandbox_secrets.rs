//! Placeholders for secrets in the sandbox of the real binary: the call has a placeholder, and the
//! listed server gets the value.

use agent_bash_tests::product::{self, CommandResult};
use agent_bash_tests::world::World;
use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// Time limit on a slow machine.
const SOON: Duration = Duration::from_secs(60);

/// The value of the secret, and the same value as git's password in base64.
const VALUE: &str = "ghp_RealRealRealRealRealRealRealReal0123";
const BASIC_VALUE: &str =
    "eC1hY2Nlc3MtdG9rZW46Z2hwX1JlYWxSZWFsUmVhbFJlYWxSZWFsUmVhbFJlYWxSZWFsMDEyMw==";

/// The programs that encrypt, and that serve encrypted connections.
const OPENSSL: &str = "/usr/bin/openssl";
const PYTHON: &str = "/usr/bin/python3";

/// Python's text for a server that prints its port, stores requests and answers them.
const ENCRYPTED_SERVER: &str = r#"
import socket, ssl
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain("certificate.pem", "key.pem")
server = socket.create_server(("127.0.0.1", 0))
print(server.getsockname()[1], flush=True)
while True:
    client = server.accept()[0]
    try:
        client = context.wrap_socket(client, server_side=True)
        open("received", "ab").write(client.recv(65536))
        client.sendall(b"HTTP/1.1 200 OK\r\n\r\nencrypted\n")
        client.close()
    except OSError:
        pass
"#;

/// Defines a function that sends a request to the proxy, and prints the answer.
const ASK: &str = r#"ask() {
    exec 5<>/dev/tcp/127.0.0.1/31280
    printf 'GET %s HTTP/1.1\r\nAuthorization: Bearer %s\r\n\r\n' "$1" "$A_TOKEN" >&5
    cat <&5
}
"#;

/// A server of the host's loopback that stores the requests.
struct Server {
    address: String,
    received: Arc<Mutex<String>>,
}

impl Server {
    /// Starts a server that returns the head of each request. With `needs_value`, the server is a
    /// git repository, which answers only with the value of the secret as the password.
    fn start(needs_value: bool) -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?.to_string();
        let received = Arc::<Mutex<String>>::default();
        let all = Arc::clone(&received);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let _ = answer(client, needs_value, &all);
            }
        });
        Ok(Self { address, received })
    }

    fn received(&self) -> String {
        self.received
            .lock()
            .map_or_else(|_| String::new(), |it| it.clone())
    }
}

/// Answers a request, after it is stored in `received`.
fn answer(mut client: TcpStream, needs_value: bool, received: &Mutex<String>) -> Result<()> {
    let mut head = String::new();
    let mut buffer = [0; 4096];
    while !head.contains("\r\n\r\n") {
        let length = client.read(&mut buffer)?;
        ensure!(length > 0, "no request");
        head.push_str(&String::from_utf8_lossy(&buffer[..length]));
    }
    if let Ok(mut received) = received.lock() {
        received.push_str(&head);
    }
    let (status, body) = if !needs_value {
        ("200 OK", head.as_str())
    } else if !head.contains(BASIC_VALUE) {
        (
            "401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"x\"",
            "",
        )
    } else if head.contains("info/refs") {
        (
            "200 OK\r\nContent-Type: text/plain",
            "0123456789012345678901234567890123456789\trefs/heads/found\n",
        )
    } else {
        ("200 OK", "ref: refs/heads/found\n")
    };
    let length = body.len();
    let response =
        format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}");
    Ok(client.write_all(response.as_bytes())?)
}

/// Writes the user's settings: a list of hosts, and the hosts of the secret `A_TOKEN`.
fn configure(world: &World, network: &[&str], hosts: &[&str]) -> Result<()> {
    let config = world.home().join(".config/agent-bash");
    fs::create_dir_all(&config)?;
    fs::create_dir_all(world.cwd().join(".git"))?;
    let text = format!(
        "[output]\nmask_secrets = \"off\"\n[environment]\nkeep = [\"A_TOKEN\"]\n[sandbox]\n\
         level = \"workspace_write\"\nnetwork = {}\n[sandbox.secrets]\nA_TOKEN = {{ hosts = {} }}\n",
        json!(network),
        json!(hosts)
    );
    fs::write(config.join("config.toml"), text)?;
    Ok(())
}

fn run(world: &World, options: &[&str], script: &str) -> Result<CommandResult> {
    let mut command = world.command(product::agent_bash()?);
    command.args(["run", "--json"]).args(options).arg(script);
    command.env("A_TOKEN", VALUE);
    command.env("SSL_CERT_FILE", world.cwd().join("certificate.pem"));
    product::run(command, None)
}

fn result(ran: &CommandResult) -> Result<Value> {
    serde_json::from_str(&ran.stdout).with_context(|| format!("{ran:?}"))
}

#[test]
fn call_has_a_placeholder_and_the_listed_server_gets_the_value() -> Result<()> {
    let world = World::new()?;
    let (listed, other) = (Server::start(false)?, Server::start(false)?);
    let secret_host = format!("http://{}", listed.address);
    configure(&world, &[&listed.address, &other.address], &[&secret_host])?;
    let script = format!(
        "{ASK}echo \"[$A_TOKEN]\"; printenv A_TOKEN; cat /proc/$$/environ; \
         (ask http://{}/); (ask http://{}/)",
        listed.address, other.address
    );
    let ran = run(&world, &[], &script)?;
    ensure!(
        !ran.stdout.contains(VALUE) && !ran.stderr.contains(VALUE),
        "{ran:?}"
    );
    let result = result(&ran)?;
    let text = result["text"].as_str().context("no text")?;
    let placeholder = text.split(['[', ']']).nth(1).context("no placeholder")?;
    ensure!(
        placeholder.starts_with("ghp_") && placeholder.len() == VALUE.len(),
        "{text}"
    );
    // The variable, the environment, and what both servers returned.
    ensure!(text.matches(placeholder).count() >= 4, "{text}");
    let got = [listed.received(), other.received()];
    ensure!(
        got[0].contains(VALUE) && !got[0].contains(placeholder),
        "{got:?}"
    );
    ensure!(
        got[1].contains(placeholder) && !got[1].contains(VALUE),
        "{got:?}"
    );
    let refused = json!([{"host": other.address, "count": 1, "secret": "A_TOKEN"}]);
    ensure!(result["sandbox"]["refused_hosts"] == refused, "{result}");
    // No other network, and no other sandbox, has the variable.
    for options in [["--network", "on"], ["--sandbox", "off"]] {
        let ran = run(&world, &options, "echo \"[${A_TOKEN-unset}]\"")?;
        ensure!(ran.stdout.contains("[unset]"), "{options:?} {ran:?}");
    }
    world.assert_nothing_left(SOON);
    Ok(())
}

#[test]
fn git_uses_a_repository_with_the_placeholder_as_its_password() -> Result<()> {
    let world = World::new()?;
    let server = Server::start(true)?;
    let secret_host = format!("http://{}", server.address);
    configure(&world, &[&server.address], &[&secret_host])?;
    for (variables, is_found) in [("", true), ("A_TOKEN=other", false)] {
        // The variables exclude the sandbox's own loopback from the proxy.
        let script = format!("{variables} NO_PROXY= no_proxy= git ls-remote {secret_host}/x");
        let ran = run(&world, &[], &script)?;
        ensure!(
            ran.stdout.contains("refs/heads/found") == is_found,
            "{script} {ran:?}"
        );
        ensure!(!ran.stdout.contains(VALUE), "{ran:?}");
    }
    world.assert_nothing_left(SOON);
    Ok(())
}

#[test]
fn request_to_the_host_of_a_secret_is_encrypted_for_this_host_only() -> Result<()> {
    for (name, is_host) in [("localhost", true), ("other.example", false)] {
        let world = World::new()?;
        let mut certify = world.command(OPENSSL);
        certify.args([
            "req", "-x509", "-nodes", "-newkey", "rsa:2048", "-days", "2",
        ]);
        certify.args(["-keyout", "key.pem", "-out", "certificate.pem"]);
        certify.args(["-subj", &format!("/CN={name}")]);
        certify.args(["-addext", &format!("subjectAltName=DNS:{name}")]);
        let certified = product::run(certify, None)?;
        ensure!(certified.code == 0, "{certified:?}");
        let mut serve = world.command(PYTHON);
        serve.args(["-c", ENCRYPTED_SERVER]);
        let mut server = product::start(serve, None)?;
        let mut port = String::new();
        let output = server.stdout.take().context("no output")?;
        BufReader::new(output).read_line(&mut port)?;
        let host = format!("localhost:{}", port.trim());
        let address = format!("127.0.0.1:{}", port.trim());
        configure(&world, &[&host, &address], &[&host])?;
        let ran = run(&world, &[], &format!("{ASK}ask http://{host}/"));
        server.kill()?;
        server.wait()?;
        let ran = ran?;
        let received = fs::read_to_string(world.cwd().join("received")).unwrap_or_default();
        ensure!(
            received.contains(VALUE) == is_host,
            "{name} {received} {ran:?}"
        );
        let want = if is_host {
            "encrypted"
        } else {
            "hostname mismatch"
        };
        ensure!(ran.stdout.contains(want), "{name} {ran:?}");
        ensure!(!ran.stdout.contains(VALUE), "{name} {ran:?}");
        world.assert_nothing_left(SOON);
    }
    Ok(())
}
