//! A program that carries bytes to another place and back, such as `ssh`: started with three pipes,
//! and ended with everything in its process group.

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
    pub carrier: TransportProcess,
}

/// The process of a transport, or of an editor. Dropping it kills its process group and reaps it.
#[derive(Debug)]
pub struct TransportProcess {
    /// `None` once it is reaped.
    child: Option<Child>,
}

impl Transport {
    /// Starts `words` (a program and its arguments) in `directory`, with `env` as its complete
    /// environment, in a process group of its own: a Ctrl-C at our terminal is for us.
    ///
    /// # Errors
    /// There is no such program, or it cannot be started.
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
        let carrier = TransportProcess::of(child);
        let (Some(input), Some(output), Some(errors)) = (input, output, errors) else {
            return Err(io::ErrorKind::BrokenPipe.into());
        };
        Ok(Self {
            input: Sender::from_owned_fd(OwnedFd::from(input))?,
            output: Receiver::from_owned_fd(OwnedFd::from(output))?,
            errors: Receiver::from_owned_fd(OwnedFd::from(errors))?,
            carrier,
        })
    }
}

impl TransportProcess {
    pub(crate) fn of(child: Child) -> Self {
        Self { child: Some(child) }
    }

    /// The process's pid, until it is reaped.
    pub fn pid(&self) -> Option<u32> {
        self.child.as_ref().map(Child::id)
    }

    /// Waits until it has ended, and reaps it. What it says of its end is not told: of a command at
    /// the other end it means nothing. Cancel safe.
    pub async fn ended(&mut self) {
        self.code().await;
    }

    /// Waits for the end as [`Self::ended`] does, and returns the exit code, for a program of ours
    /// at this end: `None` if a signal ended it.
    pub async fn code(&mut self) -> Option<i32> {
        let pid = self.pid()?;
        let pidfd = ProcessHandle::open(pid.cast_signed()).ok();
        let pidfd = pidfd.and_then(ProcessHandle::into_pidfd);
        // Not a pipe, but becomes readable like one.
        match pidfd.map(Receiver::from_owned_fd_unchecked) {
            Some(Ok(pidfd)) => {
                let _ = pidfd.readable().await;
            }
            Some(Err(_)) | None => waited_for(pid.cast_signed()).await,
        }
        self.end()?.code()
    }

    /// Kills and reaps what is left of it.
    fn end(&mut self) -> Option<ExitStatus> {
        let mut child = self.child.take()?;
        // The child is not reaped yet, so the group is still its own.
        let _ = kill_process_group(Pid::from_child(&child), Signal::KILL);
        match child.try_wait() {
            Ok(None) => {
                let thread = std::thread::Builder::new().name("agent-bash-reap".to_owned());
                // If no thread can be started, it stays a zombie until we end.
                let _ = thread.spawn(move || child.wait());
                None
            }
            ended => ended.ok().flatten(),
        }
    }
}

/// Waits for the end of a child without reaping it, on a thread: where the system refuses pidfds
/// nothing tells the event loop. If no thread can be started, this never returns, and the child is
/// killed when it is dropped.
async fn waited_for(pid: i32) {
    let (tell, ended) = oneshot::channel();
    let wait = move || {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        if let Some(pid) = Pid::from_raw(pid) {
            while matches!(waitid(WaitId::Pid(pid), options), Err(Errno::INTR)) {}
        }
        // The receiver may be gone.
        let _ = tell.send(());
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
    async fn bytes_go_there_and_back_and_it_is_reaped() {
        let mut cat = started("cat; echo done >&2; exit 3");
        cat.input.write_all(b"over").await.unwrap();
        drop(cat.input);
        let (mut back, mut said) = (String::new(), String::new());
        cat.output.read_to_string(&mut back).await.unwrap();
        cat.errors.read_to_string(&mut said).await.unwrap();
        assert_eq!((&*back, &*said), ("over", "done\n"));
        cat.carrier.ended().await;
        assert_eq!(cat.carrier.pid(), None);
    }

    #[tokio::test]
    async fn end_is_noticed_without_a_pidfd() {
        let transport = started("exit 3");
        let pid = transport.carrier.pid().unwrap().cast_signed();
        waited_for(pid).await;
        let mut carrier = transport.carrier;
        assert_eq!(carrier.code().await, Some(3));
    }

    #[tokio::test]
    async fn its_group_goes_with_it() {
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
