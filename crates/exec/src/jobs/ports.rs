//! The TCP addresses on which the processes of jobs listen.

use crate::jobs::{Job, JobError, JobState, Jobs};
use agent_bash_core::{Holder, Survivor};
use agent_bash_os::network_namespace;
use agent_bash_process::listening_addresses;
use std::net::SocketAddr;
use std::path::PathBuf;

/// A process of a job that listens on TCP ports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobListener {
    /// The process, with its job and addresses.
    pub holder: Holder,
    /// The name of the process's network namespace; `None` if it cannot be read.
    pub network: Option<PathBuf>,
}

impl Jobs {
    /// Returns all jobs with the addresses on which they listen, or only the jobs that listen on
    /// `port`, in the order in which they started; also running jobs whose files were removed.
    ///
    /// # Errors
    /// [`JobError::Registry`].
    pub async fn list_with_ports(&self, port: Option<u16>) -> Result<Vec<Job>, JobError> {
        let mut jobs = self.list_with_removed_files()?;
        self.find_ports(&mut jobs).await;
        if let Some(port) = port {
            let is_port = |address: &SocketAddr| address.port() == port;
            jobs.retain(|job| job.listens_on.iter().any(is_port));
        }
        Ok(jobs)
    }

    /// Sets [`Job::listens_on`] of all jobs that have processes. Reads the descriptors of these
    /// processes; processes that cannot be listed count as listening on nothing.
    pub async fn find_ports(&self, jobs: &mut [Job]) {
        for job in jobs {
            let mut found: Vec<_> = self
                .listeners_of(job)
                .await
                .into_iter()
                .flat_map(|listener| listener.holder.listens_on)
                .collect();
            found.sort_unstable();
            found.dedup();
            job.listens_on = found;
        }
    }

    /// Returns the processes of a job that listen on TCP ports.
    pub async fn listeners_of(&self, job: &Job) -> Vec<JobListener> {
        let processes = self.living_processes(job).await;
        let pids: Vec<u32> = processes.iter().map(|process| process.pid).collect();
        let mut addresses = listening_addresses(&pids);
        let listeners = processes.into_iter().filter_map(|process| {
            let listens_on = addresses.remove(&process.pid)?;
            let mut holder = Holder::new(process.pid, process.command);
            holder.job = Some(job.id.clone());
            holder.listens_on = listens_on;
            Some(JobListener {
                network: network_namespace(process.pid),
                holder,
            })
        });
        listeners.collect()
    }

    /// Returns the job to which a process belongs.
    pub async fn job_of(&self, pid: u32) -> Option<Job> {
        for job in self.list().ok()? {
            let processes = self.living_processes(&job).await;
            if processes.iter().any(|process| process.pid == pid) {
                return Some(job);
            }
        }
        None
    }

    /// Returns the processes of a job; empty if its supervisor does not answer.
    pub async fn living_processes(&self, job: &Job) -> Vec<Survivor> {
        if job.state == JobState::Running {
            self.processes(&job.id).await.unwrap_or_default()
        } else {
            job.remaining.clone()
        }
    }
}
