//! The launcher, which is recognised by its name at the start of `main`, before any thread starts.
//! The launcher reads its order, restricts itself, verifies the restrictions, reports, and executes
//! the program with the same pid.

use crate::error::SandboxError;
use crate::networks::NetworkEntrance;
use crate::plan::Order;
#[cfg(target_os = "linux")]
use crate::plan::TraceScope;
use crate::report::LauncherMessage;
use crate::restricted::Restricted;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{IoSlice, Read, Seek, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

/// The `argv[0]` of a launcher.
pub const PROCESS_NAME: &str = "agent-bash-launcher";

/// The exit status if nothing was started.
const FAILED_EXIT_CODE: i32 = 126;

/// Must be called at the start of `main`, before any thread starts. In a launcher process, this
/// function does not return. In any other process, it does nothing.
pub fn init() {
    let mut args = std::env::args_os();
    if args.next().is_some_and(|name| name == PROCESS_NAME) {
        std::process::exit(launch(args));
    }
}

/// Runs the launcher. `args` are the descriptors of the order and of the report socket, the
/// program, its `argv[0]` and its arguments.
fn launch(mut args: impl Iterator<Item = OsString>) -> i32 {
    let mut descriptor = || take_over_descriptor(&args.next()?);
    let (Some(order), Some(report)) = (descriptor(), descriptor()) else {
        return FAILED_EXIT_CODE;
    };
    let mut report = UnixStream::from(report);
    let Err(error) = enter_sandbox(File::from(order), &mut report, args);
    let message = match error {
        SandboxError::NoTrial(reason) => LauncherMessage::NoTrial(reason),
        SandboxError::Lacks { what } => LauncherMessage::Lacks(what.into_owned()),
        other => LauncherMessage::Failed(other.to_string()),
    };
    // If this fails, the report has no reader.
    let _ = send(&mut report, &message);
    FAILED_EXIT_CODE
}

fn enter_sandbox(
    order: File,
    report: &mut UnixStream,
    mut args: impl Iterator<Item = OsString>,
) -> Result<std::convert::Infallible, SandboxError> {
    let order = read_order(order)?;
    let entrance = entrance(&order)?;
    let socket = entrance.iter().map(|entrance| entrance.socket.as_raw_fd());
    let own = socket.chain([report.as_raw_fd()]);
    close_all_but(
        &order
            .inherited
            .iter()
            .copied()
            .chain(own)
            .collect::<Vec<_>>(),
    );
    let program = args
        .next()
        .map(PathBuf::from)
        .ok_or(SandboxError::Start("no program is named"))?;
    let name = args.next().ok_or(SandboxError::Start("no name is given"))?;
    let restricted = restrict(&order, entrance.as_ref())?;
    start_trace(&order, report, restricted.socket_table.as_ref())?;
    send(report, &LauncherMessage::Ready(restricted.report))
        .map_err(SandboxError::step("reporting"))?;
    #[expect(
        clippy::disallowed_methods,
        reason = "this process becomes the program; no process is started"
    )]
    let mut command = Command::new(&program);
    command.arg0(name).args(args);
    for (name, value) in &order.env {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    let error = command.exec();
    Err(SandboxError::Exec { program, error })
}

