//! The orders for the tracing thread. Most calls change nothing, so an order that only concerns the
//! next traced system call is deferred: it does not wake the thread, and can be withdrawn.

use super::attribution::LiveProcesses;
use super::named_file::NamedFile;
use super::open_files::ShellWithoutFiles;
use agent_bash_core::changes::TraceState;
use agent_bash_core::lock;
use std::collections::VecDeque;
use std::io::{self, PipeReader, PipeWriter, Write};
use std::path::PathBuf;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex};

#[derive(Debug)]
pub(super) enum Order {
    Record(RecordOrder),
    /// Stop the record. The processes, if any, keep running.
    Stop(Sender<StoppedRecord>, Option<LiveProcesses>),
    /// Some survivors have ended; the listed processes are still running.
    Conclude(LiveProcesses),
    /// Trace another shell: all processes of the former shell have ended.
    Another,
    /// Do not record changes of these files.
    Excludes(Vec<PathBuf>),
    /// The next shell has inherited these files open for writing.
    Inherits(Vec<NamedFile>),
}

/// The answer to [`Order::Stop`].
#[derive(Debug)]
pub(super) struct StoppedRecord {
    pub(super) traced: TraceState,
    /// The shell, if it has no file open to which it could write.
    pub(super) shell_without_files: Option<ShellWithoutFiles>,
}

/// The order to record into a change set.
#[derive(Debug)]
pub(super) struct RecordOrder {
    /// The directory of the change set.
    pub(super) set: PathBuf,
    /// The processes that are running before the call begins; `None` for a new shell.
    pub(super) live: Option<LiveProcesses>,
    /// Receives the result once the open files of these processes are recorded. If it is `None`,
    /// the order is deferred.
    pub(super) started: Option<Sender<TraceState>>,
}

impl Order {
    fn is_deferred_record(&self) -> bool {
        matches!(self, Self::Record(RecordOrder { started: None, .. }))
    }
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

    /// Withdraws the last order and returns true, if the order is a deferred record, and no system
    /// call that might change a file was inspected since. `of_new_shell` selects between records of
    /// a new shell and of a shell that has run calls before.
    pub(super) fn withdraw(&self, of_new_shell: bool) -> bool {
        let orders = &mut lock(&self.queue).orders;
        let is_withdrawable = |order: &Order| {
            order.is_deferred_record()
                && matches!(order, Order::Record(record) if record.live.is_none() == of_new_shell)
        };
        orders.back().is_some_and(is_withdrawable) && orders.pop_back().is_some()
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

    /// Returns the next order, unless it is a deferred record.
    pub(super) fn next_immediate(&self) -> Option<Order> {
        let orders = &mut lock(&self.0).orders;
        let is_immediate = |order: &Order| !order.is_deferred_record();
        orders
            .front()
            .is_some_and(is_immediate)
            .then(|| orders.pop_front())?
    }

    /// True if the next order is a deferred record.
    pub(super) fn defers_record(&self) -> bool {
        let queue = lock(&self.0);
        queue.orders.front().is_some_and(Order::is_deferred_record)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::event::{PollFd, PollFlags, Timespec, poll};

    fn is_awake(wakeups: &PipeReader) -> bool {
        let mut fds = [PollFd::new(wakeups, PollFlags::IN)];
        poll(&mut fds, Some(&Timespec::default())).is_ok_and(|ready| ready > 0)
    }

    fn record(live: Option<LiveProcesses>) -> Order {
        Order::Record(RecordOrder {
            set: "/set".into(),
            live,
            started: None,
        })
    }

    #[test]
    fn deferred_order_does_not_wake_and_can_be_withdrawn() {
        let (orders, receiver, wakeups) = orders().unwrap();
        assert!(!orders.withdraw(true));
        orders.send_deferred(Order::Another);
        orders.send_deferred(record(None));
        assert!(!is_awake(&wakeups) && !receiver.defers_record());
        assert!(!orders.withdraw(false));
        assert!(orders.withdraw(true) && !orders.withdraw(true));
        assert!(matches!(receiver.next_immediate(), Some(Order::Another)));
        orders.send_deferred(record(Some(LiveProcesses::default())));
        assert!(receiver.defers_record() && receiver.next_immediate().is_none());
        assert!(!orders.withdraw(true) && orders.withdraw(false));
        orders.send_deferred(record(None));
        assert!(matches!(receiver.next(false), Some(Order::Record(..))));
        assert!(receiver.next(false).is_none());
        assert!(!orders.withdraw(true));
        orders.send(Order::Conclude(LiveProcesses::default()));
        assert!(is_awake(&wakeups));
    }

    #[test]
    fn deferred_order_wakes_thread_that_holds_a_call() {
        let (orders, receiver, wakeups) = orders().unwrap();
        assert!(receiver.next(true).is_none());
        orders.send_deferred(record(None));
        assert!(is_awake(&wakeups));
    }
}
