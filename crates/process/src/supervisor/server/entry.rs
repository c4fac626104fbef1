//! Turns a process with the supervisor's name into a supervisor, at the top of `main` and before
//! any threads. Removes inherited descriptors and signal settings, starts a process session,
//! becomes a subreaper.

use super::direct::InheritedState;
use super::launch::ShellStarter;
use super::serve::Server;
use super::tree::CallProcesses;
use crate::ignored_signals;
use crate::proc_scan;
use crate::supervisor::channel::{self, SendMode};
use crate::supervisor::protocol::Event;
use crate::supervisor::{IN_SESSION_ARGUMENT, PROCESS_NAME, SAME_DIRECTORY_ARGUMENT};
use crate::system_error::system_error;
use rustix::fs::{Mode, OFlags};
use signal_hook::consts::{SIGALRM, SIGCHLD, SIGHUP, SIGINT, SIGPIPE, SIGQUIT, SIGTERM};
use signal_hook::consts::{SIGIO, SIGPROF, SIGVTALRM, SIGXCPU, SIGXFSZ};
use signal_hook::consts::{SIGTSTP, SIGTTIN, SIGTTOU, SIGUSR1, SIGUSR2};
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

/// Signals that must not kill a supervisor: signals that users or scripts send to whole groups,
/// signals of timers and descriptors, and signals of resource limits inherited from the host (a
/// write beyond a limit then fails as on a full disk). The signals get handlers that do nothing:
/// unlike ignored signals, handlers are not inherited by shells.
const SIGNALS_WITH_EMPTY_HANDLER: [i32; 15] = [
    SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGALRM, SIGUSR1, SIGUSR2, SIGTSTP, SIGTTIN, SIGTTOU,
    SIGXCPU, SIGXFSZ, SIGVTALRM, SIGPROF, SIGIO,
];

/// Must be called first in `main`, before any thread is started.
///
/// In a process that was started as a supervisor, this function serves and then exits. In any other
/// process it only returns the proof of the call.
pub fn init() -> Token {
    // The same program is also the launcher of sandboxes, and the askpass program of calls.
    agent_bash_sandbox::init();
    crate::askpass::exit_if_started_by_link();
    let mut args = std::env::args_os();
    if args.next().is_some_and(|name| name == PROCESS_NAME) {
        let words: Vec<OsString> = args.collect();
        let has = |word: &str| words.iter().any(|given| given == word);
        let stdin = io::stdin();
        let served = rustix::io::fcntl_dupfd_cloexec(&stdin, 3)
            .map_err(io::Error::from)
            .and_then(|socket| {
                supervise(
                    socket,
                    has(SAME_DIRECTORY_ARGUMENT),
                    has(IN_SESSION_ARGUMENT),
                )
            });
        exit(served);
    }
    Token(())
}

/// Exits with 0, or with the number of the system's error.
pub(super) fn exit(served: io::Result<()>) -> ! {
    std::process::exit(match served {
        Ok(()) => 0,
        Err(error) => error.raw_os_error().unwrap_or(1),
    })
}

/// Serves over `socket`. With `same_directory`, the process stays in its working directory. With
/// `in_session`, the process stays in its process session.
pub(super) fn supervise(socket: OwnedFd, same_directory: bool, in_session: bool) -> io::Result<()> {
    if !same_directory {
        // The supervisor must not keep the host's directory busy. The host does not use
        // `Command::current_dir`: in a static program `Command` would then fork, which copies the
        // host's page tables.
        rustix::process::chdir("/")?;
    }
    let inherited = if in_session {
        InheritedState::take()?
    } else {
        drop_inherited_state(&socket);
        InheritedState::nothing()
    };
    let null = rustix::fs::open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?;
    rustix::stdio::dup2_stdin(&null)?;
    rustix::stdio::dup2_stdout(&null)?;
    rustix::stdio::dup2_stderr(&null)?;
    rustix::io::ioctl_fionbio(&socket, true)?;
    if in_session {
        // A signal to the host's process group must not reach the supervisor.
        rustix::process::setpgid(None, None)?;
    } else {
        // Only fails if this process already is a session leader.
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
            channel::send(socket.as_fd(), &event, &[], SendMode::Blocking)?;
            Err(error)
        }
    }
}

/// Sets up this process as a supervisor: a subreaper that watches its children and withstands
/// signals. With `in_session`, signals that the host ignores stay ignored, in this process and in
/// its shell.
fn prepare(in_session: bool) -> io::Result<CallProcesses> {
    become_subreaper()
        .map_err(|error| system_error("adopting orphans (PR_SET_CHILD_SUBREAPER)", error))?;
    let children = watch_children().map_err(|error| system_error("handling SIGCHLD", error))?;
    let ignored = if in_session {
        signals_ignored_by_host()
    } else {
        Vec::new()
    };
    for signal in SIGNALS_WITH_EMPTY_HANDLER {
        if ignored.contains(&signal) {
            continue;
        }
        signal_hook::flag::register(signal, Arc::new(AtomicBool::new(false)))
            .map_err(|error| system_error("handling signals", error))?;
    }
    Ok(CallProcesses::Descendants {
        children,
        excluded: BTreeSet::new(),
        foreign_session: None,
    })
}

#[cfg(target_os = "linux")]
fn become_subreaper() -> io::Result<()> {
    // At most 15 characters; `ps -o comm` would show "exe" otherwise.
    let _ = rustix::thread::set_name(c"agent-bash-sup");
    // Some kernels (gVisor) reject other numbers than 1.
    rustix::process::set_child_subreaper(Some(rustix::process::Pid::INIT))?;
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn become_subreaper() -> io::Result<()> {
    Ok(())
}

/// Returns the read end of a socket pair, which receives a byte for every SIGCHLD.
fn watch_children() -> io::Result<UnixStream> {
    let (read, write) = UnixStream::pair()?;
    read.set_nonblocking(true)?;
    signal_hook::low_level::pipe::register(SIGCHLD, write)?;
    Ok(read)
}

/// Removes state that the host passed on by mistake and that shells would inherit: descriptors
/// without close-on-exec, ignored signals, a signal mask. Requires that this process has no other
/// threads, and has opened only the socket.
fn drop_inherited_state(socket: &OwnedFd) {
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

/// Signals that are ignored although the host does not ignore them. Rust's runtime ignores SIGPIPE,
/// and `Command` resets it. glibc reserves 32 and 33, and its `posix_spawn` leaves them ignored in
/// every child.
const IGNORED_BY_RUNTIME: [i32; 3] = [SIGPIPE, 32, 33];

/// Signals that this process ignores because its host did.
fn signals_ignored_by_host() -> Vec<i32> {
    let mut ignored = ignored_signals();
    ignored.retain(|signal| !IGNORED_BY_RUNTIME.contains(signal));
    ignored
}
