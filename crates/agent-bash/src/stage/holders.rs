//! Names the processes that hold a port or a lock that a failed command needed.
//!
//! The output names the port or the lock; the kernel tells which process holds it.

use crate::tool_context::ToolContext;
use agent_bash_core::sandbox::Plan;
use agent_bash_core::{Holder, Notice, NoticeKind, Outcome, Timestamp};
use agent_bash_exec::{JobListener, JobState, Jobs};
use agent_bash_os::network_namespace;
use agent_bash_process::shown_command_line;
use agent_bash_process::{
    command_of, listening_addresses, lock_holder, port_holder, waiting_program_in,
};
use agent_bash_state::run_blocking;
use agent_bash_tools::program_messages::{
    LockMessage, PortMessage, held_lock, port_in_use, possible_ports,
};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The tool whose lock is held as long as the lock's file exists, even if no process has the file
/// open.
const GIT: &str = "git";

/// Sets the addresses on which the survivors of a call listen, in the outcome and in its notice.
pub(crate) async fn add_ports(outcome: &mut Outcome) {
    if outcome.survivors.is_empty() {
        return;
    }
    let survivors = outcome.survivors.iter();
    let pids: Vec<u32> = survivors.map(|survivor| survivor.pid).collect();
    let Ok(mut addresses) = run_blocking(move || listening_addresses(&pids)).await else {
        return;
    };
    for survivor in &mut outcome.survivors {
        survivor.listens_on = addresses.remove(&survivor.pid).unwrap_or_default();
    }
    let is_survivors = |notice: &&mut Notice| matches!(notice.kind, NoticeKind::Survivors { .. });
    if let Some(notice) = outcome.notices.iter_mut().find(is_survivors) {
        let survivors = outcome.survivors.clone();
        *notice = NoticeKind::Survivors { survivors }.into();
    }
}

/// The network in which a call ran.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CallNetwork {
    /// The network of this process.
    Host,
    /// The network namespace of a sandbox; `None` if its name is unknown.
    Sandbox(Option<PathBuf>),
}

impl CallNetwork {
    /// True if a process in this network namespace can hold a port that the call needs. `host` is
    /// the namespace of this process.
    fn can_collide(&self, network: Option<&PathBuf>, host: Option<&PathBuf>) -> bool {
        match self {
            Self::Host => network == host,
            Self::Sandbox(Some(namespace)) => network == Some(namespace),
            Self::Sandbox(None) => network.is_some() && network != host,
        }
    }
}

/// The parts of a failed call that decide what its notices may name.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FailedCall<'a> {
    pub(crate) command: &'a str,
    pub(crate) cwd: &'a Path,
    pub(crate) network: &'a CallNetwork,
    /// The plan of the call's sandbox; `None` without a sandbox.
    pub(crate) plan: Option<&'a Arc<Plan>>,
}

impl<'a> FailedCall<'a> {
    pub(crate) fn without_sandbox(command: &'a str, cwd: &'a Path) -> Self {
        Self {
            command,
            cwd,
            network: &CallNetwork::Host,
            plan: None,
        }
    }
}

/// Returns the notices about the port and the lock that the printed lines of a failed command name.
pub(crate) async fn notices(
    tool: &ToolContext,
    call: FailedCall<'_>,
    lines: &[&str],
) -> Vec<Notice> {
    let mut notices = Vec::new();
    if let Some(message) = port_in_use(lines) {
        notices.extend(port_notice(tool, call.command, message, call.network).await);
    }
    if let Some(message) = held_lock(lines, call.cwd, tool.host.home.as_deref()) {
        notices.extend(lock_notice(tool, call, message).await);
    }
    notices
}

/// True if a sandboxed call can write the file, and so may learn which process holds it. The check
/// is needed because a command can print any path, and can create links to any path.
fn is_within_sandbox(plan: &Plan, file: &Path) -> bool {
    fs::canonicalize(file)
        .is_ok_and(|file| plan.is_writable(&file) && plan.hidden.hiding(&file).is_none())
}

/// Returns the notice about the first file of the lock that exists and that a process holds. A
/// process need not hold the file of a git lock.
async fn lock_notice(
    tool: &ToolContext,
    call: FailedCall<'_>,
    message: LockMessage,
) -> Option<Notice> {
    let (name, pid) = (message.tool, message.pid);
    let (cwd, plan) = (call.cwd.to_owned(), call.plan.map(Arc::clone));
    let find = move || {
        let may_be_named = |path: &PathBuf| match &plan {
            Some(plan) => is_within_sandbox(plan, path),
            None => path.exists(),
        };
        let mut files = message.files.into_iter().filter(may_be_named);
        files.find_map(|path| {
            // A git command that waits for an editor or a hook has closed the file of its lock.
            let is_git = name == GIT;
            let roots = || vec![git_root(&path), cwd.clone()];
            let holder = lock_holder(&path)
                .or_else(|| Some((pid?, command_of(pid?)?)))
                .or_else(|| is_git.then(|| waiting_program_in(GIT, &roots())).flatten());
            let changed = fs::metadata(&path).and_then(|meta| meta.modified()).ok()?;
            (holder.is_some() || is_git).then_some((path, holder, Timestamp::from(changed)))
        })
    };
    let (path, holder, changed) = run_blocking(find).await.ok()??;
    let mut reported = None;
    if let Some((pid, mut command)) = holder {
        if call.plan.is_some() {
            // The arguments of a process outside of the sandbox may be secret.
            command.truncate(command.find(' ').unwrap_or(command.len()));
        }
        let mut holder = Holder::new(pid, command);
        if let Some(jobs) = tool.jobs.as_ref().and_then(|starter| starter.jobs())
            && let Some(job) = jobs.job_of(pid).await
        {
            // The arguments of a job's shell are agent-bash's own, not the job's script.
            if job.pid == pid && call.plan.is_none() {
                holder.command = shown_script(&job.command);
            }
            holder.job = Some(job.id);
        }
        reported = Some(holder);
    }
    let kind = NoticeKind::LockHeld {
        tool: name.to_owned(),
        path: path.display().to_string(),
        holder: reported,
        age_s: tool.clock.wall().0.saturating_sub(changed.0) / 1000,
    };
    Some(kind.into())
}

