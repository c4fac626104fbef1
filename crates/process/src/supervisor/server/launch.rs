//! Starts a shell: its pipes, the file for its script, its process group.

use super::{leader, limits};
use crate::platform::{pipe, unnamed_file};
use crate::proc_fs;
use crate::refused::explained;
use crate::supervisor::protocol::ShellStart;
use agent_bash_core::StreamId;
use rustix::io::FdFlags;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// Placeholder in an argument for the script's descriptor number.
pub(super) const SCRIPT_FD: &str = "{script_fd}";

/// Placeholder in an argument for the path of the report pipe.
const REPORT: &str = "{report}";

/// Capacity of a pipe.
const PIPE: usize = 64 * 1024;

/// A started shell, and the host's ends of its descriptors.
#[derive(Debug)]
pub(super) struct Launched {
    pub(super) pid: i32,
    pub(super) script_fd: i32,
    pub(super) stdin_fd: Option<i32>,
    /// Script file, control pipe, streams: in the order in which they are sent.
    pub(super) host_ends: Vec<OwnedFd>,
    /// Inodes of the streams' pipes; they show whether a survivor holds the output.
    pub(super) pipes: Vec<u64>,
    /// The shell's last argument, by which its forks are recognised.
    pub(super) boot: Vec<u8>,
    /// The pipe in which the shell reports about itself.
    pub(super) report: Report,
}

/// How to start a shell.
#[derive(Debug)]
pub(super) enum Starter {
    /// As a child in its own process group, with the environment of this process, which is a supervisor.
    Child,
    /// As the leader of its own session, from a host that has threads, descriptors and signals of its own.
    Leader {
        /// The complete environment.
        env: BTreeMap<OsString, OsString>,
    },
}

/// Starts a shell. `stdin` is that of the script; the shell itself reads its control pipe.
pub(super) fn launch(
    start: &ShellStart,
    stdin: Option<&OwnedFd>,
    starter: &Starter,
) -> io::Result<Launched> {
    let script = unnamed_file("agent-bash-script")?;
    let (control_read, control) = pipe()?;
    let (output, [stdout, stderr]) = streams(&start.output)?;
    let pipes = output.iter().filter_map(inode_of).collect();

    let report = Report::new()?;
    let places = [
        (SCRIPT_FD, script.as_raw_fd().to_string()),
        (REPORT, report.path()),
    ];
    let args: Vec<OsString> = start
        .args
        .iter()
        .map(|argument| filled_in(argument, &places))
        .collect();
    let inherited: Vec<&OwnedFd> = [&script].into_iter().chain(stdin).collect();
    let standard = [control_read, stdout, stderr];
    let pid = match starter {
        Starter::Child => child(start, &args, standard, &inherited)?,
        Starter::Leader { env } => leader::start(start, &args, env, &standard, &inherited)?,
    };
    limits::apply(pid, &start.limits)?;
    Ok(Launched {
        pid,
        script_fd: script.as_raw_fd(),
        stdin_fd: stdin.map(AsRawFd::as_raw_fd),
        host_ends: [script, control].into_iter().chain(output).collect(),
        pipes,
        boot: args
            .last()
            .map(|argument| argument.as_bytes().to_vec())
            .unwrap_or_default(),
        report,
    })
}

/// Read ends of these streams, and the shell's stdout and stderr.
fn streams(wanted: &[StreamId]) -> io::Result<(Vec<OwnedFd>, [OwnedFd; 2])> {
    let mut output = Vec::new();
    let [mut stdout, mut stderr] = [None, None];
    for stream in wanted {
        let (read, write) = pipe()?;
        output.push(read);
        match stream {
            StreamId::Merged => {
                stderr = Some(write.try_clone()?);
                stdout = Some(write);
            }
            StreamId::Stdout => stdout = Some(write),
            StreamId::Stderr => stderr = Some(write),
        }
    }
    let or_nowhere = |stream: Option<OwnedFd>| match stream {
        Some(stream) => Ok(stream),
        None => File::options()
            .write(true)
            .open("/dev/null")
            .map(OwnedFd::from),
    };
    Ok((output, [or_nowhere(stdout)?, or_nowhere(stderr)?]))
}

/// Starts it with descriptors inherited under their current numbers.
fn child(
    start: &ShellStart,
    args: &[OsString],
    [stdin, stdout, stderr]: [OwnedFd; 3],
    inherited: &[&OwnedFd],
) -> io::Result<i32> {
    // There are no other threads that could start a process meanwhile and inherit these.
    for fd in inherited {
        rustix::io::fcntl_setfd(fd, FdFlags::empty())?;
    }
    #[expect(
        clippy::disallowed_methods,
        reason = "this is where shells are started"
    )]
    let mut command = Command::new(&start.program);
    command
        .arg0(&start.arg0)
        .args(args)
        .stdin(Stdio::from(stdin))
        .stdout(Stdio::from(stdout))
        .stderr(Stdio::from(stderr))
        .process_group(0);
    for (name, value) in &start.env_changes {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    let started = command.spawn();
    let pid = started.map_err(explained)?.id();
    i32::try_from(pid).map_err(io::Error::other)
}

fn inode_of(pipe: &OwnedFd) -> Option<u64> {
    proc_fs::inode(&PathBuf::from(format!(
        "/proc/self/fd/{}",
        pipe.as_raw_fd()
    )))
}

/// A pipe that a shell opens by path, because it has no descriptor of ours left when it writes. A pipe rather than
/// a file, so that a limit on file sizes does not apply.
#[derive(Debug)]
pub(super) struct Report {
    read: OwnedFd,
    /// Kept open so that the path remains valid; never written to.
    write: OwnedFd,
}

impl Report {
    pub(super) fn new() -> io::Result<Self> {
        let (read, write) = pipe()?;
        rustix::io::ioctl_fionbio(&read, true)?;
        Ok(Self { read, write })
    }

    fn path(&self) -> String {
        format!("/proc/{}/fd/{}", std::process::id(), self.write.as_raw_fd())
    }

    /// What was written, at most the capacity of a pipe. Not validated.
    pub(super) fn take(&self) -> String {
        let mut text = Vec::new();
        let mut buffer = [0; 4096];
        while let Ok(count) = rustix::io::read(&self.read, &mut buffer)
            && count > 0
            && text.len() < PIPE
        {
            text.extend_from_slice(&buffer[..count]);
        }
        String::from_utf8(text).unwrap_or_default()
    }
}

pub(super) fn filled_in(argument: &OsStr, places: &[(&str, String)]) -> OsString {
    let mut bytes = argument.as_bytes().to_vec();
    for (place, value) in places {
        let find = |bytes: &[u8]| {
            bytes
                .windows(place.len())
                .position(|w| w == place.as_bytes())
        };
        while let Some(at) = find(&bytes) {
            bytes.splice(at..at + place.len(), value.bytes());
        }
    }
    OsString::from_vec(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_in_arguments_are_filled_in() {
        let places = [
            (SCRIPT_FD, "7".to_owned()),
            (REPORT, "/proc/1/fd/2".to_owned()),
        ];
        let text = filled_in(
            OsStr::new("read -u {script_fd}; exec {script_fd}<&- >{report}"),
            &places,
        );
        assert_eq!(text, "read -u 7; exec 7<&- >/proc/1/fd/2");
    }

    #[test]
    fn a_report_is_what_was_written_by_path() {
        let report = Report::new().unwrap();
        assert_eq!(report.take(), "");
        std::fs::write(report.path(), "0 1 0 /tmp").unwrap();
        assert_eq!(
            (report.take(), report.take()),
            ("0 1 0 /tmp".into(), String::new())
        );
    }
}
