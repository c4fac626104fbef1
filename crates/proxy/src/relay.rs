//! Copies bytes between two connections.

use agent_bash_core::Clock;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::Notify;

/// The size of the buffer of each direction.
const BUFFER_BYTES: usize = 64 * 1024;

/// The time limit for receiving a request's head, from the start of the connection.
pub(crate) const HEAD_TIMEOUT: Duration = Duration::from_secs(30);

/// How long a connection may be idle.
const IDLE_TIMEOUT: Duration = Duration::from_secs(10 * 60);

/// How long a connection may be idle after one side has ended. A client that has gone looks like a
/// client that has only sent everything.
const HALF_CLOSED_TIMEOUT: Duration = Duration::from_secs(60);

/// The progress of a connection.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    copied_bytes: AtomicU64,
    half_closed: Notify,
}

impl Progress {
    pub(crate) fn add(&self, copied_bytes: usize) {
        let copied_bytes = copied_bytes as u64;
        self.copied_bytes.fetch_add(copied_bytes, Ordering::Relaxed);
    }

    /// Notes that one side has ended.
    pub(crate) fn half_close(&self) {
        self.half_closed.notify_one();
    }

    /// Returns when nothing was copied for [`IDLE_TIMEOUT`], or, after one side has ended, for
    /// [`HALF_CLOSED_TIMEOUT`].
    pub(crate) async fn idle(&self, clock: &dyn Clock) {
        let idle_when_half_closed = async {
            self.half_closed.notified().await;
            self.unchanged(clock, HALF_CLOSED_TIMEOUT).await;
        };
        tokio::select! {
            () = self.unchanged(clock, IDLE_TIMEOUT) => {}
            () = idle_when_half_closed => {}
        }
    }

    async fn unchanged(&self, clock: &dyn Clock, limit: Duration) {
        loop {
            let before = self.copied_bytes.load(Ordering::Relaxed);
            clock.sleep(limit).await;
            if self.copied_bytes.load(Ordering::Relaxed) == before {
                return;
            }
        }
    }
}

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

/// Copies in both directions until both have ended, one has failed, or the connection is idle.
pub(crate) async fn relay(
    client: &mut TcpStream,
    server: &mut TcpStream,
    clock: &dyn Clock,
) -> io::Result<()> {
    let (mut from_client, mut to_client) = client.split();
    let (mut from_server, mut to_server) = server.split();
    let progress = Progress::default();
    let copying = async {
        tokio::try_join!(
            copy(&mut from_client, &mut to_server, &progress),
            copy(&mut from_server, &mut to_client, &progress),
        )
    };
    tokio::select! {
        done = copying => done.map(drop),
        () = progress.idle(clock) => Err(io::ErrorKind::TimedOut.into()),
    }
}

/// Copies until the end of `from`, then shuts down `to`.
async fn copy(
    from: &mut (impl AsyncRead + Unpin),
    to: &mut (impl AsyncWrite + Unpin),
    progress: &Progress,
) -> io::Result<()> {
    let mut buffer = vec![0; BUFFER_BYTES];
    loop {
        let length = from.read(&mut buffer).await?;
        if length == 0 {
            progress.half_close();
            return to.shutdown().await;
        }
        to.write_all(&buffer[..length]).await?;
        progress.add(length);
    }
}
