//! Runs blocking work (an unresponsive file system, a large file) on another thread, so that it
//! does not hold up other tasks.

use crate::panics::catch_panic;
use agent_bash_core::lock;
use agent_bash_process::thread_refusal;
use std::io;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, Weak};
use std::thread::{self, ThreadId};
use std::time::Duration;
use tokio::sync::oneshot;

/// Maximum number of threads that wait for more work.
const MAX_IDLE_THREADS: usize = 4;

/// Time after which a waiting thread ends.
const IDLE_TIMEOUT: Duration = Duration::from_secs(5);

/// Runs `work` on a new thread and waits for the result. If the future is dropped, the thread
/// continues.
///
/// # Errors
/// The thread could not be started, or the work panicked.
pub async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> io::Result<T> {
    let (sender, result) = oneshot::channel();
    // The receiver may have been dropped.
    start(move || drop(sender.send(catch_panic(work))))?;
    Ok(result.await.map_err(io::Error::other)??)
}

/// Starts a thread. The error names the limit that was probably reached.
pub(crate) fn start(run: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let thread = thread::Builder::new().name("agent-bash-blocking".to_owned());
    thread.spawn(run).map(drop).map_err(|error| {
        let why = thread_refusal(&error);
        let reason =
            format!("no thread can be started ({error}); {why}: end some processes, and try again");
        io::Error::new(error.kind(), reason)
    })
}

/// A pool of threads, because starting and ending a thread takes longer than most work of a call.
/// Work never waits for other work: without an idle thread, a new thread is started. Clones share
/// the threads. Dropping the last clone ends the threads.
#[derive(Debug, Clone, Default)]
pub(crate) struct Threads(Arc<IdleThreadList>);

type Work = Box<dyn FnOnce() + Send>;

/// The idle threads, and the senders that give them work.
type IdleThreadList = Mutex<Vec<(ThreadId, Sender<Work>)>>;

impl Threads {
    /// Runs blocking work as [`run_blocking`] does, on one of these threads.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> io::Result<T> {
        let (sender, result) = oneshot::channel();
        let mut work: Work = Box::new(move || drop(sender.send(catch_panic(work))));
        loop {
            let idle = lock(&self.0).pop();
            let Some((_, idle)) = idle else {
                let idle = Arc::downgrade(&self.0);
                start(move || serve(work, &idle))?;
                break;
            };
            match idle.send(work) {
                Ok(()) => break,
                Err(refused) => work = refused.0,
            }
        }
        Ok(result.await.map_err(io::Error::other)??)
    }
}

/// Runs `work`, then waits for more work, until [`IDLE_TIMEOUT`] has passed.
fn serve(mut work: Work, idle: &Weak<IdleThreadList>) {
    let own_id = thread::current().id();
    loop {
        work();
        let (sender, more_work) = channel();
        {
            let Some(idle) = idle.upgrade() else { return };
            let mut idle = lock(&idle);
            if idle.len() >= MAX_IDLE_THREADS {
                return;
            }
            idle.push((own_id, sender));
        }
        work = match more_work.recv_timeout(IDLE_TIMEOUT) {
            Ok(work) => work,
            Err(RecvTimeoutError::Disconnected) => return,
            Err(RecvTimeoutError::Timeout) => {
                let Some(idle) = idle.upgrade() else { return };
                let mut idle = lock(&idle);
                if let Some(index) = idle.iter().position(|(id, _)| *id == own_id) {
                    idle.swap_remove(index);
                    return;
                }
                drop(idle);
                // The caller that took this thread is about to send work.
                match more_work.recv() {
                    Ok(work) => work,
                    Err(_) => return,
                }
            }
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn run_blocking_returns_the_result_or_the_panic() {
        assert_eq!(run_blocking(|| 7).await.unwrap(), 7);
        let failed = run_blocking(|| -> i32 { panic!("on purpose") }).await;
        assert!(failed.is_err(), "{failed:?}");
    }

    #[tokio::test]
    async fn idle_thread_is_reused_and_work_never_waits() {
        let threads = Threads::default();
        let id = || thread::current().id();
        let first = threads.run(id).await.unwrap();
        // The thread may report its result before it waits.
        let mut again = 0;
        for _ in 0..1000 {
            again += usize::from(threads.run(id).await.unwrap() == first);
        }
        assert!(again > 0);
        let (open, gate) = channel::<()>();
        let stuck = tokio::spawn({
            let threads = threads.clone();
            async move { threads.run(move || gate.recv().is_ok()).await }
        });
        tokio::task::yield_now().await;
        assert_eq!(threads.run(|| 7).await.unwrap(), 7);
        let failed = threads.run(|| -> i32 { panic!("on purpose") }).await;
        assert!(failed.is_err(), "{failed:?}");
        assert_eq!(threads.run(|| 8).await.unwrap(), 8);
        open.send(()).unwrap();
        assert!(stuck.await.unwrap().unwrap());
        assert!(lock(&threads.0).len() <= MAX_IDLE_THREADS);
    }

    /// A single-threaded runtime makes progress meanwhile.
    #[tokio::test]
    async fn blocking_work_does_not_stop_other_tasks() {
        let (open, gate) = channel::<()>();
        let waiting = tokio::spawn(run_blocking(move || gate.recv().is_ok()));
        tokio::task::yield_now().await;
        open.send(()).unwrap();
        assert!(waiting.await.unwrap().unwrap());
    }
}
