//! Starting a shell that is watched from its first instruction on.
//!
//! A filter of system calls belongs to a thread, and to what that starts: one that lives for nothing else takes the filter
//! upon itself and starts the shell. It takes no launcher for that, which would be executed before the shell is.

use super::{Tracer, memory};
use crate::supervisor::server::confined::NotLaunched;
use crate::supervisor::server::shell_command::ShellCommand;
use agent_bash_sandbox::{BoxError, trace};
use nix::errno::Errno;
use rustix::process::{Pid, Signal, kill_process};
use std::fmt::Display;
use std::os::fd::OwnedFd;
use std::thread::{Builder, scope};

/// Its stack. It makes a few system calls, and an argument list.
const STACK: usize = 256 * 1024;

/// Starts it as [`ShellCommand::spawn`] does. Its pid, and by what it is watched.
pub(in crate::supervisor::server) fn start(
    command: &ShellCommand<'_>,
    standard: [OwnedFd; 3],
    inherited: &[&OwnedFd],
) -> Result<(i32, Tracer), NotLaunched> {
    let (listener, pid) = scope(|scope| {
        let start = move || {
            let listener = trace::begin().map_err(|error| unwatched(&error))?;
            // From here on until the shell runs, nothing may be done that waits: nobody listens yet.
            let pid = command.spawn(standard, inherited)?;
            Ok::<_, NotLaunched>((listener, pid))
        };
        let thread = Builder::new().name("agent-bash-start".to_owned());
        let thread = thread.stack_size(STACK).spawn_scoped(scope, start);
        let started = thread.map_err(|error| unwatched(&error))?.join();
        started.unwrap_or_else(|_| Err(unwatched(&"starting it failed")))
    })?;
    let tracer = may_read(pid).and_then(|()| {
        let (apart, hidden) = (Vec::new(), Vec::new());
        Tracer::start(listener, apart, hidden).map_err(|error| unwatched(&error))
    });
    if let (Err(_), Some(pid)) = (&tracer, Pid::from_raw(pid)) {
        // It has not been reaped, so the pid is still its own. Its calls would fail.
        let _ = kill_process(pid, Signal::KILL);
    }
    Ok((pid, tracer?))
}

/// Whether its memory can be read, in which the paths are: without that, every change would be unknown.
fn may_read(pid: i32) -> Result<(), NotLaunched> {
    match memory::text(pid, 0) {
        Err(error @ (Errno::EPERM | Errno::EACCES | Errno::ENOSYS)) => Err(unwatched(&error)),
        // Nothing is there.
        _ => Ok(()),
    }
}

fn unwatched(reason: &dyn Display) -> NotLaunched {
    BoxError::Unwatched(reason.to_string()).into()
}