/// Starts the trace for the reader of the report. This is the last step, so that the launcher's own
/// changes are not traced.
#[cfg(target_os = "linux")]
fn start_trace(
    order: &Order,
    report: &mut UnixStream,
    socket_table: Option<&OwnedFd>,
) -> Result<(), SandboxError> {
    let guard_scope = socket_table.map(|_| TraceScope::Connections);
    let Some(scope) = order.scope().or(guard_scope) else {
        return Ok(());
    };
    let trace = crate::trace::begin(scope);
    match (&trace, socket_table) {
        (Ok(_), Some(table)) => {
            send_with_descriptor(report, &LauncherMessage::SocketTable, table)
                .map_err(SandboxError::step("reporting"))?;
        }
        (Err(_), Some(_)) => crate::base::seccomp::refuse_unix_sockets()?,
        (_, None) => {}
    }
    let sent_result = match &trace {
        Ok(listener) => send_with_descriptor(report, &LauncherMessage::Traced, listener),
        Err(error) => send(report, &LauncherMessage::Untraced(error.to_string())),
    };
    sent_result.map_err(SandboxError::step("reporting"))?;
    if trace.is_ok() {
        crate::trace::wait_to_be_traced(scope);
    }
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn start_trace(order: &Order, _: &mut UnixStream, _: Option<&OwnedFd>) -> Result<(), SandboxError> {
    if order.trace {
        return Err(SandboxError::missing_facility("Linux"));
    }
    Ok(())
}

#[cfg(target_os = "linux")]
fn restrict(order: &Order, entrance: Option<&NetworkEntrance>) -> Result<Restricted, SandboxError> {
    crate::restrict::restrict(order, entrance)
}

/// Returns the descriptor for entering a shared network, which the program does not inherit.
#[cfg(target_os = "linux")]
fn entrance(order: &Order) -> Result<Option<NetworkEntrance>, SandboxError> {
    let Some((role, number)) = order.network else {
        return Ok(None);
    };
    let socket = agent_bash_notify::inherited(number)
        .map_err(SandboxError::step("taking over the network's socket"))?;
    Ok(Some(NetworkEntrance { role, socket }))
}

#[cfg(not(target_os = "linux"))]
fn entrance(_: &Order) -> Result<Option<NetworkEntrance>, SandboxError> {
    Ok(None)
}

#[cfg(not(target_os = "linux"))]
fn restrict(_: &Order, _: Option<&NetworkEntrance>) -> Result<Restricted, SandboxError> {
    Err(SandboxError::missing_facility("Linux"))
}

/// Closes all other descriptors: a leaked one could be used to leave the sandbox.
fn close_all_but(needed: &[i32]) {
    let Ok(entries) = std::fs::read_dir("/proc/self/fd") else {
        return;
    };
    // The list includes the directory's own descriptor, which is already closed at this point.
    let open: Vec<i32> = entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .collect();
    for number in open {
        if number > 2 && !needed.contains(&number) {
            let _ = nix::unistd::close(number);
        }
    }
}

fn read_order(mut file: File) -> Result<Order, SandboxError> {
    let mut text = Vec::new();
    // The file offset is shared with the writer, so it is at the end of the file.
    file.rewind()
        .map_err(SandboxError::step("reading the order"))?;
    file.read_to_end(&mut text)
        .map_err(SandboxError::step("reading the order"))?;
    serde_json::from_slice(&text).map_err(SandboxError::step("reading the order"))
}

fn send(report: &mut UnixStream, message: &LauncherMessage) -> std::io::Result<()> {
    report.write_all(&line(message)?)
}

/// Sends a message with a descriptor.
#[cfg(target_os = "linux")]
fn send_with_descriptor(
    report: &UnixStream,
    message: &LauncherMessage,
    sent: &OwnedFd,
) -> std::io::Result<()> {
    use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
    let line = line(message)?;
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    let sent = [sent.as_fd()];
    ancillary.push(SendAncillaryMessage::ScmRights(&sent));
    // Less than a page is written to an empty socket completely.
    sendmsg(
        report,
        &[IoSlice::new(&line)],
        &mut ancillary,
        SendFlags::NOSIGNAL,
    )?;
    Ok(())
}

fn line(message: &LauncherMessage) -> std::io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    Ok(line)
}

/// Returns the inherited descriptor with this number, so that the program does not inherit it.
#[cfg(target_os = "linux")]
fn take_over_descriptor(number: &OsStr) -> Option<OwnedFd> {
    let number: i32 = number.to_str()?.parse().ok().filter(|fd| *fd > 2)?;
    let owned = agent_bash_notify::inherited(number).ok()?;
    nix::unistd::close(number).ok()?;
    Some(owned)
}

#[cfg(not(target_os = "linux"))]
fn take_over_descriptor(_: &OsStr) -> Option<OwnedFd> {
    None
}
