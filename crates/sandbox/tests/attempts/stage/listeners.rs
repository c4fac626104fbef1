//! The listeners of the stage. Each writes received data to a file with its name in the directory
//! of observations.

use super::scenery::{RUN, SEEN};
use crate::row::User;
use anyhow::Result;
use std::fs::OpenOptions;
use std::io::{Read, Write};
use std::net::{TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};
use std::path::Path;
use std::thread;

/// The name in the abstract space.
pub(crate) const ABSTRACT: &str = "agent-bash-attempt";

/// The ports of the listeners; 0 for none.
pub(crate) struct Ports {
    pub(crate) tcp: u16,
    pub(crate) tcp6: u16,
    pub(crate) udp: u16,
    /// Also TCP, to show that the listener can be reached.
    pub(crate) probe: u16,
    /// The host of the secret, which returns what it receives.
    pub(crate) secret: u16,
}

pub(crate) fn open(user: User) -> Result<Ports> {
    let path = |name: &str| Path::new(RUN).join(name);
    let tcp = TcpListener::bind("127.0.0.1:0")?;
    let tcp6 = TcpListener::bind("[::1]:0").ok();
    let udp = UdpSocket::bind("127.0.0.1:0")?;
    let probe = TcpListener::bind("127.0.0.1:0")?;
    let secret = TcpListener::bind("127.0.0.1:0")?;
    let unix = UnixListener::bind(path("unix"))?;
    let datagram = UnixDatagram::bind(path("datagram"))?;
    let hidden = UnixListener::bind_addr(&SocketAddr::from_abstract_name(ABSTRACT)?)?;
    for name in ["unix", "datagram"] {
        std::fs::set_permissions(path(name), PermissionsExt::from_mode(0o777))?;
        chown(path(name), Some(user.id()), Some(user.id()))?;
    }
    let ports = Ports {
        tcp: tcp.local_addr()?.port(),
        tcp6: tcp6
            .as_ref()
            .map_or(Ok(0), |it| it.local_addr().map(|at| at.port()))?,
        udp: udp.local_addr()?.port(),
        probe: probe.local_addr()?.port(),
        secret: secret.local_addr()?.port(),
    };
    accepting("tcp", move || tcp.accept().map(|it| it.0));
    accepting("probe", move || probe.accept().map(|it| it.0));
    if let Some(tcp6) = tcp6 {
        accepting("tcp6", move || tcp6.accept().map(|it| it.0));
    }
    returning("secret", secret);
    accepting("unix", move || unix.accept().map(|it| it.0));
    accepting("abstract", move || hidden.accept().map(|it| it.0));
    receiving("udp", move |text| udp.recv(text));
    receiving("datagram", move |text| datagram.recv(text));
    Ok(ports)
}

/// Each connection has its own thread, so that a silent one blocks no other.
fn accepting<C: Read + Send + 'static>(
    name: &'static str,
    accept: impl Fn() -> std::io::Result<C> + Send + 'static,
) {
    thread::spawn(move || {
        while let Ok(mut connection) = accept() {
            thread::spawn(move || {
                let mut text = [0; 512];
                if let Ok(size) = connection.read(&mut text) {
                    note(name, &text[..size]);
                }
            });
        }
    });
}

/// Notes requests and returns them. A request with a body ends with the word `end`.
fn returning(name: &'static str, listener: TcpListener) {
    thread::spawn(move || {
        for mut connection in listener.incoming().flatten() {
            thread::spawn(move || {
                let mut all = Vec::new();
                let mut buffer = [0; 4096];
                let has = |all: &[u8], part: &[u8]| all.windows(part.len()).any(|it| it == part);
                while !has(&all, b"\r\n\r\n") || all.starts_with(b"POST") && !has(&all, b"end") {
                    match connection.read(&mut buffer) {
                        Ok(size) if size > 0 => all.extend_from_slice(&buffer[..size]),
                        _ => break,
                    }
                }
                note(name, &all);
                // A client that has ended reads no answer.
                let _ = connection.write_all(&all);
            });
        }
    });
}

fn receiving(
    name: &'static str,
    receive: impl Fn(&mut [u8]) -> std::io::Result<usize> + Send + 'static,
) {
    thread::spawn(move || {
        let mut text = [0; 512];
        while let Ok(size) = receive(&mut text) {
            note(name, &text[..size]);
        }
    });
}

fn note(name: &str, text: &[u8]) {
    let path = Path::new(SEEN).join(name);
    let file = OpenOptions::new().create(true).append(true).open(path);
    // A listener that cannot write makes the control fail.
    let _ = file.and_then(|mut file| file.write_all(text));
}
