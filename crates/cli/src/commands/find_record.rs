//! Finds the record that `log` and `report` read.

use crate::args::{RecordName, RecordSelection as Chosen};
use crate::commands::default_state::last_of_project;
use crate::commands::later_events;
use crate::output;
use crate::process_start::StartContext;
use crate::usage::UsageError;
use agent_bash::change_sets::ListedChanges;
use agent_bash::core::Timestamp;
use agent_bash::core::changes::{Changes, ChangesId, ChangesState};
use agent_bash::journals::{JournalContents, Recording, check_readable, recordings};
use anyhow::Context;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The selected records of a session.
pub(crate) struct RecordedSession {
    pub(crate) name: String,
    /// The time at which the first shown call began.
    pub(crate) since: Timestamp,
    pub(crate) recorded: JournalContents,
    /// When the first call of each recorded process began.
    pub(crate) process_starts: Vec<Timestamp>,
    /// All stored change sets of the session.
    pub(crate) sets: Vec<ListedChanges>,
}

/// A record and its name.
pub(crate) struct NamedRecord {
    pub(crate) name: RecordName,
    pub(crate) recording: Recording,
}

/// Returns all records, oldest first, or the records of one name.
pub(crate) fn all(start: &StartContext, session: Option<&str>) -> anyhow::Result<Vec<NamedRecord>> {
    let mut numbers: BTreeMap<String, usize> = BTreeMap::new();
    let state = state(start)?;
    check_readable(&state).context(
        "the records cannot be read; a sandboxed call has no access to them, so read them outside of the sandbox",
    )?;
    let all = recordings(&state, session).into_iter();
    let named = all.map(|recording| {
        let number = numbers.entry(recording.session.clone()).or_default();
        *number += 1;
        let name = RecordName {
            session: recording.session.clone(),
            number: Some(*number),
        };
        NamedRecord { name, recording }
    });
    Ok(named.collect())
}

/// Returns the state directory.
pub(crate) fn state(start: &StartContext) -> anyhow::Result<PathBuf> {
    start.host.state_dir().context(
        "no directory for records is known: set AGENT_BASH_STATE_DIR or HOME to an absolute path",
    )
}

/// Returns the requested record; else the one that was last written to, in this project if it has
/// one. `None` if none exists. A record of another project is named on stderr.
pub(crate) fn session(
    start: &StartContext,
    chosen: &Chosen,
) -> anyhow::Result<Option<RecordedSession>> {
    let requested = chosen.session.as_ref();
    let mut found = all(start, requested.map(|requested| requested.session.as_str()))?;
    if let Some(number) = requested.and_then(|requested| requested.number) {
        if chosen.all {
            return Err(UsageError(
                "`--all` selects all records of a session: write its name without `@NUMBER`".into(),
            )
            .into());
        }
        found.retain(|named| named.name.number == Some(number));
    }
    let last = found.iter().max_by_key(|named| named.recording.written_at);
    let Some(mut last) = last.map(|last| last.name.clone()) else {
        return Ok(None);
    };
    if requested.is_none() {
        match last_of_project(found.iter(), |named| &named.recording, start) {
            Some(named) => last = named.name.clone(),
            None => output::say(&format!(
                "[This project has no record. This is the last one of another project, session {}. \
                 Its changes: agent-bash changes list --state {0}]",
                last.session
            )),
        }
    }
    let name = last.session.clone();
    found.retain(|named| named.name == last || chosen.all && named.name.session == name);
    let found: Vec<Recording> = found.into_iter().map(|named| named.recording).collect();
    let process_starts: Vec<Timestamp> =
        found.iter().map(|recording| recording.started_at).collect();
    let since = process_starts.iter().copied().min().unwrap_or(Timestamp(0));
    let mut recorded = JournalContents::default();
    for recording in &found {
        let read = recording.read();
        let part = read.with_context(|| format!("the record of {name} cannot be read"))?;
        recorded.entries.extend(part.entries);
        recorded.damaged += part.damaged;
        recorded.newer += part.newer;
        recorded.full |= part.full;
    }
    recorded
        .entries
        .sort_by_key(|entry| entry.result.started_at);
    let sets = later_events::sets(start, &state(start)?, &name);
    update_states(&mut recorded, &sets);
    Ok(Some(RecordedSession {
        name,
        since,
        recorded,
        process_starts,
        sets,
    }))
}

/// Returns the message for a missing record, which names the commands and the setting that record.
pub(crate) fn missing_text(chosen: &Chosen) -> String {
    let missing = match &chosen.session {
        Some(name) => {
            format!("there is no record {name}: `agent-bash log --list` lists the records")
        }
        None => "nothing is recorded".to_owned(),
    };
    format!(
        "agent-bash: {missing}. rpc, mcp, shell and tui record their calls unless the setting journal.level is off"
    )
}

/// Updates the recorded changes from their change sets, if these are still stored.
fn update_states(recorded: &mut JournalContents, sets: &[ListedChanges]) {
    let now: BTreeMap<ChangesId, &Changes> =
        sets.iter().map(|it| (it.changes.id, &it.changes)).collect();
    let results = recorded.entries.iter_mut().map(|entry| &mut entry.result);
    for changes in results.filter_map(|result| result.changes.as_mut()) {
        match now.get(&changes.id) {
            // The journal recorded the call when its job had only begun.
            Some(now) if changes.state == ChangesState::Running => *changes = (*now).clone(),
            Some(now) => {
                (changes.state, changes.undone_in_part) = (now.state, now.undone_in_part);
            }
            None => {}
        }
    }
}
