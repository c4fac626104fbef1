//! The orders for the tracing thread. Most calls change nothing, so an order that only concerns the
//! next traced system call is deferred: it does not wake the thread, and can be withdrawn.

use super::attribution::LiveProcesses;
use agent_bash_core::changes::TraceState;
use std::collections::VecDeque;
use std::io::{self, PipeReader, PipeWriter, Write};
use std::path::PathBuf;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

#[derive(Debug)]
pub(super) enum Order {
    /// Record into the change set in this directory. If the sender is given, it receives the result
    /// once the open files of these processes are recorded.
    Record(PathBuf, Option<(Sender<TraceState>, LiveProcesses)>),
    /// Stop the record. The processes, if any, keep running.
    Stop(Sender<TraceState>, Option<LiveProcesses>),
    /// Some survivors have ended; these are still running.
    Conclude(LiveProcesses),
    /// Trace another shell: all processes of the former have ended.
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
    /// True while the thread holds a system call until the next order.
    holds: bool,
}

/// Creates both sides, and a pipe that is readable when the thread must check for orders.
pub(super) fn orders() -> io::Result<(OrderSender, OrderQueue, PipeReader)> {
    let (wakeups, wake) = io::pipe()?;
    let queue = Arc::default();
    let receiver = OrderQueue(Arc::clone(&queue));
    Ok((OrderSender { queue, wake }, receiver, wakeups))
}

impl OrderSender {
    /// Sends an order that is executed at once.
    pub(super) fn send(&self, order: Order) {
        lock(&self.queue).orders.push_back(order);
        self.wake();
    }

    /// Sends an order that is executed before the next traced system call is inspected.
    pub(super) fn send_deferred(&self, order: Order) {
        let mut queue = lock(&self.queue);
        queue.orders.push_back(order);
        if queue.holds {
            self.wake();
        }
    }

    /// Withdraws the last order, if it starts a record and no system call was inspected since.
    pub(super) fn withdraw(&self) -> bool {
        let orders = &mut lock(&self.queue).orders;
        let is_last = matches!(orders.back(), Some(Order::Record(_, None)));
        is_last && orders.pop_back().is_some()
    }

    fn wake(&self) {
        // If the thread has ended, the missing answer is reported.
        let _ = (&self.wake).write_all(b"!");
    }
}

impl OrderQueue {
    /// Returns the next order. If there is none, stores whether the thread `holds` a system call
    /// from now on.
    pub(super) fn next(&self, holds: bool) -> Option<Order> {
        let mut queue = lock(&self.0);
        let order = queue.orders.pop_front();
        if order.is_none() {
            queue.holds = holds;
        }
        order
    }
}

fn lock(queue: &Mutex<QueueState>) -> MutexGuard<'_, QueueState> {
    queue.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::event::{PollFd, PollFlags, Timespec, poll};

    fn is_awake(wakeups: &PipeReader) -> bool {
        let mut fds = [PollFd::new(wakeups, PollFlags::IN)];
        poll(&mut fds, Some(&Timespec::default())).is_ok_and(|ready| ready > 0)
    }

    fn record() -> Order {
        Order::Record("/set".into(), None)
    }

    #[test]
    fn deferred_order_does_not_wake_and_can_be_withdrawn() {
        let (orders, receiver, wakeups) = orders().unwrap();
        assert!(!orders.withdraw());
        orders.send_deferred(Order::Another);
        orders.send_deferred(record());
        assert!(!is_awake(&wakeups));
        assert!(orders.withdraw() && !orders.withdraw());
        assert!(matches!(receiver.next(false), Some(Order::Another)));
        orders.send_deferred(record());
        assert!(matches!(receiver.next(false), Some(Order::Record(..))));
        assert!(receiver.next(false).is_none());
        assert!(!orders.withdraw());
        orders.send(Order::Conclude(LiveProcesses::default()));
        assert!(is_awake(&wakeups));
    }

    #[test]
    fn deferred_order_wakes_thread_that_holds_a_call() {
        let (orders, receiver, wakeups) = orders().unwrap();
        assert!(receiver.next(true).is_none());
        orders.send_deferred(record());
        assert!(is_awake(&wakeups));
    }
}
