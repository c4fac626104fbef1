//! The host's side of survivors: listing them, handing them over to the supervisor, waiting for
//! their end.

use super::client::SupervisorClient;
use super::detach::NotDetached;
use super::link::{OrderSender, in_ms};
use super::receive::Disconnected;
use crate::supervisor::protocol::{AdoptOptions, Event, Order};
use agent_bash_core::Survivor;
use std::io;
use std::os::fd::BorrowedFd;
use std::path::Path;
use std::time::Duration;

impl SupervisorClient {
    /// Lists the survivors; in a session, the processes besides the shell that were not adopted.
    ///
    /// # Errors
    /// It has ended.
    pub async fn survivors(&mut self) -> Result<Vec<Survivor>, Disconnected> {
        self.ask(&Order::Survivors, &[], |event| match event {
            Event::Survivors { survivors } => Some(survivors),
            _ => None,
        })
        .await
    }

    /// Hands the survivors over: from now on the supervisor reads their output. With `detach`, they
    /// outlive the host. `files` has one file per pipe; if it is empty, their output is discarded.
    /// With the directory of a job, they become that job, and outlive the host. If the job cannot
    /// be created, they are adopted without it; then the job has no entry file.
    ///
    /// # Errors
    /// The supervisor has ended, or refused: nothing was adopted.
    pub async fn adopt(
        &mut self,
        pipes: &[BorrowedFd<'_>],
        files: &[BorrowedFd<'_>],
        detach: bool,
        quota: u64,
        job: Option<&Path>,
    ) -> Result<(), NotDetached> {
        if detach || job.is_some() {
            self.keep();
        }
        let fds: Vec<BorrowedFd<'_>> = pipes.iter().chain(files).copied().collect();
        let order = Order::Adopt(AdoptOptions {
            files: !files.is_empty(),
            detach,
            quota,
            job: job.map(|directory| directory.as_os_str().to_owned()),
        });
        self.ask(&order, &fds, |event| match event {
            Event::Adopted => Some(Ok(())),
            Event::AdoptFailed { reason } => Some(Err(NotDetached::Refused(reason))),
            _ => None,
        })
        .await?
    }
}

impl SupervisorClient {
    /// Lets the next shell finish even if this program ends: for at most `limit`, then with `grace`
    /// between SIGTERM and SIGKILL. Daemons that the shell starts are not ended.
    ///
    /// # Errors
    /// It has ended, or does not read.
    pub fn let_finish(&mut self, limit: Duration, grace: Duration) -> io::Result<()> {
        self.keep();
        let [limit_ms, grace_ms] = [limit, grace].map(in_ms);
        self.order(&Order::LetFinish { limit_ms, grace_ms }, &[])
    }
}

impl OrderSender {
    /// Watches the processes of a session besides its shell that were not adopted:
    /// `Event::SurvivorsEnded` reports their end.
    ///
    /// # Errors
    /// It has ended, or does not read.
    pub fn watch_survivors(&self) -> io::Result<()> {
        self.order(&Order::WatchSurvivors, &[])
    }

    /// Ends the watched processes only: SIGTERM, SIGCONT, `grace`, SIGKILL.
    ///
    /// # Errors
    /// It has ended, or does not read.
    pub fn end_survivors(&self, grace: Duration) -> io::Result<()> {
        let grace_ms = in_ms(grace);
        self.order(&Order::EndSurvivors { grace_ms }, &[])
    }
}
