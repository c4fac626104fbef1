//! Notifies a client when a job ends, even a job that another program has started.

use super::outbox::Outbox;
use crate::into_data::IntoData;
use agent_bash::Conversation;
use agent_bash::core::{Cancel, JobId, lock};
use agent_bash::exec::{JobState, WaitOutcome};
use agent_bash_protocol::update::{JobEndedTag, RpcJobEnded};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

/// The jobs whose end is reported to a client. Clones share the set of jobs.
#[derive(Debug, Clone)]
pub(super) struct JobWatch {
    session: Arc<Conversation>,
    outbox: Outbox,
    /// Triggered when the client has disconnected.
    end: Cancel,
    watched: Arc<Mutex<BTreeSet<JobId>>>,
}

impl JobWatch {
    pub(super) fn new(session: Arc<Conversation>, outbox: Outbox, end: Cancel) -> Self {
        Self {
            session,
            outbox,
            end,
            watched: Arc::default(),
        }
    }

    /// Starts watching all running jobs that are not watched yet.
    pub(super) async fn watch_running_jobs(&self) {
        let Some(jobs) = self.session.jobs().cloned() else {
            return;
        };
        let list = agent_bash::run_blocking(move || jobs.list());
        // If the jobs cannot be listed now, they are watched after the next call.
        let Ok(Ok(jobs)) = list.await else { return };
        for job in jobs {
            let is_new = || {
                let mut watched = lock(&self.watched);
                watched.insert(job.id.clone())
            };
            if matches!(job.state, JobState::Running) && is_new() {
                tokio::spawn(self.clone().wait(job.id));
            }
        }
    }

    /// Waits for the end of a job, and notifies the client.
    async fn wait(self, id: JobId) {
        let Some(jobs) = self.session.jobs() else {
            return;
        };
        match jobs.wait(&id, None, &self.end).await {
            Ok(WaitOutcome::Over(job)) => {
                let message = RpcJobEnded {
                    kind: JobEndedTag::JobEnded,
                    job: job.into_data(),
                };
                tokio::select! {
                    biased;
                    () = self.end.cancelled() => {}
                    () = self.outbox.send(&message) => {}
                }
            }
            Ok(_) => {}
            Err(error) => {
                tracing::debug!(%error, job = %id, "the client cannot be notified of the end of the job");
            }
        }
    }
}
