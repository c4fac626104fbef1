//! Actions on a call's changes: their keys, the questions before them, and their outcomes.

use agent_bash::ChangesAct;
use agent_bash::change_sets::ChangesScope;
use agent_bash::core::changes::{
    ChangeCounts, Changes, ChangesId, ChangesState, FileChange, FileName,
};
use agent_bash::core::visible::one_line;
use agent_bash_render::CardChanges;

/// Why an undo is not available yet.
const STILL_RUNNING_REASON: &str =
    "nothing to undo yet: a background process of the command still runs (ctrl+g ends it)";

/// Hint below a refusal that a running background process may have caused.
pub(crate) const MAY_STILL_RUN_HINT: &str =
    "→ a background process of the command still runs: ctrl+g ends it";

/// The change set of a card that an action applies to. Changes of background processes are undone
/// first and redone last.
pub(crate) fn target_set(act: ChangesAct, changes: &CardChanges) -> &Changes {
    let can = |set: &&Changes| set.possible_actions().contains(&act);
    let found = match act {
        ChangesAct::Undo => changes.sets().rev().find(can),
        _ => changes.sets().find(can),
    };
    found.unwrap_or(&changes.set)
}

/// The change sets of a card's background processes that allow an action, in the order of
/// execution.
pub(crate) fn background_sets(act: ChangesAct, changes: &CardChanges) -> Vec<ChangesId> {
    let background = changes.background.iter().map(|(set, _)| set);
    let can = background.filter(|set| set.possible_actions().contains(&act));
    let mut all: Vec<ChangesId> = can.map(|set| set.id).collect();
    if act == ChangesAct::Undo {
        all.reverse();
    }
    all
}

/// The card's text for a trial about which another program, such as `agent-bash changes`, has
/// decided.
pub(crate) fn decided_text(set: &Changes) -> String {
    let id = set.id;
    match set.state {
        ChangesState::Discarded => format!("[Trial {id} was discarded elsewhere.]"),
        ChangesState::Undone => format!("[Trial {id} was committed and undone elsewhere.]"),
        _ => format!("[Trial {id} was committed elsewhere.]"),
    }
}

/// Returns true if a trial awaits a decision. A trial that changes no file needs none.
pub(crate) fn is_undecided(set: &Changes) -> bool {
    set.state == ChangesState::Held && set.counts.total() > 0
}

/// Returns true if the processes of a change set may still change files, and have changed some.
fn may_still_change_files(set: &Changes) -> bool {
    set.state == ChangesState::Running && set.counts.total() > 0
}

/// Returns true if both change sets touch the same file.
fn shares_files(one: &Changes, other: &Changes) -> bool {
    let mut files = one.files.iter();
    files.any(|file| {
        other
            .files
            .iter()
            .any(|candidate| candidate.name == file.name)
    })
}

/// The names of change sets: `changes 119`, `changes 123, 121, 119`.
pub(crate) fn set_names(ids: &[ChangesId]) -> String {
    let ids: Vec<String> = ids.iter().map(ChangesId::to_string).collect();
    format!("changes {}", ids.join(", "))
}

/// Returns true for a trial that is known to have changed no file.
pub(crate) fn is_empty_trial(set: &Changes) -> bool {
    set.state == ChangesState::Discarded && set.counts.total() == 0 && set.exact
}

/// Returns why there is no diff; `None` if there is one.
pub(crate) fn no_diff_reason(set: &Changes) -> Option<String> {
    match set.state {
        ChangesState::Discarded => Some("its changes were discarded".to_owned()),
        _ if set.counts.total() > 0 => None,
        _ => Some(outside_text(set).unwrap_or_else(|| "it changed no file".to_owned())),
    }
}

