//! Lists jobs and held trials, at intervals while they may change.

use super::EventLoop;
use crate::app::Msg;
use crate::change_actions::is_undecided;
use crate::jobs_state::JobsState;
use agent_bash::core::JobId;
use agent_bash::core::changes::ChangesId;
use agent_bash::exec::{JobOutput, Jobs, OutputRange};
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Handle;

/// Polling interval for running jobs while the jobs panel is open.
const JOBS_PANEL_INTERVAL: Duration = Duration::from_millis(500);

/// Polling interval for running jobs otherwise.
const JOBS_INTERVAL: Duration = Duration::from_secs(2);

/// Bytes of a job's output shown in the panel.
const JOB_TAIL_BYTES: usize = 64 << 10;

impl EventLoop {
    pub(super) fn jobs_due(&self) -> Option<Duration> {
        let between = match &self.app.jobs {
            Some(_) => JOBS_PANEL_INTERVAL,
            None if self.app.transcript.has_unshown_survivors() => JOBS_PANEL_INTERVAL,
            None if self.app.running_jobs > 0 || self.app.awaits_background_changes => {
                JOBS_INTERVAL
            }
            None => return None,
        };
        self.jobs_listed_at.map(|listed| listed + between)
    }

    pub(super) fn list_jobs_if_due(&mut self, now: Duration) {
        if self.jobs_due().is_some_and(|due| now >= due) {
            self.list_jobs();
        }
    }

    pub(super) fn list_jobs(&mut self) {
        self.jobs_listed_at = Some(self.clock.now());
        let Some(jobs) = self.session.jobs().map(Arc::clone) else {
            return;
        };
        let selected = self.app.jobs.as_ref().and_then(JobsState::selected_id);
        let shows_ports = self.app.jobs.is_some();
        let runtime = Handle::current();
        let (sender, now) = (self.sender.clone(), self.clock.wall());
        self.tasks.spawn_blocking(move || {
            let mut listed = jobs.list().unwrap_or_default();
            if shows_ports {
                runtime.block_on(jobs.find_ports(&mut listed));
            }
            let printed = selected.and_then(|id| tail(&jobs, &id));
            let printed = printed.map(Box::new);
            let _ = sender.send(Msg::Jobs {
                jobs: listed,
                now,
                printed,
            });
        });
    }

    /// Finds the trials of earlier runs that await a decision.
    pub(super) fn find_held_trials(&mut self) {
        let sets = self.session.changes();
        self.read_in_background(move || {
            // Without a store, there are no held trials.
            let listed = sets.list().unwrap_or_default();
            let trials = listed.into_iter().map(|set| set.changes);
            let trials = trials.filter(is_undecided).collect();
            let state_dir = sets.session().to_owned();
            Msg::HeldTrialsFound { trials, state_dir }
        });
    }

    /// Checks whether held trials still await a decision, which another program may make.
    pub(super) fn check_held_trials(&mut self) {
        let held = self.app.held_trials.clone();
        if held.is_empty() {
            return;
        }
        let sets = self.session.changes();
        self.read_in_background(move || {
            let is_held = |id: &ChangesId| sets.show(*id).is_ok_and(|set| is_undecided(&set));
            Msg::StillHeld(held.into_iter().filter(is_held).collect())
        });
    }
}

/// Returns the end of a job's output.
fn tail(jobs: &Jobs, id: &JobId) -> Option<JobOutput> {
    let range = OutputRange::Tail {
        lines: 1000,
        max_bytes: JOB_TAIL_BYTES,
    };
    jobs.output(id, range).ok()
}
