//! Work that may wait for long (a file system that does not answer, a big file) is done beside the tasks that others wait for.

use crate::panics::caught;
use std::io;
use std::thread;
use tokio::sync::oneshot;

/// Does `work` in a thread of its own, and waits for it. Dropping the future leaves it to itself.
///
/// # Errors
/// No thread can be started, or the work has panicked: somebody waits for an answer all the same.
pub async fn apart<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> io::Result<T> {
    let (tell, told) = oneshot::channel();
    thread::Builder::new()
        .name("agent-bash-apart".to_owned())
        // Who waited may have gone.
        .spawn(move || drop(tell.send(caught(work))))
        .map_err(|error| {
            let reason = format!("no thread can be started ({error}); the user's processes are probably as many as they may be");
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

    /// A runtime of one thread goes on while somebody waits.
    #[tokio::test]
    async fn nobody_else_waits() {
        let (open, gate) = std::sync::mpsc::channel::<()>();
        let waiting = tokio::spawn(apart(move || gate.recv().is_ok()));
        tokio::task::yield_now().await;
        open.send(()).unwrap();
        assert!(waiting.await.unwrap().unwrap());
    }
}
