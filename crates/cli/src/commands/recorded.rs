//! Which record `log` and `report` read.

use crate::args::Recorded as Chosen;
use crate::start::Start;
use agent_bash::change_sets::Store;
use agent_bash::core::ToolResult;
use agent_bash::core::changes::{ChangesId, ChangesState};
use agent_bash::journals::{Recorded, Recording, recordings};
use agent_bash_render::words;
use anyhow::Context;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

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
    renew(&mut recorded, &state(start)?, &name);
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

/// `+2 ~1 −1`, `−1 held`; empty if no file changed.
pub(crate) fn effect(result: &ToolResult) -> String {
    result
        .changes
        .as_ref()
        .map(words::effect)
        .unwrap_or_default()
}

/// Takes over what has become of changes since they were recorded, as far as they are still kept.
fn renew(recorded: &mut Recorded, state: &Path, session: &str) {
    let Ok(sets) = Store::open(state).and_then(|store| store.list(session)) else {
        return;
    };
    let now: BTreeMap<ChangesId, ChangesState> = sets
        .iter()
        .map(|set| (set.changes.id, set.changes.state))
        .collect();
    let results = recorded.entries.iter_mut().map(|entry| &mut entry.result);
    for changes in results.filter_map(|result| result.changes.as_mut()) {
        if let Some(state) = now.get(&changes.id) {
            changes.state = *state;
        }
    }
}
