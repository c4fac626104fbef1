//! Encrypted connections to servers.
//!
//! The proxy has no TLS of its own. A program of the system connects to a port of this machine,
//! which the proxy relays to the server. So only the proxy decides which address is reached, and
//! only the program decides whether a certificate is the server's.

use crate::rules::Host;
use std::fmt;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::net::UnixStream as StdUnixStream;
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream, UnixStream};
use tokio::task::AbortHandle;

/// Starts programs that encrypt connections.
pub trait TlsProgram: Send + Sync + fmt::Debug {
    /// Starts a program that connects to `address`, verifies that the server there is `host`, and
    /// then copies between the connection and `stream`. The program closes `stream` when the
    /// connection has ended, and without copying anything if the server is another one.
    ///
    /// # Errors
    /// There is no such program, or it cannot be started.
    fn start(
        &self,
        address: SocketAddr,
        host: &Host,
        stream: StdUnixStream,
    ) -> io::Result<Box<dyn TlsProcess>>;
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
    pub(crate) async fn start(
        program: &dyn TlsProgram,
        mut server: TcpStream,
        host: &Host,
    ) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let (stream, program_end) = StdUnixStream::pair()?;
        stream.set_nonblocking(true)?;
        let process = program.start(listener.local_addr()?, host, program_end)?;
        let relay = tokio::spawn(async move {
            // Any other program that connects here reaches the server as a stranger, too. An error
            // ends the connection, which the program then reports.
            if let Ok((mut client, _)) = listener.accept().await {
                // A program that came second is refused instead of waiting.
                drop(listener);
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

impl Drop for TlsConnection {
    fn drop(&mut self) {
        self.relay.abort();
    }
}
