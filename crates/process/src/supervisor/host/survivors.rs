//! The host's side of survivors: listing them, handing them over to the supervisor, waiting for
//! their end.

use super::client::SupervisorClient;
use super::detach::NotDetached;
use super::order_sender::{OrderSender, in_ms};
use super::receive::Disconnected;
use crate::supervisor::protocol::{AdoptOptions, Event, Order};
use agent_bash_core::Survivor;
use std::io;
use std::os::fd::BorrowedFd;
use std::path::Path;
use std::time::Duration;

impl SupervisorClient {
    /// Lists the survivors. In a session, these are the processes, except the shell, that were not
    /// adopted.
    ///
    /// # Errors
    /// The supervisor has ended.
    pub async fn survivors(&mut self) -> Result<Vec<Survivor>, Disconnected> {
        self.ask(&Order::Survivors, &[], |event| match event {
            Event::Survivors { survivors } => Some(survivors),
            _ => None,
        })
        .await
    }

    /// Hands the survivors over: from now on the supervisor reads their output. With `detach`, the
    /// survivors outlive the host. `files` has one file per pipe; if it is empty, the output is
    /// discarded. `quota` is the maximum number of bytes in all files together. With `job`, the
    /// directory of a job, the survivors become that job and outlive the host. If the job cannot be
    /// created, the survivors are adopted without a job, and its directory has no entry file.
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
            self.set_outlives_host();
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

    /// Lets the next shell finish even if this program ends, for at most `limit`. Then the shell is
    /// ended, with `grace` between SIGTERM and SIGKILL. Daemons that the shell starts are not
    /// ended.
    ///
    /// # Errors
    /// The supervisor has ended, or does not read.
    pub fn let_finish(&mut self, limit: Duration, grace: Duration) -> io::Result<()> {
        self.set_outlives_host();
        let [limit_ms, grace_ms] = [limit, grace].map(in_ms);
        self.order(&Order::LetFinish { limit_ms, grace_ms }, &[])
    }
}

impl OrderSender {
    /// Watches the processes of a session, except the shell, that were not adopted.
    /// `Event::SurvivorsEnded` reports their end.
    ///
    /// # Errors
    /// The supervisor has ended, or does not read.
    pub fn watch_survivors(&self) -> io::Result<()> {
        self.order(&Order::WatchSurvivors, &[])
    }

    /// Ends the watched processes only: SIGTERM, SIGCONT, `grace`, SIGKILL.
    ///
    /// # Errors
    /// The supervisor has ended, or does not read.
    pub fn end_survivors(&self, grace: Duration) -> io::Result<()> {
        let grace_ms = in_ms(grace);
        self.order(&Order::EndSurvivors { grace_ms }, &[])
    }
}
