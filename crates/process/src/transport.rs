//! Runs a program that carries bytes to a remote host and back, such as `ssh`. The program has
//! three pipes, and is ended with its whole process group.

use agent_bash_os::ProcessHandle;
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use tokio::net::unix::pipe::{Receiver, Sender};
use tokio::sync::oneshot;

/// A transport that was started.
#[derive(Debug)]
pub struct Transport {
    /// The process's stdin.
    pub input: Sender,
    /// The process's stdout.
    pub output: Receiver,
    /// The process's stderr.
    pub errors: Receiver,
    /// The handle that ends and reaps the process.
    pub process: TransportProcess,
}

/// The process of a transport, or of an editor. Dropping it kills its process group and reaps it.
#[derive(Debug)]
pub struct TransportProcess {
    /// `None` once the process is reaped.
    child: Option<Child>,
}

impl Transport {
    /// Starts `words` (a program and its arguments) in `directory`, with `env` as its complete
    /// environment. The program has its own process group, so that Ctrl-C at the host's terminal
    /// does not reach it.
    ///
    /// # Errors
    /// The program does not exist or cannot be started.
    ///
    /// # Panics
    /// Outside of a tokio runtime with I/O enabled.
    pub fn start(
        words: &[OsString],
        env: &BTreeMap<OsString, OsString>,
        directory: &Path,
    ) -> io::Result<Self> {
        let [program, arguments @ ..] = words else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        #[expect(
            clippy::disallowed_methods,
            reason = "this is where transports are started"
        )]
        let mut command = Command::new(program);
        let mut child = command
            .args(arguments)
            .env_clear()
            .envs(env)
            .current_dir(directory)
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let (input, output, errors) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let process = TransportProcess::of(child);
        let (Some(input), Some(output), Some(errors)) = (input, output, errors) else {
            return Err(io::ErrorKind::BrokenPipe.into());
        };
        Ok(Self {
            input: Sender::from_owned_fd(OwnedFd::from(input))?,
            output: Receiver::from_owned_fd(OwnedFd::from(output))?,
            errors: Receiver::from_owned_fd(OwnedFd::from(errors))?,
            process,
        })
    }
}

impl TransportProcess {
    pub(crate) fn of(child: Child) -> Self {
        Self { child: Some(child) }
    }

    /// Returns the process's pid, until it is reaped.
    pub fn pid(&self) -> Option<u32> {
        self.child.as_ref().map(Child::id)
    }

    /// Waits for the end of the process and reaps it. Returns no exit code, because the exit code
    /// of a transport does not show how the remote command ended. Cancel safe.
    pub async fn ended(&mut self) {
        self.code().await;
    }

    /// Waits as [`Self::ended`] does, and returns the exit code, for programs such as an editor;
    /// `None` if a signal ended the process.
    pub async fn code(&mut self) -> Option<i32> {
        let pid = self.pid()?;
        let pidfd = ProcessHandle::open(pid.cast_signed()).ok();
        let pidfd = pidfd.and_then(ProcessHandle::into_pidfd);
        // A pidfd becomes readable like a pipe.
        match pidfd.map(Receiver::from_owned_fd_unchecked) {
            Some(Ok(pidfd)) => {
                let _ = pidfd.readable().await;
            }
            Some(Err(_)) | None => wait_in_thread(pid.cast_signed()).await,
        }
        self.end()?.code()
    }

    /// Kills the process group and reaps the process.
    fn end(&mut self) -> Option<ExitStatus> {
        let mut child = self.child.take()?;
        // Safe, as the child is not reaped: its process group id cannot have been reused.
        let _ = kill_process_group(Pid::from_child(&child), Signal::KILL);
        match child.try_wait() {
            Ok(None) => {
                let thread = std::thread::Builder::new().name("agent-bash-reap".to_owned());
                // If no thread can be started, the child stays a zombie until this process ends.
                let _ = thread.spawn(move || child.wait());
                None
            }
            ended => ended.ok().flatten(),
        }
    }
}

/// Waits for the end of a child in a thread, without reaping it. For systems without pidfds, where
/// the event loop gets no notification. If no thread can be started, never returns; the child is
/// killed when its owner is dropped.
async fn wait_in_thread(pid: i32) {
    let (sender, ended) = oneshot::channel();
    let wait = move || {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        if let Some(pid) = Pid::from_raw(pid) {
            while matches!(waitid(WaitId::Pid(pid), options), Err(Errno::INTR)) {}
        }
        // The receiving task may have been dropped.
        let _ = sender.send(());
    };
    let thread = std::thread::Builder::new().name("agent-bash-wait".to_owned());
    if thread.spawn(wait).is_err() || ended.await.is_err() {
        std::future::pending::<()>().await;
    }
}

impl Drop for TransportProcess {
    fn drop(&mut self) {
        self.end();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    fn started(script: &str) -> Transport {
        let words = ["/bin/sh", "-c", script].map(OsString::from);
        let env = BTreeMap::from([("PATH".into(), "/usr/bin:/bin".into())]);
        Transport::start(&words, &env, Path::new("/")).unwrap()
    }

    #[tokio::test]
    async fn transport_carries_bytes_and_is_reaped() {
        let mut cat = started("cat; echo done >&2; exit 3");
        cat.input.write_all(b"over").await.unwrap();
        drop(cat.input);
        let (mut back, mut errors) = (String::new(), String::new());
        cat.output.read_to_string(&mut back).await.unwrap();
        cat.errors.read_to_string(&mut errors).await.unwrap();
        assert_eq!((&*back, &*errors), ("over", "done\n"));
        cat.process.ended().await;
        assert_eq!(cat.process.pid(), None);
    }

    #[tokio::test]
    async fn exit_code_is_returned_without_pidfd() {
        let transport = started("exit 3");
        let pid = transport.process.pid().unwrap().cast_signed();
        wait_in_thread(pid).await;
        let mut process = transport.process;
        assert_eq!(process.code().await, Some(3));
    }

    #[tokio::test]
    async fn dropping_transport_kills_its_process_group() {
        let mut transport = started("sleep 600 & echo $!; wait");
        let mut line = [0; 32];
        let length = transport.output.read(&mut line).await.unwrap();
        let pid: i32 = String::from_utf8_lossy(&line[..length])
            .trim()
            .parse()
            .unwrap();
        let sleeping = ProcessHandle::open(pid).unwrap().into_pidfd().unwrap();
        let sleeping = Receiver::from_owned_fd_unchecked(sleeping).unwrap();
        drop(transport);
        let ended = tokio::time::timeout(std::time::Duration::from_secs(5), sleeping.readable());
        ended.await.expect("it still runs").unwrap();
    }
}
