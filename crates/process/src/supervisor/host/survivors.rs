//! The host's side of what a call leaves: asking for it, leaving it to the supervisor, waiting for its end.

use super::client::{Gone, Supervised};
use super::detach::NotTaken;
use super::link::{Link, in_ms};
use crate::supervisor::protocol::{Event, Order};
use agent_bash_core::Survivor;
use std::io;
use std::os::fd::BorrowedFd;
use std::path::Path;
use std::time::Duration;

impl Supervised {
    /// Asks who still lives: beside a session's shell, whoever was not adopted.
    ///
    /// # Errors
    /// It is gone.
    pub async fn survivors(&mut self) -> Result<Vec<Survivor>, Gone> {
        self.order(&Order::Survivors, &[]).map_err(|_| Gone)?;
        self.answer(|event, _| match event {
            Event::Survivors { survivors } => Some(survivors),
            _ => None,
        })
        .await
    }

    /// Hands the survivors' output over: from now on it reads their pipes. With `detach` our end no longer is theirs.
    /// `files` is as long as `pipes`, or empty: then their output is read and dropped.
    ///
    /// # Errors
    /// It is gone, or could not: nothing was adopted.
    pub async fn adopt(
        &mut self,
        pipes: &[BorrowedFd<'_>],
        files: &[BorrowedFd<'_>],
        detach: bool,
        quota: u64,
    ) -> Result<(), NotTaken> {
        if detach {
            self.keep();
        }
        self.leave(pipes, files, detach, quota, None).await
    }

    /// As [`Self::adopt`]: the survivors become the job in `directory`. Its entry is there if they did; if not they are adopted
    /// all the same. Without `detach` the shell goes on beside them, and they outlive it.
    ///
    /// # Errors
    /// It is gone, or could not: nothing was adopted.
    pub async fn adopt_as_job(
        &mut self,
        pipes: &[BorrowedFd<'_>],
        files: &[BorrowedFd<'_>],
        detach: bool,
        quota: u64,
        directory: &Path,
    ) -> Result<(), NotTaken> {
        self.keep();
        self.leave(pipes, files, detach, quota, Some(directory))
            .await
    }

    async fn leave(
        &mut self,
        pipes: &[BorrowedFd<'_>],
        files: &[BorrowedFd<'_>],
        detach: bool,
        quota: u64,
        directory: Option<&Path>,
    ) -> Result<(), NotTaken> {
        let fds: Vec<BorrowedFd<'_>> = pipes.iter().chain(files).copied().collect();
        let order = Order::Adopt {
            files: !files.is_empty(),
            detach,
            quota,
            job: directory.map(|directory| directory.as_os_str().to_owned()),
        };
        self.order(&order, &fds).map_err(|_| NotTaken::Gone)?;
        let answer = self.answer(|event, _| match event {
            Event::Adopted => Some(Ok(())),
            Event::AdoptFailed { reason } => Some(Err(NotTaken::Refused(reason))),
            _ => None,
        });
        answer.await.map_err(|Gone| NotTaken::Gone)?
    }

    /// Waits until those have ended that are watched. Returns who withstood SIGKILL. Cancel safe.
    ///
    /// # Errors
    /// It is gone.
    pub async fn survivors_ended(&mut self) -> Result<Vec<Survivor>, Gone> {
        loop {
            if let (Event::SurvivorsEnded { withstand }, _) = self.event().await? {
                return Ok(withstand);
            }
        }
    }
}

impl Link {
    /// Watches whoever still lives beside a session's shell and was not adopted: [`Supervised::survivors_ended`] tells of
    /// their end.
    ///
    /// # Errors
    /// It is gone, or does not read.
    pub fn watch_survivors(&self) -> io::Result<()> {
        self.order(&Order::WatchSurvivors, &[])
    }

    /// Ends those that are watched, and nobody else: SIGTERM, SIGCONT, `grace`, SIGKILL.
    ///
    /// # Errors
    /// It is gone, or does not read.
    pub fn end_survivors(&self, grace: Duration) -> io::Result<()> {
        let grace_ms = in_ms(grace);
        self.order(&Order::EndSurvivors { grace_ms }, &[])
    }
}
