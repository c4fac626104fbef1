//! Chooses the state directory of a command without `--state`: that of `agent-bash run`, or an
//! agent's conversation.

use crate::args::DEFAULT_SESSION;
use crate::output;
use crate::process_start::StartContext;
use crate::table::ago;
use agent_bash::change_sets::Store;
use agent_bash::core::{Clock, Timestamp};
use agent_bash::journals::{Recording, recordings};
use agent_bash::process::SystemClock;
use agent_bash_hooks::agent_shell::{conversation_of, is_conversation_name};
use std::path::{Path, PathBuf};

/// A state directory, and how it was chosen.
#[derive(Debug)]
pub(crate) struct ChosenState {
    /// The name of the session.
    pub(crate) name: String,
    /// True if the state directory is an agent's conversation that the user did not name.
    pub(crate) is_assumed: bool,
}

impl ChosenState {
    fn of(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            is_assumed: false,
        }
    }
}

/// Returns the requested state directory; else `cli` or this project's conversation, whichever has
/// the newer item. `newest` returns the time of the newest item in a state directory. If a
/// conversation is chosen, its name is printed to stderr.
pub(crate) fn choose(
    start: &StartContext,
    requested: Option<&str>,
    newest: impl Fn(&str) -> Option<Timestamp>,
) -> ChosenState {
    if let Some(requested) = requested {
        return ChosenState::of(requested);
    }
    let Some(conversation) = conversation(start) else {
        return ChosenState::of(DEFAULT_SESSION);
    };
    let time = newest(&conversation);
    match time {
        Some(time) if Some(time) > newest(DEFAULT_SESSION) => {
            let age = ago(time, SystemClock::new().wall());
            output::say(&format!(
                "[Read from the agent's conversation {conversation}, {age}. \
                 For `agent-bash run`: --state {DEFAULT_SESSION}]"
            ));
            ChosenState {
                name: conversation,
                is_assumed: true,
            }
        }
        _ => ChosenState::of(DEFAULT_SESSION),
    }
}

/// Returns the error for an item (`job 3`) whose number exists in both state directories.
pub(crate) fn ambiguous(item: &str, state: &ChosenState) -> String {
    let name = &state.name;
    format!(
        "agent-bash: {item} exists for `agent-bash run` and for the agent's conversation; name one: --state {DEFAULT_SESSION} or --state {name}"
    )
}

/// Returns the conversation of the agent that runs this command; else the one that was last
/// recorded in this project.
fn conversation(start: &StartContext) -> Option<String> {
    let state = start.host.state_dir()?;
    let caller = conversation_of(&start.host.env);
    let caller = caller.map(|caller| format!("{}-{}", caller.agent, caller.id));
    let is_stored =
        |name: &String| state.join(name).is_dir() || !recordings(&state, Some(name)).is_empty();
    if let Some(caller) = caller.filter(is_stored) {
        return Some(caller);
    }
    let recorded = recordings(&state, None);
    let conversations = recorded
        .iter()
        .filter(|it| is_conversation_name(&it.session));
    let recorded = last_of_project(conversations, |recording| recording, start);
    // If the journal is off, the stored change sets still name the conversation.
    let changed = || {
        let names =
            Store::open(&state).and_then(|store| store.sessions_of(&working_directory(start)));
        let mut names = names.unwrap_or_default().into_iter();
        names.find(|name| is_conversation_name(name))
    };
    let recorded = recorded.map(|recording| recording.session.clone());
    recorded.or_else(changed)
}

/// Returns the item with the record that was last written to, of those records with a last call in
/// this project.
pub(crate) fn last_of_project<T>(
    items: impl Iterator<Item = T>,
    recording: impl Fn(&T) -> &Recording,
    start: &StartContext,
) -> Option<T> {
    let cwd = working_directory(start);
    let mut items: Vec<T> = items.collect();
    items.sort_by_key(|item| std::cmp::Reverse(recording(item).written_at));
    items.into_iter().find(|item| {
        let entry = recording(item).last().ok().flatten();
        entry.is_some_and(|entry| is_same_project(&cwd, Path::new(&entry.result.cwd)))
    })
}

/// Returns the working directory, if possible without links.
fn working_directory(start: &StartContext) -> PathBuf {
    let cwd = &start.host.cwd;
    cwd.canonicalize().unwrap_or_else(|_| cwd.clone())
}

/// True if one directory contains the other, or both are in the same Git work tree.
fn is_same_project(one: &Path, other: &Path) -> bool {
    let other = other.canonicalize().unwrap_or_else(|_| other.to_owned());
    let work_tree = |directory: &Path| -> Option<PathBuf> {
        let mut above = directory.ancestors();
        above
            .find(|directory| directory.join(".git").exists())
            .map(Path::to_owned)
    };
    one.starts_with(&other)
        || other.starts_with(one)
        || work_tree(one).is_some_and(|tree| work_tree(&other) == Some(tree))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn project_is_a_directory_above_or_below_or_the_same_work_tree() {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().canonicalize().unwrap();
        let at = |name: &str| root.join(name);
        for name in ["a/.git", "a/src", "a/docs", "b/src", "b/docs"] {
            std::fs::create_dir_all(at(name)).unwrap();
        }
        for (one, other, expected) in [
            ("a", "a", true),
            ("a", "a/src", true),
            ("a/src", "a", true),
            ("a/src", "a/docs", true),
            ("b/src", "b/docs", false),
            ("a/src", "b/src", false),
            ("a", "b", false),
        ] {
            let found = is_same_project(&at(one), &at(other));
            assert_eq!(found, expected, "{one} {other}");
        }
    }
}
