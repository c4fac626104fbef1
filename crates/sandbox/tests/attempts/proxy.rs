//! The proxy of a sandbox with a list of hosts, as a program of the stage: `--proxy LISTENER
//! ENTRY…`. The listener is an inherited descriptor, or a port with a colon before it. An entry
//! with `http://` is a host of the secret.

use agent_bash_core::sandbox::HostSecret;
use agent_bash_core::{Clock, Timestamp};
use agent_bash_proxy::{AllowedHosts, Host, Proxy, ProxyThread, Resolver, StartedTls, TlsProgram};
use anyhow::{Context, Result};
use async_trait::async_trait;
use std::io;
use std::net::{IpAddr, Ipv4Addr, TcpListener};
use std::os::unix::net::UnixStream;
use std::process::ExitCode;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, UNIX_EPOCH};

/// The word that makes this program a proxy.
pub(crate) const PROXY: &str = "--proxy";

/// The value of the variable `A_TOKEN`, and the placeholder that a sandboxed call has instead.
pub(crate) const SECRET: &str = "kept-by-the-proxy-0001";
pub(crate) const PLACEHOLDER: &str = "only-a-placeholder-001";

/// The names of the stage, which lead to its loopback.
const NAMES: [&str; 2] = ["private.example", "other.example"];

/// Serves until it is killed.
pub(crate) fn serve(words: impl Iterator<Item = String>) -> ExitCode {
    match run(&words.collect::<Vec<_>>()) {
        Ok(_running) => loop {
            thread::park();
        },
        Err(error) => {
            eprintln!("proxy: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(words: &[String]) -> Result<ProxyThread> {
    let (listener, entries) = words.split_first().context("no listener")?;
    let listener = match listener.strip_prefix(':') {
        Some(port) => TcpListener::bind((Ipv4Addr::LOCALHOST, port.parse()?))?,
        None => agent_bash_notify::inherited(listener.parse()?)?.into(),
    };
    let is_of_secret = |entry: &String| entry.starts_with("http://");
    let (secret_hosts, entries): (Vec<String>, Vec<String>) =
        entries.iter().cloned().partition(is_of_secret);
    let allowed = AllowedHosts::parse(&entries)?;
    let [variable, value, placeholder] = ["A_TOKEN", SECRET, PLACEHOLDER].map(str::to_owned);
    let secret = HostSecret::new(variable, value, placeholder, secret_hosts);
    let proxy = Proxy::new(allowed, Box::new(StageResolver), None, Arc::new(RealClock))
        .with_secrets(&[secret], Box::new(NoTls))?;
    Ok(ProxyThread::start(proxy, move || Ok(listener))?)
}

/// Resolves the names of the stage, which has no servers for names.
#[derive(Debug)]
struct StageResolver;

#[async_trait]
impl Resolver for StageResolver {
    async fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        if NAMES.contains(&name) {
            Ok(vec![Ipv4Addr::LOCALHOST.into()])
        } else {
            Err(io::ErrorKind::NotFound.into())
        }
    }
}

/// The stage has no hosts with TLS.
#[derive(Debug)]
struct NoTls;

impl TlsProgram for NoTls {
    fn start(&self, _: &Host, _: UnixStream) -> io::Result<StartedTls> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// A clock whose waits never end: no attempt lasts as long as a time limit of the proxy.
#[derive(Debug)]
struct RealClock;

#[async_trait]
impl Clock for RealClock {
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
