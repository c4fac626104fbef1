//! Copies bytes between two connections.

use agent_bash_core::Clock;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;

/// The size of the buffer of each direction.
const BUFFER_BYTES: usize = 64 * 1024;

/// The time limit for a head, from the start of the connection.
pub(crate) const HEAD_TIMEOUT: Duration = Duration::from_secs(30);

/// How long a connection may be idle.
const IDLE_TIMEOUT: Duration = Duration::from_secs(10 * 60);

/// Completes `work`, or fails after `limit`.
pub(crate) async fn within<T>(
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
    let count = AtomicU64::new(0);
    let both = async {
        tokio::try_join!(
            copy(&mut from_client, &mut to_server, &count),
            copy(&mut from_server, &mut to_client, &count),
        )
    };
    tokio::select! {
        done = both => done.map(drop),
        () = idle(clock, &count) => Err(io::ErrorKind::TimedOut.into()),
    }
}

/// Returns when the count has not changed for [`IDLE_TIMEOUT`].
pub(crate) async fn idle(clock: &dyn Clock, count: &AtomicU64) {
    loop {
        let before = count.load(Ordering::Relaxed);
        clock.sleep(IDLE_TIMEOUT).await;
        if count.load(Ordering::Relaxed) == before {
            return;
        }
    }
}

/// Copies until the end of `from`, and then ends `to`.
pub(crate) async fn copy(
    from: &mut (impl AsyncRead + Unpin),
    to: &mut (impl AsyncWrite + Unpin),
    count: &AtomicU64,
) -> io::Result<()> {
    let mut buffer = vec![0; BUFFER_BYTES];
    loop {
        let length = from.read(&mut buffer).await?;
        if length == 0 {
            return to.shutdown().await;
        }
        to.write_all(&buffer[..length]).await?;
        count.fetch_add(length as u64, Ordering::Relaxed);
    }
}
