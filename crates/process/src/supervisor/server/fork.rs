//! A supervisor that is a fork of its host: spares a host that makes a single call the start of
//! another program.

use super::entry::{exit, signals_of_this_process, supervise};
use crate::supervisor::PROCESS_NAME;
use agent_bash_os::read_proc;
use rustix::process::{DumpableBehavior, Pid, set_dumpable_behavior};
use std::fs::OpenOptions;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Signals for which Rust's runtime has handlers, which report a stack overflow.
const HANDLED_BY_RUST: [i32; 2] = [signal_hook::consts::SIGSEGV, signal_hook::consts::SIGBUS];

/// Forks this process into a supervisor that serves over `socket`.
///
/// # Errors
/// This process has several threads, or handlers of signals, which would act on its objects; or the
/// kernel's reason. Nothing has happened then.
pub(in crate::supervisor) fn fork(
    socket: OwnedFd,
    here: bool,
    in_session: bool,
) -> io::Result<Pid> {
    let handled = signals_of_this_process("SigCgt:").ok_or(io::ErrorKind::Unsupported)?;
    if handled.iter().any(|it| !HANDLED_BY_RUST.contains(it)) {
        return Err(io::Error::other("this process handles signals"));
    }
    if let Some(child) = agent_bash_notify::fork(socket.as_raw_fd())? {
        return Pid::from_raw(child).ok_or(io::ErrorKind::InvalidData.into());
    }
    // A panic must not unwind into the host's code.
    let served = catch_unwind(AssertUnwindSafe(|| {
        hide_host();
        supervise(socket, here, in_session)
    }));
    exit(served.unwrap_or(Err(io::ErrorKind::Other.into())))
}

/// Replaces the arguments of the host, which `ps` shows and `pkill -f` matches, and hides the
/// memory with the host's secrets. If the arguments cannot be replaced, they stay.
fn hide_host() {
    // Only the owner of its own memory may write there.
    let _ = set_dumpable_behavior(DumpableBehavior::Dumpable);
    let _ = replace_arguments();
    let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
}

fn replace_arguments() -> Option<()> {
    /// The position of `arg_start`, which `arg_end` follows, behind the name in parentheses
    /// (`proc_pid_stat(5)`, fields 48 and 49).
    const ARG_START_FIELD: usize = 45;
    let shown = read_proc("/proc/self/stat").ok()?;
    let shown = String::from_utf8_lossy(&shown);
    let (_, fields) = shown.rsplit_once(") ")?;
    let mut fields = fields.split(' ').skip(ARG_START_FIELD);
    let start: u64 = fields.next()?.parse().ok()?;
    let end: u64 = fields.next()?.parse().ok()?;
    let mut arguments = vec![0; usize::try_from(end.checked_sub(start)?).ok()?];
    let name = PROCESS_NAME.as_bytes();
    // The last byte must stay zero.
    let length = name.len().min(arguments.len().checked_sub(1)?);
    arguments[..length].copy_from_slice(&name[..length]);
    let memory = OpenOptions::new().write(true).open("/proc/self/mem").ok()?;
    memory.write_all_at(&arguments, start).ok()
}
