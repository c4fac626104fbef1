//! Starting a shell: its pipes, the file its script will be in, its own process group.

use super::protocol::ShellStart;
use crate::proc_fs;
use rustix::pipe::{PipeFlags, pipe_with};
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// Stands in an argument for the number of the script's descriptor.
const SCRIPT_FD: &str = "{script_fd}";

/// A shell that was started, and the host's ends of what it holds.
#[derive(Debug)]
pub(super) struct Launched {
    pub(super) pid: i32,
    pub(super) script_fd: i32,
    pub(super) stdin_fd: Option<i32>,
    /// Script file, control pipe, stdout, stderr: in the order in which they are sent.
    pub(super) host_ends: [OwnedFd; 4],
    /// Inodes of stdout and stderr, by which a survivor is known to hold the output.
    pub(super) pipes: [u64; 2],
    /// The shell's last argument: by it forks of the shell are known.
    pub(super) boot: Vec<u8>,
}

/// Starts a shell. `stdin` is for the script, not for the shell: that one reads its control pipe.
pub(super) fn launch(start: &ShellStart, stdin: Option<OwnedFd>) -> io::Result<Launched> {
    // Inherited on purpose, as is the script's stdin; everything else is close-on-exec. There are no other threads
    // that could start a process meanwhile.
    let script = script_file()?;
    let stdin = stdin.map(rustix::io::dup).transpose()?;
    let (control_read, control) = pipe_with(PipeFlags::CLOEXEC)?;
    let (stdout, stdout_write) = pipe_with(PipeFlags::CLOEXEC)?;
    let (stderr, stderr_write) = pipe_with(PipeFlags::CLOEXEC)?;
    let pipes = [&stdout, &stderr].map(|pipe| inode_of(pipe).unwrap_or(0));

    let script_fd = script.as_raw_fd();
    let args: Vec<OsString> = start
        .args
        .iter()
        .map(|argument| with_number(argument, script_fd))
        .collect();
    #[expect(
        clippy::disallowed_methods,
        reason = "this is where shells are started"
    )]
    let mut command = Command::new(&start.program);
    command
        .arg0(&start.arg0)
        .args(&args)
        .stdin(Stdio::from(control_read))
        .stdout(Stdio::from(stdout_write))
        .stderr(Stdio::from(stderr_write))
        .process_group(0);
    for (name, value) in &start.env_changes {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    let pid = command.spawn()?.id();
    Ok(Launched {
        pid: i32::try_from(pid).map_err(io::Error::other)?,
        script_fd,
        stdin_fd: stdin.as_ref().map(AsRawFd::as_raw_fd),
        host_ends: [script, control, stdout, stderr],
        pipes,
        boot: args
            .last()
            .map(|argument| argument.as_bytes().to_vec())
            .unwrap_or_default(),
    })
}

fn inode_of(pipe: &OwnedFd) -> Option<u64> {
    proc_fs::inode(&PathBuf::from(format!(
        "/proc/self/fd/{}",
        pipe.as_raw_fd()
    )))
}

fn with_number(argument: &OsStr, number: i32) -> OsString {
    let mut bytes = argument.as_bytes().to_vec();
    let number = number.to_string();
    while let Some(at) = bytes
        .windows(SCRIPT_FD.len())
        .position(|part| part == SCRIPT_FD.as_bytes())
    {
        bytes.splice(at..at + SCRIPT_FD.len(), number.bytes());
    }
    OsString::from_vec(bytes)
}

/// An empty file without a name that the shell inherits.
#[cfg(target_os = "linux")]
fn script_file() -> io::Result<OwnedFd> {
    Ok(rustix::fs::memfd_create(
        "agent-bash-script",
        rustix::fs::MemfdFlags::empty(),
    )?)
}

#[cfg(not(target_os = "linux"))]
fn script_file() -> io::Result<OwnedFd> {
    use rustix::fs::{Mode, OFlags};
    let path = std::env::temp_dir().join(format!(".agent-bash-script-{}", std::process::id()));
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW;
    let file = rustix::fs::open(&path, flags, Mode::RUSR | Mode::WUSR)?;
    rustix::fs::unlink(&path)?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scripts_number_is_put_into_arguments() {
        let text = with_number(OsStr::new("read -u {script_fd}; exec {script_fd}<&-"), 7);
        assert_eq!(text, "read -u 7; exec 7<&-");
    }
}
