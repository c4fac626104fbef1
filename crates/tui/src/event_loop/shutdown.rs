//! Ends the running commands when the user quits. The terminal is released before. If the end takes
//! longer than a moment, a line names the command that is being ended.

use super::EventLoop;
use crate::JobsAtExit;
use agent_bash::core::Clock;
use agent_bash::exec::{Job, JobState, Jobs};
use agent_bash_render::shortened;
use std::io::{self, Write as _};
use std::time::Duration;

/// Time between SIGTERM and SIGKILL for a job.
pub(super) const JOB_GRACE: Duration = Duration::from_secs(2);

/// How long running commands may take to end.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(4);

/// How long the end may take before the line is printed.
const SILENT_TIME: Duration = Duration::from_millis(300);

/// Maximum number of columns of a command in the printed line.
const MAX_COMMAND_COLUMNS: usize = 60;

impl EventLoop {
    /// Ends running commands, and jobs if `ends_jobs`, and waits for their end.
    pub(super) async fn shut_down(mut self, ends_jobs: bool) -> JobsAtExit {
        self.call.cancel.cancel();
        self.bang.cancel.cancel();
        let running = self.app.call.into_iter().chain(self.app.bang);
        let running = running.filter_map(|id| self.app.transcript.get(id));
        let names: Vec<String> = running
            .map(|entry| quoted_command(entry.command()))
            .collect();
        let message = if names.is_empty() {
            "waiting for files to be read or written".to_owned()
        } else {
            format!("ending {}", names.join(" and "))
        };
        let tasks = &mut self.tasks;
        let all = async { while tasks.join_next().await.is_some() {} };
        tokio::select! {
            () = announce_if_slow(&*self.clock, &message, all) => {}
            () = self.clock.sleep(SHUTDOWN_TIMEOUT) => {}
        }
        let Some(jobs) = self.session.jobs() else {
            return JobsAtExit::default();
        };
        let mut ended = Vec::new();
        if ends_jobs {
            for job in self::running(jobs) {
                let message = format!("ending job {}, {}", job.id, quoted_command(&job.command));
                let kill = jobs.kill(&job.id, JOB_GRACE);
                // Processes that cannot be ended are reported as running.
                let _ = announce_if_slow(&*self.clock, &message, kill).await;
                ended.push(job);
            }
        }
        let running = self::running(jobs);
        ended.retain(|job| running.iter().all(|other| other.id != job.id));
        JobsAtExit { running, ended }
    }
}

fn quoted_command(command: &str) -> String {
    format!("`{}`", shortened(command, MAX_COMMAND_COLUMNS))
}

/// Waits for `done`, and prints `message` if that takes longer than a moment.
async fn announce_if_slow<T>(clock: &dyn Clock, message: &str, done: impl Future<Output = T>) -> T {
    tokio::pin!(done);
    tokio::select! {
        biased;
        done = &mut done => return done,
        () = clock.sleep(SILENT_TIME) => {}
    }
    // A closed stderr must not prevent the end.
    let _ = writeln!(io::stderr(), "{message} …");
    done.await
}

fn running(jobs: &Jobs) -> Vec<Job> {
    let mut listed = jobs.list().unwrap_or_default();
    listed.retain(|job| matches!(job.state, JobState::Running));
    listed
}
