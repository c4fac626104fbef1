//! Which record `log` and `report` read.

use crate::args::Recorded as Chosen;
use crate::start::Start;
use agent_bash::core::ToolResult;
use agent_bash::journals::{Recorded, Recording, recordings};
use anyhow::Context;
use std::path::PathBuf;

/// What is recorded of a session.
pub(crate) struct Session {
    pub(crate) name: String,
    pub(crate) recorded: Recorded,
}

/// All records, oldest first; those of one session, if it is named.
pub(crate) fn all(start: &Start, session: Option<&str>) -> anyhow::Result<Vec<Recording>> {
    Ok(recordings(&state(start)?, session))
}

/// The state directory.
pub(crate) fn state(start: &Start) -> anyhow::Result<PathBuf> {
    start.host.state_dir().context(
        "no directory for records is known: set AGENT_BASH_STATE_DIR or HOME to an absolute path",
    )
}

/// The record that was asked for; `None` if there is none.
pub(crate) fn session(start: &Start, chosen: &Chosen) -> anyhow::Result<Option<Session>> {
    let mut found = all(start, chosen.session.as_deref())?;
    let Some(last) = found.pop() else {
        return Ok(None);
    };
    let name = last.session.clone();
    found.retain(|one| chosen.all && one.session == name);
    found.push(last);
    let mut recorded = Recorded::default();
    for one in &found {
        let read = one.read();
        let part = read.with_context(|| format!("the record of {name} cannot be read"))?;
        recorded.entries.extend(part.entries);
        recorded.damaged += part.damaged;
        recorded.full |= part.full;
    }
    recorded
        .entries
        .sort_by_key(|entry| entry.result.started_at);
    Ok(Some(Session { name, recorded }))
}

/// Says that there is nothing, and what records it.
pub(crate) fn none(chosen: &Chosen) -> String {
    let whose = match &chosen.session {
        Some(name) => {
            format!("nothing is recorded of {name}: `agent-bash log --list` lists what is")
        }
        None => "nothing is recorded".to_owned(),
    };
    format!(
        "agent-bash: {whose}. rpc, mcp and tui record their calls unless the setting journal.level is off"
    )
}

/// `+2 ~1 −1`; empty if no file changed.
pub(crate) fn delta(result: &ToolResult) -> String {
    let Some(changes) = &result.changes else {
        return String::new();
    };
    agent_bash_render::words::delta(&changes.counts)
}
