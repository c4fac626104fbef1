//! Keeps requests in order although each request runs in a separate task, and tasks are scheduled
//! in any order.
//!
//! A [`Ticket`] is drawn when a request arrives. The request's work begins once the work of all
//! earlier requests has begun. Work has begun when it has run up to the first `await` that
//! suspends; by then a call has its `QueueSlot` in the queue of its persistent shell.

use agent_bash_core::{Cancel, SessionName};
use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
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
pub(crate) enum PolledWork<'a, T> {
    Done(Option<T>),
    Pending(Pin<Box<dyn Future<Output = T> + Send + 'a>>),
}

/// Polls `work` once; the caller may await the rest later.
pub(crate) fn poll_once<'a, T>(work: impl Future<Output = T> + Send + 'a) -> PolledWork<'a, T> {
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
pub(crate) struct SessionQueues(Mutex<BTreeMap<SessionName, Arc<AsyncMutex<()>>>>);

/// A slot in a queue. Dropping it leaves the queue.
pub(crate) struct QueueSlot(PolledWork<'static, OwnedMutexGuard<()>>);

/// The permit of the call at the head of a queue. Dropping it lets the next call continue.
#[derive(Debug)]
pub(crate) struct QueuePermit {
    _guard: OwnedMutexGuard<()>,
}

impl SessionQueues {
    /// Takes the last slot in the queue with that name.
    pub(crate) fn join(&self, name: &SessionName) -> QueueSlot {
        let mut queues = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Removes the queues that no call is in.
        queues.retain(|_, queue| Arc::strong_count(queue) > 1);
        let queue = Arc::clone(queues.entry(name.clone()).or_default());
        QueueSlot(poll_once(queue.lock_owned()))
    }

    /// Removes the queue with that name. Later calls join a new queue, and do not wait for the
    /// calls in the old one.
    pub(crate) fn forget(&self, name: &SessionName) {
        let mut queues = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        queues.remove(name);
    }
}

impl QueueSlot {
    /// Waits for the head of the queue. Returns `None` if the call is cancelled meanwhile, because
    /// its script will not run.
    pub(crate) async fn acquire(self, cancel: &Cancel) -> Option<QueuePermit> {
        tokio::select! {
            biased;
            () = cancel.cancelled() => None,
            guard = self.0 => Some(QueuePermit { _guard: guard }),
        }
    }
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
        // Another shell has another queue, and so has a new shell of the same name.
        drop(
            queues
                .join(&SessionName("b".to_owned()))
                .acquire(&never)
                .await,
        );
        queues.forget(&name);
        drop(queues.join(&name).acquire(&never).await);
        drop(first);
        drop(third.acquire(&never).await);
    }
}
