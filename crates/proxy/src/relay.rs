//! Copies bytes between two connections.

use agent_bash_core::Clock;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;

/// The size of the buffer of each direction.
const BUFFER_BYTES: usize = 64 * 1024;

/// The time limit for receiving a request's head, from the start of the connection.
pub(crate) const HEAD_TIMEOUT: Duration = Duration::from_secs(30);

/// How long a connection may be idle.
const IDLE_TIMEOUT: Duration = Duration::from_secs(10 * 60);

/// Completes `work`, or fails after `limit`.
pub(crate) async fn with_timeout<T>(
    clock: &dyn Clock,
    limit: Duration,
    work: impl Future<Output = io::Result<T>>,
) -> io::Result<T> {
    tokio::select! {
        done = work => done,
        () = clock.sleep(limit) => Err(io::ErrorKind::TimedOut.into()),
    }
}

/// Copies in both directions until both have ended, one has failed, or nothing was copied for
/// [`IDLE_TIMEOUT`].
pub(crate) async fn relay(
    client: &mut TcpStream,
    server: &mut TcpStream,
    clock: &dyn Clock,
) -> io::Result<()> {
    let (mut from_client, mut to_client) = client.split();
    let (mut from_server, mut to_server) = server.split();
    let copied_bytes = AtomicU64::new(0);
    let copying = async {
        tokio::try_join!(
            copy(&mut from_client, &mut to_server, &copied_bytes),
            copy(&mut from_server, &mut to_client, &copied_bytes),
        )
    };
    tokio::select! {
        done = copying => done.map(drop),
        () = idle(clock, &copied_bytes) => Err(io::ErrorKind::TimedOut.into()),
    }
}

/// Returns when `copied_bytes` has not changed for [`IDLE_TIMEOUT`].
pub(crate) async fn idle(clock: &dyn Clock, copied_bytes: &AtomicU64) {
    loop {
        let before = copied_bytes.load(Ordering::Relaxed);
        clock.sleep(IDLE_TIMEOUT).await;
        if copied_bytes.load(Ordering::Relaxed) == before {
            return;
        }
    }
}

/// Copies until the end of `from`, then shuts down `to`. Adds the length of each chunk to
/// `copied_bytes`.
async fn copy(
    from: &mut (impl AsyncRead + Unpin),
    to: &mut (impl AsyncWrite + Unpin),
    copied_bytes: &AtomicU64,
) -> io::Result<()> {
    let mut buffer = vec![0; BUFFER_BYTES];
    loop {
        let length = from.read(&mut buffer).await?;
        if length == 0 {
            return to.shutdown().await;
        }
        to.write_all(&buffer[..length]).await?;
        copied_bytes.fetch_add(length as u64, Ordering::Relaxed);
    }
}