/// Returns the first line of a job's script, shortened as the command line of a process is.
fn shown_script(script: &str) -> String {
    let mut lines = script.trim_end().lines();
    let line = lines.next().unwrap_or_default();
    let mut shown = shown_command_line(&[line.as_bytes().to_vec()]);
    if lines.next().is_some() && !shown.ends_with('…') {
        shown.push('…');
    }
    shown
}

/// Returns the directory that contains the `.git` of a lock.
fn git_root(lock: &Path) -> PathBuf {
    let mut parents = lock.ancestors();
    let git = parents.find(|parent| parent.ends_with(".git"));
    git.and_then(Path::parent).unwrap_or(lock).to_owned()
}

/// Returns the notice about the processes that listen on the port in use.
async fn port_notice(
    tool: &ToolContext,
    command: &str,
    message: PortMessage,
    network: &CallNetwork,
) -> Option<Notice> {
    let jobs = tool.jobs.as_ref().and_then(|starter| starter.jobs());
    let mut listeners = listeners(jobs.as_deref()).await;
    let host = network_namespace(std::process::id());
    listeners.retain(|listener| network.can_collide(listener.network.as_ref(), host.as_ref()));
    let candidates = match message {
        PortMessage::Port(port) => vec![port],
        PortMessage::Unnamed => possible_ports(command),
    };
    for port in &candidates {
        let has_port = |listener: &&JobListener| {
            let mut addresses = listener.holder.listens_on.iter();
            addresses.any(|address| address.port() == *port)
        };
        let listener = listeners.iter().find(has_port);
        let mut holder = listener.map(|listener| listener.holder.clone());
        if holder.is_none() && *network == CallNetwork::Host {
            let port = *port;
            let process = run_blocking(move || port_holder(port)).await.ok().flatten();
            holder = process.map(|process| {
                let mut holder = match process.pid {
                    Some(pid) => Holder::new(pid, process.command),
                    None => Holder::unseen(process.uid),
                };
                holder.listens_on = vec![process.address];
                holder
            });
        }
        if let Some(holder) = holder {
            let holders = vec![holder];
            let port = Some(*port);
            return Some(NoticeKind::PortInUse { port, holders }.into());
        }
    }
    let is_unnamed = message == PortMessage::Unnamed && !listeners.is_empty();
    is_unnamed.then(|| {
        let holders = listeners.into_iter().map(|listener| listener.holder);
        let holders = holders.collect();
        NoticeKind::PortInUse {
            port: None,
            holders,
        }
        .into()
    })
}

/// Returns the listening processes of all jobs.
async fn listeners(jobs: Option<&Jobs>) -> Vec<JobListener> {
    let Some(jobs) = jobs else {
        return Vec::new();
    };
    let mut listeners = Vec::new();
    for job in jobs.list().unwrap_or_default() {
        if job.state == JobState::Running || !job.remaining.is_empty() {
            listeners.extend(jobs.listeners_of(&job).await);
        }
    }
    listeners
}

#[cfg(test)]
mod tests {
    use super::*;
    use agent_bash_core::sandbox::{Tier, WriteLevel};

    #[test]
    fn sandboxed_call_learns_only_of_files_that_it_can_write() {
        let temp = tempfile::tempdir().unwrap();
        let base = fs::canonicalize(temp.path()).unwrap();
        let at = |name: &str| base.join(name);
        for directory in ["work/secrets", "home"] {
            fs::create_dir_all(at(directory)).unwrap();
        }
        for file in ["work/a.lock", "work/secrets/b.lock", "home/c.lock"] {
            fs::write(at(file), "").unwrap();
        }
        std::os::unix::fs::symlink(at("home/c.lock"), at("work/link.lock")).unwrap();
        let plan = Plan {
            writable: vec![at("work")],
            hidden: vec![at("work/secrets")].into(),
            ..Plan::new(WriteLevel::WorkspaceWrite, Tier::Full)
        };
        for (name, want) in [
            ("work/a.lock", true),
            ("work/../work/a.lock", true),
            ("work/gone.lock", false),
            ("work/secrets/b.lock", false),
            ("work/link.lock", false),
            ("work/../home/c.lock", false),
            ("home/c.lock", false),
        ] {
            assert_eq!(is_within_sandbox(&plan, &at(name)), want, "{name}");
        }
    }
}
