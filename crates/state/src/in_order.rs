//! Keeps requests in order although each request runs in a separate task, and tasks are scheduled
//! in any order.
//!
//! A [`Ticket`] is drawn when a request arrives. The request's work begins once the work of all
//! earlier requests has begun. Work has begun when it has run up to the first `await` that
//! suspends; by then a call has its `QueueSlot` in the queue of its persistent shell.

use agent_bash_core::{Cancel, NotStarted, SessionName, lock};
use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use tokio::sync::{Mutex as AsyncMutex, OwnedMutexGuard, oneshot};

/// Issues tickets.
#[derive(Debug, Default)]
pub struct Tickets {
    /// Closed when the last ticket has begun.
    last: Option<oneshot::Receiver<()>>,
}

/// The right to begin after all earlier tickets. Dropping a ticket lets the next ticket begin.
#[derive(Debug)]
pub struct Ticket {
    /// Closed when the ticket before this ticket has begun.
    before: Option<oneshot::Receiver<()>>,
    /// Dropped when this ticket has begun.
    begun: oneshot::Sender<()>,
}

impl Tickets {
    /// Draws the next ticket.
    pub fn draw(&mut self) -> Ticket {
        let (begun, next) = oneshot::channel();
        let before = self.last.replace(next);
        Ticket { before, begun }
    }
}

impl Ticket {
    /// Begins `work` after all earlier tickets and runs it to the end.
    pub async fn serve<T>(self, work: impl Future<Output = T> + Send) -> T {
        if let Some(before) = self.before {
            // The sender is never used: dropping it is the signal.
            let _ = before.await;
        }
        let work = poll_once(work);
        drop(self.begun);
        work.await
    }
}

/// Work that has been polled once.
pub enum PolledWork<'a, T> {
    /// The work has ended. `None` after the result was taken.
    Done(Option<T>),
    /// The work continues.
    Pending(Pin<Box<dyn Future<Output = T> + Send + 'a>>),
}

/// Polls `work` once; the caller may await the rest later.
pub fn poll_once<'a, T>(work: impl Future<Output = T> + Send + 'a) -> PolledWork<'a, T> {
    let mut work: Pin<Box<dyn Future<Output = T> + Send + 'a>> = Box::pin(work);
    // A no-op waker is sufficient: an `await` of the rest begins with another poll.
    match work.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(done) => PolledWork::Done(Some(done)),
        Poll::Pending => PolledWork::Pending(work),
    }
}

impl<T> Unpin for PolledWork<'_, T> {}

impl<T> Future for PolledWork<'_, T> {
    type Output = T;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        match self.get_mut() {
            Self::Done(done) => done.take().map_or(Poll::Pending, Poll::Ready),
            Self::Pending(work) => work.as_mut().poll(context),
        }
    }
}

/// The queues in front of persistent shells, one per name. A queue keeps the order of the calls,
/// and delays the checks of a call until the shell's earlier calls have ended.
#[derive(Debug, Default)]
pub struct SessionQueues(Mutex<BTreeMap<SessionName, Arc<SessionQueue>>>);

/// The queue in front of a persistent shell.
#[derive(Debug, Default)]
struct SessionQueue {
    head: Arc<AsyncMutex<()>>,
    state: Mutex<QueueState>,
}

#[derive(Debug, Default)]
struct QueueState {
    /// The guard of the last call that has begun to run in the shell.
    running: SharedGuard,
    /// The number of times that the shell was discarded.
    resets: u64,
}

/// The guard of the call at the head of a queue; `None` after its release.
type SharedGuard = Arc<Mutex<Option<OwnedMutexGuard<()>>>>;

/// A slot in a queue. Dropping it leaves the queue.
pub struct QueueSlot {
    head: PolledWork<'static, OwnedMutexGuard<()>>,
    queue: Arc<SessionQueue>,
}

/// The permit of the call at the head of a queue. Dropping it lets the next call continue.
#[derive(Debug)]
pub struct QueuePermit {
    guard: SharedGuard,
    queue: Arc<SessionQueue>,
    /// The queue's count of resets when the call came to the head.
    resets: u64,
}

impl SessionQueues {
    /// Takes the last slot in the queue with that name.
    pub fn join(&self, name: &SessionName) -> QueueSlot {
        let mut queues = lock(&self.0);
        // Removes the queues that no call is in.
        queues.retain(|_, queue| Arc::strong_count(queue) > 1);
        let queue = Arc::clone(queues.entry(name.clone()).or_default());
        QueueSlot {
            head: poll_once(Arc::clone(&queue.head).lock_owned()),
            queue,
        }
    }

    /// Notes that the shell with that name was discarded. Its queue continues without the call that
    /// runs in the old shell.
    pub fn note_reset(&self, name: &SessionName) {
        let queues = lock(&self.0);
        if let Some(queue) = queues.get(name) {
            let mut state = lock(&queue.state);
            state.resets += 1;
            release(&state.running);
        }
    }
}