/// Names files written outside of the recorded directory, if the call changed no others.
fn outside_text(set: &Changes) -> Option<String> {
    if set.outside.is_empty() || set.counts.total() > 0 {
        return None;
    }
    let below =
        |(directory, count): (&String, &u64)| format!("{count} below {}", one_line(directory));
    let all: Vec<String> = set.outside.iter().map(below).collect();
    let all = all.join(", ");
    Some(format!(
        "it wrote only outside of the recorded directory ({all})"
    ))
}

/// The key of an action.
pub(crate) fn key(act: ChangesAct) -> char {
    match act {
        ChangesAct::Commit => 'c',
        ChangesAct::Discard => 'd',
        ChangesAct::Undo => 'u',
        ChangesAct::Redo => 'r',
    }
}

/// The available keys: `c commit · d discard`. Omits a commit that would be refused; its key shows
/// the reason.
pub(crate) fn keys_text(changes: &CardChanges) -> String {
    let is_refused = |act: &ChangesAct, set: &Changes| {
        *act == ChangesAct::Commit && set.commit_obstacle().is_some()
    };
    let can = |act: &ChangesAct| {
        let set = target_set(*act, changes);
        set.possible_actions().contains(act) && !is_refused(act, set)
    };
    let keys: Vec<String> = ALL_ACTIONS
        .iter()
        .filter(|act| can(act))
        .map(|act| format!("{} {}", key(*act), act.verb()))
        .collect();
    keys.join(" · ")
}

/// All actions, available or not.
const ALL_ACTIONS: [ChangesAct; 4] = [
    ChangesAct::Commit,
    ChangesAct::Discard,
    ChangesAct::Undo,
    ChangesAct::Redo,
];

pub(crate) fn action_of_key(key_pressed: char) -> Option<ChangesAct> {
    ALL_ACTIONS.into_iter().find(|act| key(*act) == key_pressed)
}

/// Returns the undo or redo of a card's changes and all later ones, with the first change set.
/// `None` if the card's changes allow neither.
pub(crate) fn action_since(changes: &CardChanges) -> Option<(ChangesAct, ChangesId)> {
    [ChangesAct::Undo, ChangesAct::Redo]
        .into_iter()
        .find_map(|act| {
            let can = changes
                .sets()
                .filter(|set| set.possible_actions().contains(&act));
            Some((act, can.map(|set| set.id).min()?))
        })
}

/// Returns why an action is not available for a call's changes; `None` if it is available.
pub(crate) fn unavailable_reason(act: ChangesAct, changes: Option<&CardChanges>) -> Option<String> {
    let target = changes.map(|changes| (changes, target_set(act, changes)));
    if let Some((changes, set)) = target
        && act == ChangesAct::Undo
        && changes.background.iter().any(|(it, _)| {
            may_still_change_files(it)
                && (!set.possible_actions().contains(&act) || shares_files(it, set))
        })
    {
        return Some(STILL_RUNNING_REASON.to_owned());
    }
    let target = target.map(|(_, set)| set);
    let Some(set) = target.filter(|set| set.counts.total() > 0 || set.state == ChangesState::Held)
    else {
        let why = target.and_then(outside_text);
        let why = why.unwrap_or_else(|| "no changes are recorded".to_owned());
        return Some(format!("nothing to {}: {why}", act.verb()));
    };
    if set.possible_actions().contains(&act) {
        return None;
    }
    if set.counts.total() == 0 {
        return Some(format!("nothing to {}: it changed no file", act.verb()));
    }
    Some(act.refusal(set.id, act.obstacle(set.state, set.by)))
}

/// An action that awaits confirmation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ProposedAction {
    pub(crate) act: ChangesAct,
    pub(crate) id: ChangesId,
    /// Further change sets, in the order of execution.
    pub(crate) further_ids: Vec<ChangesId>,
    /// The scope, if the action undoes or redoes a card's changes and all later ones.
    pub(crate) scope: Option<ChangesScope>,
    /// True if files that were changed since are skipped.
    pub(crate) skips_conflicts: bool,
    /// True if a background process made the changes.
    pub(crate) is_background: bool,
    pub(crate) root: String,
    pub(crate) counts: ChangeCounts,
    /// The effect of the action on the first of the files.
    pub(crate) files: Vec<FileChange>,
    /// Number of further files.
    pub(crate) more: u64,
    /// Files that were changed since.
    pub(crate) conflicts: Vec<FileName>,
    /// With several change sets: files that another program changed between them. Only the changes
    /// after that are undone.
    pub(crate) changed_between: Vec<FileName>,
}

