//! Leftover children, exhausted descriptors, and reports of the process about itself.

use crate::Outcome;
use std::io::{self, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// A lingering process ends by itself after this time, so that a bug in the tests does not fill the
/// machine.
const MAX_LINGER_TIME: Duration = Duration::from_secs(600);

#[expect(
    clippy::disallowed_methods,
    reason = "this program is a command: it lives in real time"
)]
#[expect(clippy::unnecessary_wraps, reason = "the signature of the table")]
pub(crate) fn linger(until: &str) -> Outcome {
    let begin = std::time::Instant::now();
    while begin.elapsed() < MAX_LINGER_TIME && (until.is_empty() || !Path::new(until).exists()) {
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok(())
}

pub(crate) fn listen(file: &str) -> Outcome {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let port = listener.local_addr()?.port();
    std::fs::write(format!("{file}.new"), port.to_string())?;
    std::fs::rename(format!("{file}.new"), file)?;
    linger("")
}

pub(crate) fn bind(port: &str) -> Outcome {
    let address = format!("127.0.0.1:{port}");
    TcpListener::bind(&address).map_err(|error| format!("listen {address}: {error}"))?;
    Ok(())
}

pub(crate) fn children(count: &str) -> Outcome {
    for _ in 0..count.parse::<u32>()? {
        this_program(&["linger"])?.stdin(Stdio::null()).spawn()?;
    }
    Ok(())
}

/// The outermost process of a daemon: waits for the middle one, as a shell would.
pub(crate) fn daemon(output: &str) -> Outcome {
    this_program(&["daemon-middle", output])?.status()?;
    Ok(())
}

/// The middle process: leaves the process group and the session, starts the daemon and exits, so
/// that the daemon is orphaned.
pub(crate) fn daemon_middle(output: &str) -> Outcome {
    rustix::process::setsid()?;
    let mut daemon = this_program(&["linger"])?;
    daemon.stdin(Stdio::null());
    match output {
        "hold" => {}
        "close" => {
            daemon.stdout(Stdio::null()).stderr(Stdio::null());
        }
        other => return Err(format!("`hold` or `close`, not `{other}`").into()),
    }
    let daemon = daemon.spawn()?;
    writeln!(io::stdout(), "{}", daemon.id())?;
    Ok(())
}

/// Returns a command that runs this program again.
#[expect(
    clippy::disallowed_methods,
    reason = "starting processes is what it is for"
)]
fn this_program(arguments: &[&str]) -> io::Result<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(arguments);
    Ok(command)
}

pub(crate) fn exhaust_descriptors(_: &str) -> Outcome {
    let mut open = Vec::new();
    let error = loop {
        match std::fs::File::open("/dev/null") {
            Ok(file) => open.push(file),
            Err(error) => break error,
        }
    };
    writeln!(io::stdout(), "opened {} and then: {error}", open.len())?;
    Ok(())
}

pub(crate) fn print_descriptors(_: &str) -> Outcome {
    let mut numbers = Vec::new();
    for entry in std::fs::read_dir("/proc/self/fd")? {
        let entry = entry?;
        // The listing itself has one descriptor open.
        let itself = std::fs::read_link(entry.path())
            .is_ok_and(|target| target.starts_with("/proc/") && target.ends_with("fd"));
        if !itself {
            numbers.push(entry.file_name().to_string_lossy().parse::<u32>()?);
        }
    }
    numbers.sort_unstable();
    for number in numbers {
        writeln!(io::stdout(), "{number}")?;
    }
    Ok(())
}

pub(crate) fn print_environment(_: &str) -> Outcome {
    use std::os::unix::ffi::OsStrExt as _;
    let mut variables: Vec<_> = std::env::vars_os().collect();
    variables.sort_unstable();
    let mut out = io::stdout().lock();
    for (name, value) in variables {
        out.write_all(name.as_bytes())?;
        out.write_all(b"=")?;
        out.write_all(value.as_bytes())?;
        out.write_all(b"\n")?;
    }
    Ok(())
}

pub(crate) fn print_identity(_: &str) -> Outcome {
    let mut out = io::stdout().lock();
    let pid = rustix::process::getpid();
    writeln!(out, "group {}", rustix::process::getpgrp())?;
    writeln!(out, "session {}", rustix::process::getsid(Some(pid))?)?;
    // The signal state that the process was started with (`SigBlk:\t0000000000000000`), except for
    // SIGPIPE, which Rust's runtime ignores.
    for line in std::fs::read_to_string("/proc/self/status")?.lines() {
        if let Some((name @ ("SigBlk" | "SigIgn"), mask)) = line.split_once(":\t") {
            // Signals 32 and 33 are reserved by glibc; no program can change their disposition.
            let mask = u64::from_str_radix(mask, 16)? & !(0b11 << 31);
            writeln!(out, "{name} {mask:016x}")?;
        }
    }
    Ok(())
}

#[expect(
    clippy::disallowed_methods,
    reason = "it asks for the directory that is no more"
)]
pub(crate) fn lose_cwd(_: &str) -> Outcome {
    let directory = std::env::current_dir()?;
    std::fs::remove_dir_all(&directory)?;
    let answer = match std::env::current_dir() {
        Ok(path) => path.display().to_string(),
        Err(error) => error.to_string(),
    };
    writeln!(io::stdout(), "{answer}")?;
    Ok(())
}
