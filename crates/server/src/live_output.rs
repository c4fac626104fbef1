//! Sends live output, for both servers.

use agent_bash::process::SystemClock;
use agent_bash::sink::{LiveKind, LiveOptions, LiveUpdate, LiveUpdates};
use std::future::Future;
use std::pin::pin;

/// Maximum number of output bytes in an update.
const MAX_UPDATE_BYTES: usize = 50 * 1024;

/// Returns an empty sequence of live updates.
pub(crate) fn updates(kind: LiveKind) -> LiveUpdates {
    LiveUpdates::new(LiveOptions::new(kind, MAX_UPDATE_BYTES))
}

/// Sends updates to a client.
pub(crate) trait UpdateSender: Send {
    /// Sends an update. Returns when the update is queued.
    fn send(&mut self, update: LiveUpdate) -> impl Future<Output = ()> + Send;
}

/// Runs `work`, which feeds `live`, and then ends `live`. Passes the updates to `sender` one at a
/// time. All updates are sent when this function returns. If the client does not read, `work`
/// still continues.
pub(crate) async fn run_with_updates<T>(
    work: impl Future<Output = T>,
    live: &LiveUpdates,
    sender: &mut impl UpdateSender,
) -> T {
    let clock = SystemClock::new();
    let mut work = pin!(work);
    let mut done = None;
    loop {
        let update = tokio::select! {
            biased;
            result = &mut work, if done.is_none() => {
                live.end();
                done = Some(result);
                continue;
            }
            update = live.next(&clock) => update,
        };
        let Some(update) = update else { break };
        let mut sending = pin!(sender.send(update));
        loop {
            tokio::select! {
                biased;
                result = &mut work, if done.is_none() => {
                    live.end();
                    done = Some(result);
                }
                () = &mut sending => break,
            }
        }
    }
    match done {
        Some(result) => result,
        None => work.await,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use tokio::sync::Notify;

    #[derive(Default)]
    struct Collect(String);

    impl UpdateSender for Collect {
        async fn send(&mut self, update: LiveUpdate) {
            if let LiveUpdate::Delta { text, .. } = update {
                self.0.push_str(&text);
            }
        }
    }

    #[tokio::test]
    async fn every_update_is_sent_before_the_result() {
        let live = updates(LiveKind::Delta);
        let mut text = Collect::default();
        let work = async {
            for part in ["a\n", "b\n", "c"] {
                live.push(part.as_bytes());
                tokio::task::yield_now().await;
            }
            7
        };
        assert_eq!(run_with_updates(work, &live, &mut text).await, 7);
        assert_eq!(text.0, "a\nb\nc");
    }

    struct Blocked<'a>(&'a Notify);

    impl UpdateSender for Blocked<'_> {
        async fn send(&mut self, _: LiveUpdate) {
            self.0.notified().await;
        }
    }

    #[tokio::test]
    async fn work_continues_while_updates_are_unread() {
        let live = updates(LiveKind::Delta);
        let (free, steps) = (Notify::new(), AtomicUsize::new(0));
        let work = async {
            live.push(b"first");
            for _ in 0..100 {
                tokio::task::yield_now().await;
                steps.fetch_add(1, Ordering::Relaxed);
            }
            // The client starts reading only now.
            free.notify_one();
        };
        run_with_updates(work, &live, &mut Blocked(&free)).await;
        assert_eq!(steps.load(Ordering::Relaxed), 100);
    }
}
