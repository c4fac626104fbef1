//! A server whose client never reads.

use crate::{poll, procfs};
use anyhow::{Context, Result, ensure};
use rustix::process::{Pid, Signal, kill_process};
use std::process::{Child, ChildStdin};
use std::thread::JoinHandle;
use std::time::Duration;

/// Memory is stable if it grows by less than this within [`STABLE_TIME`].
const MAX_GROWTH_KIB: u64 = 1024;
const STABLE_TIME: Duration = Duration::from_secs(2);

/// Waits until the memory of `child` is stable while `writer` still has requests for it: the child
/// then applies backpressure. Then ends the child with SIGTERM.
///
/// # Errors
/// The child uses more than `bound` KiB, does not become stable within `patience`, has read
/// everything, or does not exit cleanly.
pub fn assert_memory_stable_and_end(
    mut child: Child,
    writer: JoinHandle<ChildStdin>,
    bound: u64,
    patience: Duration,
) -> Result<()> {
    let full = poll::until(patience, || {
        let first = procfs::resident(child.id()).ok()?;
        let grows = poll::until(STABLE_TIME, || {
            (procfs::resident(child.id()).ok()? > first + MAX_GROWTH_KIB).then_some(())
        });
        grows.is_none().then_some(first)
    });
    let full = full.context("its memory does not come to rest")?;
    ensure!(full < bound, "{full} KiB");
    ensure!(
        !writer.is_finished(),
        "all was read although nothing is written"
    );
    kill_process(Pid::from_child(&child), Signal::TERM)?;
    let ended = poll::until(patience, || child.try_wait().ok().flatten());
    let status = ended.context("it does not end")?;
    ensure!(status.success(), "{status}");
    drop(child);
    drop(writer.join());
    Ok(())
}
