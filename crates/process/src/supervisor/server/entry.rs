//! Becoming a supervisor: recognised by its name at the top of `main`, before any threads; undoes
//! inherited mistakes; starts a session; becomes a subreaper.

use super::direct::InheritedState;
use super::launch::ShellStarter;
use super::serve::Server;
use super::tree::CallProcesses;
use crate::ignored_signals;
use crate::proc_scan;
use crate::refused::refused;
use crate::supervisor::channel::{self, SendMode};
use crate::supervisor::protocol::Event;
use crate::supervisor::{IN_SESSION, PROCESS_NAME, SAME_DIRECTORY_ARGUMENT};
use rustix::fs::{Mode, OFlags};
use signal_hook::consts::{SIGALRM, SIGCHLD, SIGHUP, SIGINT, SIGPIPE, SIGQUIT, SIGTERM};
use signal_hook::consts::{SIGTSTP, SIGTTIN, SIGTTOU, SIGUSR1, SIGUSR2, SIGXCPU, SIGXFSZ};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Proof that this program calls [`init`] at the top of its `main`, so that it may be re-executed
/// as a supervisor.
#[derive(Debug, Clone)]
pub struct Token(());

/// Signals that must not kill a supervisor: those that users or scripts send to whole groups, and
/// those of resource limits inherited from the host (a write beyond a limit then fails as on a full
/// disk). They get handlers that do nothing: unlike ignored signals, handlers are not inherited by
/// the shells it starts.
const IGNORED_SIGNALS: [i32; 12] = [
    SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGALRM, SIGUSR1, SIGUSR2, SIGTSTP, SIGTTIN, SIGTTOU,
    SIGXCPU, SIGXFSZ,
];

/// Must be called first in `main`, before any thread is started.
///
/// In a process that was started as a supervisor it does not return: it serves, then exits. In any
/// other it does nothing and returns the proof that it was called.
pub fn init() -> Token {
    // The same program is also the launcher of boxes.
    agent_bash_sandbox::init();
    let mut args = std::env::args_os();
    if args.next().is_some_and(|name| name == PROCESS_NAME) {
        let words: Vec<OsString> = args.collect();
        let has = |word: &str| words.iter().any(|it| it == word);
        let stdin = io::stdin();
        let served = rustix::io::fcntl_dupfd_cloexec(&stdin, 3)
            .map_err(io::Error::from)
            .and_then(|socket| supervise(socket, has(SAME_DIRECTORY_ARGUMENT), has(IN_SESSION)));
        exit(served);
    }
    Token(())
}

/// Ends a supervisor.
pub(super) fn exit(served: io::Result<()>) -> ! {
    std::process::exit(match served {
        Ok(()) => 0,
        Err(error) => error.raw_os_error().unwrap_or(1),
    })
}

/// Serves over `socket`. `here`: stays in its working directory. `in_session`: stays in its process
/// session.
pub(super) fn supervise(socket: OwnedFd, here: bool, in_session: bool) -> io::Result<()> {
    if !here {
        // The supervisor must not keep the host's directory busy. The host does not use
        // `Command::current_dir`: in a static program `Command` would then fork, which copies the
        // host's page tables.
        rustix::process::chdir("/")?;
    }
    let inherited = if in_session {
        InheritedState::take()?
    } else {
        shed_inherited_faults(&socket);
        InheritedState::nothing()
    };
    let null = rustix::fs::open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?;
    rustix::stdio::dup2_stdin(&null)?;
    rustix::stdio::dup2_stdout(&null)?;
    rustix::stdio::dup2_stderr(&null)?;
    rustix::io::ioctl_fionbio(&socket, true)?;
    if in_session {
        // A signal to the group of its host does not reach it.
        rustix::process::setpgid(None, None)?;
    } else {
        // Only fails if it is a session leader already.
        let _ = rustix::process::setsid();
    }
    match prepare(in_session) {
        Ok(tree) => {
            Server::new(socket, tree, ShellStarter::Child)
                .passing_on(inherited)
                .run();
            Ok(())
        }
        Err(error) => {
            let reason = error.to_string();
            let event = Event::CannotServe { reason };
            channel::send(socket.as_fd(), &event, &[], SendMode::ForRoom)?;
            Err(error)
        }
    }
}

/// Sets up this process as a supervisor: a subreaper that watches its children and withstands
/// signals. `in_session`: ignored signals stay ignored, here and in the shell.
fn prepare(in_session: bool) -> io::Result<CallProcesses> {
    become_subreaper()
        .map_err(|error| refused("adopting orphans (PR_SET_CHILD_SUBREAPER)", error))?;
    let children = watch_children().map_err(|error| refused("handling SIGCHLD", error))?;
    let ignored = if in_session {
        signals_ignored_by_host()
    } else {
        Vec::new()
    };
    for signal in IGNORED_SIGNALS {
        if ignored.contains(&signal) {
            continue;
        }
        signal_hook::flag::register(signal, Arc::new(AtomicBool::new(false)))
            .map_err(|error| refused("handling signals", error))?;
    }
    Ok(CallProcesses::Below {
        children,
        spared: BTreeSet::new(),
        foreign_group: None,
    })
}

#[cfg(target_os = "linux")]
fn become_subreaper() -> io::Result<()> {
    // At most 15 characters; `ps -o comm` would show "exe" otherwise.
    let _ = rustix::thread::set_name(c"agent-bash-sup");
    // Any other number than 1 is an error for some kernels (gVisor).
    rustix::process::set_child_subreaper(Some(rustix::process::Pid::INIT))?;
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn become_subreaper() -> io::Result<()> {
    Ok(())
}

/// The read end of a socket pair that receives a byte for every SIGCHLD.
fn watch_children() -> io::Result<UnixStream> {
    let (read, write) = UnixStream::pair()?;
    read.set_nonblocking(true)?;
    signal_hook::low_level::pipe::register(SIGCHLD, write)?;
    Ok(read)
}

/// Undoes what the host passed on by mistake and shells would inherit: descriptors without
/// close-on-exec, ignored signals, a signal mask. No other threads exist yet, and we have opened
/// only the socket.
fn shed_inherited_faults(socket: &OwnedFd) {
    for fd in proc_scan::own_descriptors() {
        if fd != socket.as_raw_fd() {
            let _ = nix::unistd::close(fd);
        }
    }
    // A signal with a handler is reset to its default in programs started from here; an ignored one
    // would stay ignored.
    for signal in signals_ignored_by_host() {
        if !signal_hook::consts::FORBIDDEN.contains(&signal) {
            let _ = signal_hook::flag::register(signal, Arc::new(AtomicBool::new(false)));
        }
    }
    let _ = nix::sys::signal::SigSet::empty().thread_set_mask();
}

/// Ignored signals that the host did not set: Rust's runtime ignores SIGPIPE, and `Command` resets
/// it. 32 and 33 are reserved by glibc, whose `posix_spawn` leaves them ignored in every child;
/// programs cannot set them.
const NO_FAULT: [i32; 3] = [SIGPIPE, 32, 33];

/// Signals that this process ignores because its host did.
fn signals_ignored_by_host() -> Vec<i32> {
    let mut ignored = ignored_signals();
    ignored.retain(|signal| !NO_FAULT.contains(signal));
    ignored
}
