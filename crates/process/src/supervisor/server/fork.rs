//! A supervisor that is a fork of its host. Saves a host that makes a single call the time to start
//! another program.

use super::entry::{exit, supervise};
use super::this_program::SupervisorProgram;
use crate::hide_memory;
use crate::signal::handled_signals;
use crate::supervisor::{OWN_VARIABLE_PREFIX, PROCESS_NAME};
use agent_bash_os::read_proc;
use rustix::process::{DumpableBehavior, Pid, set_dumpable_behavior};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::os::unix::process::CommandExt;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Signals for which Rust's runtime has handlers, which report a stack overflow.
const HANDLED_BY_RUST: [i32; 2] = [signal_hook::consts::SIGSEGV, signal_hook::consts::SIGBUS];

/// Forks this process, which `program` starts, into a supervisor that serves over `socket`. `env`
/// are the variables that the supervisor keeps.
///
/// # Errors
/// This process has several threads, or has signal handlers, which would run in the fork; or the
/// kernel's error. No supervisor was started then.
pub(in crate::supervisor) fn fork(
    program: &SupervisorProgram,
    env: &BTreeMap<OsString, OsString>,
    socket: OwnedFd,
) -> io::Result<Pid> {
    let handled = handled_signals().ok_or(io::ErrorKind::Unsupported)?;
    if handled
        .iter()
        .any(|signal| !HANDLED_BY_RUST.contains(signal))
    {
        return Err(io::Error::other("this process handles signals"));
    }
    if let Some(child) = agent_bash_notify::fork(socket.as_raw_fd())? {
        return Pid::from_raw(child).ok_or(io::ErrorKind::InvalidData.into());
    }
    if hide_host().is_none() {
        // The host cannot be hidden, so this process executes the program.
        exit(Err(program.command(env, socket).exec()));
    }
    // A panic must not unwind into the host's code.
    let serve = || supervise(socket, program.keep_directory, program.in_session);
    let served = catch_unwind(AssertUnwindSafe(serve));
    exit(served.unwrap_or(Err(io::ErrorKind::Other.into())))
}

/// Replaces the arguments of the host, which `ps` shows and `pkill -f` matches, removes its
/// environment except this project's variables, and hides its memory. `None` if the system does not
/// allow that.
fn hide_host() -> Option<()> {
    // A process may write to its own `/proc/self/mem` only while it is dumpable.
    let _ = set_dumpable_behavior(DumpableBehavior::Dumpable);
    let replaced = replace_arguments_and_environment();
    hide_memory();
    replaced
}

fn replace_arguments_and_environment() -> Option<()> {
    /// The index of `arg_start` after the name in parentheses; `arg_end`, `env_start` and `env_end`
    /// follow (`proc_pid_stat(5)`, fields 48 to 51).
    const ARG_START_FIELD: usize = 45;
    let stat = read_proc("/proc/self/stat").ok()?;
    let stat = String::from_utf8_lossy(&stat);
    let (_, fields) = stat.rsplit_once(") ")?;
    let mut fields = fields.split_ascii_whitespace().skip(ARG_START_FIELD);
    let mut next = || fields.next()?.parse::<u64>().ok();
    let (arguments_at, arguments_end) = (next()?, next()?);
    let (environment_at, environment_end) = (next()?, next()?);
    let length = |from: u64, to: u64| usize::try_from(to.checked_sub(from)?).ok();
    let mut arguments = vec![0; length(arguments_at, arguments_end)?];
    let name = PROCESS_NAME.as_bytes();
    // The last byte must stay zero.
    let shown_length = name.len().min(arguments.len().checked_sub(1)?);
    arguments[..shown_length].copy_from_slice(&name[..shown_length]);
    let mut environment = read_proc("/proc/self/environ").ok()?;
    if environment.len() != length(environment_at, environment_end)? {
        return None;
    }
    // Programs ignore empty entries.
    for variable in environment.split_mut(|byte| *byte == 0) {
        if !variable.starts_with(OWN_VARIABLE_PREFIX) {
            variable.fill(0);
        }
    }
    let memory = OpenOptions::new().write(true).open("/proc/self/mem").ok()?;
    memory.write_all_at(&arguments, arguments_at).ok()?;
    memory.write_all_at(&environment, environment_at).ok()
}
