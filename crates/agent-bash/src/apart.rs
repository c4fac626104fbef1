//! Runs blocking work (an unresponsive file system, a large file) on another thread, so that it does not hold up
//! other tasks.

use crate::panics::caught;
use std::io;
use std::thread;
use tokio::sync::oneshot;

/// Runs `work` on a thread of its own and waits for it. If the future is dropped, the thread continues unattended.
///
/// # Errors
/// The thread could not be started, or the work panicked: the caller still gets an answer.
pub async fn apart<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> io::Result<T> {
    let (tell, told) = oneshot::channel();
    thread::Builder::new()
        .name("agent-bash-apart".to_owned())
        // The receiver may have been dropped.
        .spawn(move || drop(tell.send(caught(work))))
        .map_err(|error| {
            let reason = format!("no thread can be started ({error}); the user's processes are probably as many as they may be (`ulimit -u`): end some, and ask again");
            io::Error::new(error.kind(), reason)
        })?;
    Ok(told.await.map_err(io::Error::other)??)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn work_is_done_or_said_not_to_be() {
        assert_eq!(apart(|| 7).await.unwrap(), 7);
        let failed = apart(|| -> i32 { panic!("on purpose") }).await;
        assert!(failed.is_err(), "{failed:?}");
    }

    /// A single-threaded runtime makes progress meanwhile.
    #[tokio::test]
    async fn nobody_else_waits() {
        let (open, gate) = std::sync::mpsc::channel::<()>();
        let waiting = tokio::spawn(apart(move || gate.recv().is_ok()));
        tokio::task::yield_now().await;
        open.send(()).unwrap();
        assert!(waiting.await.unwrap().unwrap());
    }
}
