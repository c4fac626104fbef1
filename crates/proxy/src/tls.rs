//! Encrypted connections to servers.
//!
//! The proxy has no TLS of its own. A program of the system connects to a socket of this machine,
//! which the proxy relays to the server. So only the proxy decides which address is reached, and
//! only the program decides whether a certificate is the server's.

use crate::rules::Host;
use std::fmt;
use std::io;
use std::os::unix::net::{UnixListener as StdUnixListener, UnixStream as StdUnixStream};
use tokio::io::copy_bidirectional;
use tokio::net::{TcpStream, UnixListener, UnixStream};
use tokio::task::AbortHandle;

/// Starts programs that encrypt connections.
pub trait TlsProgram: Send + Sync + fmt::Debug {
    /// Starts a program that connects to a socket, verifies that the server there is `host`, and
    /// then copies between the connection and `stream`. The program closes `stream` when the
    /// connection has ended, and without copying anything if the server is another one.
    ///
    /// # Errors
    /// There is no such program, or it cannot be started.
    fn start(&self, host: &Host, stream: StdUnixStream) -> io::Result<StartedTls>;
}

/// A started program, and the socket to which it connects.
pub struct StartedTls {
    /// The socket.
    pub listener: StdUnixListener,
    /// Removes the socket's file when dropped, which happens once the program has connected: a host
    /// that exits during a connection leaves no file.
    pub socket_file: Box<dyn Send>,
    /// The only process that may connect.
    pub pid: u32,
    /// The program.
    pub process: Box<dyn TlsProcess>,
}

/// A started program. Dropping this value ends the program.
pub trait TlsProcess: Send {
    /// Ends the program. Returns the reason why the program has failed, on one line.
    fn end(&mut self) -> String;
}

/// An encrypted connection to a server. Dropping this value ends the connection.
pub(crate) struct TlsConnection {
    /// The unencrypted end.
    pub(crate) stream: UnixStream,
    process: Box<dyn TlsProcess>,
    relay: AbortHandle,
}

impl TlsConnection {
    /// Starts to encrypt `server`, a connection to `host`.
    pub(crate) fn start(
        program: &dyn TlsProgram,
        mut server: TcpStream,
        host: &Host,
    ) -> io::Result<Self> {
        let (stream, program_end) = StdUnixStream::pair()?;
        stream.set_nonblocking(true)?;
        let StartedTls {
            listener,
            socket_file,
            pid,
            process,
        } = program.start(host, program_end)?;
        listener.set_nonblocking(true)?;
        let listener = UnixListener::from_std(listener)?;
        let relay = tokio::spawn(async move {
            let accepted = accept_from(pid, listener).await;
            drop(socket_file);
            // An error ends the connection, which the program then reports.
            if let Ok(mut client) = accepted {
                let _ = copy_bidirectional(&mut client, &mut server).await;
            }
        });
        Ok(Self {
            stream: UnixStream::from_std(stream)?,
            process,
            relay: relay.abort_handle(),
        })
    }

    /// Ends the connection. Returns the reason why the connection has failed.
    pub(crate) fn end(&mut self) -> String {
        self.process.end()
    }
}

/// Accepts the connection of this process, and closes those of others.
async fn accept_from(pid: u32, listener: UnixListener) -> io::Result<UnixStream> {
    loop {
        let (client, _) = listener.accept().await?;
        let peer = client.peer_cred().ok().and_then(|peer| peer.pid());
        if peer.is_some_and(|peer| peer.unsigned_abs() == pid) {
            return Ok(client);
        }
    }
}

impl Drop for TlsConnection {
    fn drop(&mut self) {
        self.relay.abort();
    }
}
