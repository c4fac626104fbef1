//! The orders for the tracing thread. Most calls change nothing, and then the thread need not wake:
//! an order that applies to the next traced system call waits until there is one, and can be
//! withdrawn.

use super::attribution::LiveProcesses;
use agent_bash_core::changes::TraceState;
use std::collections::VecDeque;
use std::io::{self, PipeReader, PipeWriter, Write};
use std::path::PathBuf;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

#[derive(Debug)]
pub(super) enum Order {
    /// Record into the change set in this directory. The sender is notified once that holds, also
    /// for open files of these processes.
    Record(PathBuf, Option<(Sender<TraceState>, LiveProcesses)>),
    /// Stop the record; these processes continue, if any.
    Stop(Sender<TraceState>, Option<LiveProcesses>),
    /// Some continuing processes have ended; these have not.
    Conclude(LiveProcesses),
    /// All processes have ended, and another shell is started.
    Another,
}

/// The sending side of the orders.
#[derive(Debug)]
pub(super) struct OrderSender {
    queue: Arc<Mutex<QueueState>>,
    wake: PipeWriter,
}

/// The receiving side of the orders.
#[derive(Debug)]
pub(super) struct OrderQueue(Arc<Mutex<QueueState>>);

#[derive(Debug, Default)]
struct QueueState {
    orders: VecDeque<Order>,
    /// The thread holds a call until the next order, and looks at nothing else.
    holds: bool,
}

/// Creates both sides, and a pipe that is readable when the thread is to look for orders.
pub(super) fn orders() -> io::Result<(OrderSender, OrderQueue, PipeReader)> {
    let (woken, wake) = io::pipe()?;
    let given = Arc::default();
    let taken = OrderQueue(Arc::clone(&given));
    Ok((OrderSender { queue: given, wake }, taken, woken))
}

impl OrderSender {
    /// Gives an order that is to be obeyed at once.
    pub(super) fn give(&self, order: Order) {
        lock(&self.queue).orders.push_back(order);
        self.wake();
    }

    /// Gives an order that is to be obeyed before the thread looks at anything.
    pub(super) fn give_for_the_next(&self, order: Order) {
        let mut given = lock(&self.queue);
        given.orders.push_back(order);
        if given.holds {
            self.wake();
        }
    }

    /// Takes back the last one, if it is to begin a record and the thread has looked at nothing
    /// since.
    pub(super) fn take_back(&self) -> bool {
        let orders = &mut lock(&self.queue).orders;
        let is_last = matches!(orders.back(), Some(Order::Record(_, None)));
        is_last && orders.pop_back().is_some()
    }

    fn wake(&self) {
        // A thread that has ended gives no answer, which is noticed.
        let _ = (&self.wake).write_all(b"!");
    }
}

impl OrderQueue {
    /// The next one. If there is none: whether the thread `holds` a call from now on.
    pub(super) fn next(&self, holds: bool) -> Option<Order> {
        let mut given = lock(&self.0);
        let order = given.orders.pop_front();
        if order.is_none() {
            given.holds = holds;
        }
        order
    }
}

fn lock(given: &Mutex<QueueState>) -> MutexGuard<'_, QueueState> {
    given.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::event::{PollFd, PollFlags, Timespec, poll};

    fn is_woken(woken: &PipeReader) -> bool {
        let mut fds = [PollFd::new(woken, PollFlags::IN)];
        poll(&mut fds, Some(&Timespec::default())).is_ok_and(|heard| heard > 0)
    }

    fn record() -> Order {
        Order::Record("/set".into(), None)
    }

    #[test]
    fn deferred_order_does_not_wake_and_can_be_withdrawn() {
        let (orders, taken, woken) = orders().unwrap();
        assert!(!orders.take_back());
        orders.give_for_the_next(Order::Another);
        orders.give_for_the_next(record());
        assert!(!is_woken(&woken));
        assert!(orders.take_back() && !orders.take_back());
        assert!(matches!(taken.next(false), Some(Order::Another)));
        orders.give_for_the_next(record());
        assert!(matches!(taken.next(false), Some(Order::Record(..))));
        assert!(taken.next(false).is_none());
        assert!(!orders.take_back());
        orders.give(Order::Conclude(LiveProcesses::default()));
        assert!(is_woken(&woken));
    }

    #[test]
    fn thread_that_holds_a_call_is_woken() {
        let (orders, taken, woken) = orders().unwrap();
        assert!(taken.next(true).is_none());
        orders.give_for_the_next(record());
        assert!(is_woken(&woken));
    }
}