impl QueueSlot {
    /// Waits for the head of the queue. Returns `None` if the call is cancelled meanwhile, because
    /// its script will not run.
    pub async fn acquire(self, cancel: &Cancel) -> Option<QueuePermit> {
        tokio::select! {
            biased;
            () = cancel.cancelled() => None,
            guard = self.head => {
                let resets = lock(&self.queue.state).resets;
                Some(QueuePermit {
                    guard: Arc::new(Mutex::new(Some(guard))),
                    resets,
                    queue: self.queue,
                })
            }
        }
    }
}

impl QueuePermit {
    /// Marks the call as running in the shell.
    ///
    /// # Errors
    /// The shell was discarded after the call's checks had begun, so that they are about another
    /// shell.
    pub fn begin_run(&self) -> Result<(), NotStarted> {
        let mut state = lock(&self.queue.state);
        if state.resets != self.resets {
            let reason = "the session was reset while the call was checked; repeat the call";
            return Err(NotStarted::new(reason));
        }
        state.running = Arc::clone(&self.guard);
        Ok(())
    }
}

impl Drop for QueuePermit {
    fn drop(&mut self) {
        release(&self.guard);
    }
}

/// Lets the next call of a queue continue.
fn release(guard: &SharedGuard) {
    drop(lock(guard).take());
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    /// Tasks on several threads; the first one is slow.
    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
    async fn work_begins_in_the_order_of_its_tickets() {
        for _ in 0..50 {
            let order = Arc::new(Mutex::new(Vec::new()));
            let mut tickets = Tickets::default();
            let drawn: Vec<Ticket> = (0..20).map(|_| tickets.draw()).collect();
            let tasks = drawn.into_iter().enumerate().rev().map(|(at, ticket)| {
                let order = Arc::clone(&order);
                tokio::spawn(ticket.serve(async move {
                    order.lock().unwrap().push(at);
                    tokio::task::yield_now().await;
                }))
            });
            for task in tasks.collect::<Vec<_>>() {
                task.await.unwrap();
            }
            assert_eq!(*order.lock().unwrap(), (0..20).collect::<Vec<_>>());
        }
    }

    #[tokio::test]
    async fn unused_or_panicking_ticket_does_not_block_others() {
        let mut tickets = Tickets::default();
        drop(tickets.draw());
        let failing = tickets.draw();
        let failed = tokio::spawn(failing.serve(async { panic!("on purpose") }));
        assert_eq!(tickets.draw().serve(async { 7 }).await, 7);
        assert!(failed.await.is_err());
        // Nor does a ticket whose work has begun and continues.
        let long = tickets.draw().serve(std::future::pending::<()>());
        let long = tokio::spawn(long);
        assert_eq!(tickets.draw().serve(async { 8 }).await, 8);
        long.abort();
    }

    #[tokio::test]
    async fn permits_follow_slot_order_without_cancelled_ones() {
        let (queues, name) = (SessionQueues::default(), SessionName("a".to_owned()));
        let never = Cancel::new();
        let first = queues.join(&name).acquire(&never).await;
        let (second, third) = (queues.join(&name), queues.join(&name));
        let off = Cancel::new();
        off.cancel();
        // The slot leaves the queue without a permit.
        assert!(second.acquire(&off).await.is_none());
        let waits = tokio::time::timeout(Duration::ZERO, queues.join(&name).acquire(&never)).await;
        assert!(waits.is_err());
        // Another shell has another queue.
        drop(
            queues
                .join(&SessionName("b".to_owned()))
                .acquire(&never)
                .await,
        );
        drop(first);
        drop(third.acquire(&never).await);
    }

    #[tokio::test]
    async fn reset_releases_the_running_call_and_voids_checks() {
        let (queues, name) = (SessionQueues::default(), SessionName("a".to_owned()));
        let never = Cancel::new();
        let is_waiting = async |slot: QueueSlot| {
            let permit = tokio::time::timeout(Duration::ZERO, slot.acquire(&never));
            permit.await.is_err()
        };
        let first = queues.join(&name).acquire(&never).await.unwrap();
        let second = queues.join(&name);
        first.begin_run().unwrap();
        queues.note_reset(&name);
        // The second call is checked: the third one waits, also after the end of the first one.
        let second = second.acquire(&never).await.unwrap();
        assert!(is_waiting(queues.join(&name)).await);
        drop(first);
        assert!(is_waiting(queues.join(&name)).await);
        queues.note_reset(&name);
        second.begin_run().unwrap_err();
        drop(second);
        let third = queues.join(&name).acquire(&never).await.unwrap();
        third.begin_run().unwrap();
        drop(third);
        drop(queues.join(&name).acquire(&never).await.unwrap());
    }
}