/// Heading of the skipped files.
const SKIPPED_HEADING: &str = "Skipped, because they were changed since:";

impl ProposedAction {
    /// An action on one change set that has these effects.
    pub(crate) fn of(act: ChangesAct, id: ChangesId, root: String, files: Vec<FileChange>) -> Self {
        Self {
            act,
            id,
            further_ids: Vec::new(),
            scope: None,
            skips_conflicts: false,
            is_background: false,
            root,
            counts: ChangeCounts::of(&files),
            files,
            more: 0,
            conflicts: Vec::new(),
            changed_between: Vec::new(),
        }
    }

    /// The change sets of the action, in the order of execution.
    pub(crate) fn set_ids(&self) -> Vec<ChangesId> {
        std::iter::once(&self.id)
            .chain(&self.further_ids)
            .copied()
            .collect()
    }

    /// A line about files that were changed between the change sets; empty if there are none.
    pub(crate) fn between_text(&self) -> String {
        if self.changed_between.is_empty() {
            return String::new();
        }
        let names: Vec<_> = self
            .changed_between
            .iter()
            .map(|name| one_line(&name.path))
            .collect();
        let names = names.join(", ");
        format!("These files were changed in between, so their earlier changes stay: {names}")
    }

    pub(crate) fn title(&self) -> String {
        let id = self.id;
        // In the order in which the changes were made.
        let mut all = self.set_ids();
        all.sort_unstable();
        let all = set_names(&all);
        match self.act {
            ChangesAct::Undo if self.scope.is_some() => format!("Undo all since then ({all})?"),
            ChangesAct::Redo if self.scope.is_some() => format!("Redo all since then ({all})?"),
            ChangesAct::Commit => format!("Commit the changes of trial {id}?"),
            ChangesAct::Discard => format!("Discard the changes of trial {id}?"),
            ChangesAct::Undo if self.is_background && self.skips_conflicts => {
                format!("Undo the other later changes of the background process ({all})?")
            }
            ChangesAct::Undo if self.is_background => {
                format!("Undo the later changes of the background process ({all})?")
            }
            ChangesAct::Redo if self.is_background => {
                format!("Redo the later changes of the background process ({all})?")
            }
            ChangesAct::Undo if self.skips_conflicts => {
                format!("Undo the other files of changes {id}?")
            }
            ChangesAct::Undo => format!("Undo changes {id}?"),
            ChangesAct::Redo => format!("Redo changes {id}?"),
        }
    }

    /// A line about the effect on the listed files.
    pub(crate) fn summary(&self) -> String {
        let counts = match self.counts.in_words() {
            text if text.is_empty() => "no file".to_owned(),
            words => words,
        };
        let root = &self.root;
        match self.act {
            ChangesAct::Discard => format!("Not applied, and removed: {counts} in {root}"),
            _ => format!("In {root}: {counts}"),
        }
    }

    /// Heading of [`Self::conflicts`].
    pub(crate) fn conflicts_heading(&self) -> &'static str {
        match self.act {
            ChangesAct::Discard if !self.conflicts.is_empty() => "Changed since:",
            _ if self.skips_conflicts => SKIPPED_HEADING,
            _ => "",
        }
    }

    /// The message while the action runs.
    pub(crate) fn busy_text(&self) -> &'static str {
        match self.act {
            ChangesAct::Commit => "Committing…",
            ChangesAct::Discard => "Discarding…",
            ChangesAct::Undo => "Undoing…",
            ChangesAct::Redo => "Redoing…",
        }
    }
}
