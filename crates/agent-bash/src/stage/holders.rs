//! Names the processes that hold what a failed command needed: a port in use.
//!
//! The output only says what to look up; the kernel says which process holds it.

mod port_message;

use crate::blocking::run_blocking;
use crate::tool_context::ToolContext;
use agent_bash_core::{Holder, Notice, NoticeKind, Outcome};
use agent_bash_exec::{JobListener, JobState, Jobs};
use agent_bash_process::{listening_addresses, network_namespace, port_holder};
use port_message::PortMessage;
use std::path::PathBuf;

/// Sets the addresses on which the survivors of a call listen, also in their notice.
pub(crate) async fn add_ports(outcome: &mut Outcome) {
    if outcome.survivors.is_empty() {
        return;
    }
    let pids: Vec<u32> = outcome.survivors.iter().map(|it| it.pid).collect();
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

/// The network of a call.
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
    fn may_be(&self, network: Option<&PathBuf>, host: Option<&PathBuf>) -> bool {
        match self {
            Self::Host => network == host,
            Self::Sandbox(Some(own)) => network == Some(own),
            Self::Sandbox(None) => network.is_some() && network != host,
        }
    }
}

/// Returns the notices about what the printed lines of a failed command name.
pub(crate) async fn notices(
    tool: &ToolContext,
    command: &str,
    lines: &[&str],
    network: &CallNetwork,
) -> Vec<Notice> {
    let mut notices = Vec::new();
    if let Some(message) = port_message::find(lines) {
        notices.extend(port_notice(tool, command, message, network).await);
    }
    notices
}

async fn port_notice(
    tool: &ToolContext,
    command: &str,
    message: PortMessage,
    network: &CallNetwork,
) -> Option<Notice> {
    let jobs = tool.jobs.as_ref().and_then(|starter| starter.jobs());
    let mut listeners = listeners(jobs.as_deref()).await;
    let host = network_namespace(std::process::id());
    listeners.retain(|listener| network.may_be(listener.network.as_ref(), host.as_ref()));
    let candidates = match message {
        PortMessage::Port(port) => vec![port],
        PortMessage::Unnamed => port_message::numbers(command),
    };
    for port in &candidates {
        let has_port = |listener: &&JobListener| {
            let mut addresses = listener.holder.listens_on.iter();
            addresses.any(|address| address.port() == *port)
        };
        let mut holder = listeners.iter().find(has_port).map(|it| it.holder.clone());
        if holder.is_none() && *network == CallNetwork::Host {
            let port = *port;
            let other = run_blocking(move || port_holder(port)).await.ok().flatten();
            holder = other.map(|other| {
                let mut holder = match other.pid {
                    Some(pid) => Holder::new(pid, other.command),
                    None => Holder::unseen(other.uid),
                };
                holder.listens_on = vec![other.address];
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
        let holders = listeners.into_iter().map(|it| it.holder).collect();
        NoticeKind::PortInUse {
            port: None,
            holders,
        }
        .into()
    })
}

/// Returns the processes of all jobs that listen.
async fn listeners(jobs: Option<&Jobs>) -> Vec<JobListener> {
    let Some(jobs) = jobs else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for job in jobs.list().unwrap_or_default() {
        if job.state == JobState::Running || !job.remaining.is_empty() {
            found.extend(jobs.listeners_of(&job).await);
        }
    }
    found
}
