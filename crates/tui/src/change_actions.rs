//! What can be done with a call's changes: which key does it, what is asked before, and what is said of it.

use agent_bash::ChangesAct;
use agent_bash::core::changes::{
    ChangeCounts, Changes, ChangesBy, ChangesId, ChangesState, FileChange, FileName, Undoable,
};
use agent_bash::core::visible::one_line;
use agent_bash_render::CardChanges;

/// Why that is not undone.
const GOES_ON: &str = "nothing to undo yet: what the command left running goes on (ctrl+g ends it)";

/// Said below a refusal that may be because of that.
pub(crate) const MAY_GO_ON: &str = "→ what the command left running goes on: ctrl+g ends it";

/// What can be done with a set, in the order in which keys are shown.
pub(crate) fn possible(set: &Changes) -> &'static [ChangesAct] {
    match (set.state, set.by) {
        // There is nothing to apply, but its directory to be removed.
        (ChangesState::Held, ChangesBy::Overlay) if set.counts.total() == 0 => {
            &[ChangesAct::Discard]
        }
        (ChangesState::Held, ChangesBy::Overlay) => &[ChangesAct::Commit, ChangesAct::Discard],
        (ChangesState::Done | ChangesState::Interrupted, _)
            if set.undo != Undoable::No && set.counts.total() > 0 =>
        {
            if set.undone_in_part {
                &[ChangesAct::Undo, ChangesAct::Redo]
            } else {
                &[ChangesAct::Undo]
            }
        }
        (ChangesState::Undone, _) => &[ChangesAct::Redo],
        _ => &[],
    }
}

/// Of a card's sets, the one with which that can be done. What came later is taken back first, and done again last.
pub(crate) fn target(act: ChangesAct, changes: &CardChanges) -> &Changes {
    let can = |set: &&Changes| possible(set).contains(&act);
    let found = match act {
        ChangesAct::Undo => changes.sets().rev().find(can),
        _ => changes.sets().find(can),
    };
    found.unwrap_or(&changes.set)
}

/// Of what came later, all with which that can be done, in the order in which it is done.
pub(crate) fn all_later(act: ChangesAct, changes: &CardChanges) -> Vec<ChangesId> {
    let late = changes.background.iter().map(|(set, _)| set);
    let can = late.filter(|set| possible(set).contains(&act));
    let mut all: Vec<ChangesId> = can.map(|set| set.id).collect();
    if act == ChangesAct::Undo {
        all.reverse();
    }
    all
}

/// What a card says of a trial that somebody else has decided about, as with `agent-bash changes`.
pub(crate) fn decided_text(set: &Changes) -> String {
    let id = set.id;
    match set.state {
        ChangesState::Discarded => format!("[Trial {id} was discarded elsewhere.]"),
        ChangesState::Undone => format!("[Trial {id} was committed and undone elsewhere.]"),
        _ => format!("[Trial {id} was committed elsewhere.]"),
    }
}

/// Whether it waits for a decision: what changes no file needs none.
pub(crate) fn is_undecided(set: &Changes) -> bool {
    set.state == ChangesState::Held && set.counts.total() > 0
}

/// Whether what it is about may go on changing files, and has.
fn goes_on(set: &Changes) -> bool {
    set.state == ChangesState::Running && set.counts.total() > 0
}

/// Whether one of them has made of a file of the other what it is.
fn shares_files(one: &Changes, other: &Changes) -> bool {
    let mut files = one.files.iter();
    files.any(|file| other.files.iter().any(|it| it.name == file.name))
}

/// `changes 119`, `changes 123, 121, 119`.
pub(crate) fn numbers(ids: &[ChangesId]) -> String {
    let ids: Vec<String> = ids.iter().map(ChangesId::to_string).collect();
    format!("changes {}", ids.join(", "))
}

/// Whether a trial is known to have changed no file, so that nothing is held.
pub(crate) fn is_nothing(set: &Changes) -> bool {
    set.state == ChangesState::Discarded && set.counts.total() == 0 && set.exact
}

/// Why there is no diff to be shown; `None` if there is one.
pub(crate) fn no_diff(set: &Changes) -> Option<String> {
    match set.state {
        ChangesState::Discarded => Some("what it changed was discarded".to_owned()),
        _ if set.counts.total() > 0 => None,
        _ => Some(only_outside(set).unwrap_or_else(|| "it changed no file".to_owned())),
    }
}

/// What it wrote beyond the directory that is looked at, if that is all.
fn only_outside(set: &Changes) -> Option<String> {
    if set.outside.is_empty() || set.counts.total() > 0 {
        return None;
    }
    let below =
        |(directory, count): (&String, &u64)| format!("{count} below {}", one_line(directory));
    let all: Vec<String> = set.outside.iter().map(below).collect();
    let all = all.join(", ");
    Some(format!(
        "it wrote only elsewhere ({all}), and nothing of that is kept"
    ))
}

/// The key for it.
pub(crate) fn key(act: ChangesAct) -> char {
    match act {
        ChangesAct::Commit => 'c',
        ChangesAct::Discard => 'd',
        ChangesAct::Undo => 'u',
        ChangesAct::Redo => 'r',
    }
}

fn word(act: ChangesAct) -> &'static str {
    match act {
        ChangesAct::Commit => "commit",
        ChangesAct::Discard => "discard",
        ChangesAct::Undo => "undo",
        ChangesAct::Redo => "redo",
    }
}

/// `c commit · d discard`. What is known to be refused is not offered; asked for, it says why.
pub(crate) fn keys(changes: &CardChanges) -> String {
    let is_refused =
        |act: &ChangesAct, set: &Changes| *act == ChangesAct::Commit && set.in_the_way().is_some();
    let can = |act: &ChangesAct| {
        let set = target(*act, changes);
        possible(set).contains(act) && !is_refused(act, set)
    };
    let keys: Vec<String> = ACTS
        .iter()
        .filter(|act| can(act))
        .map(|act| format!("{} {}", key(*act), word(*act)))
        .collect();
    keys.join(" · ")
}

/// All of them, whatever can be done.
const ACTS: [ChangesAct; 4] = [
    ChangesAct::Commit,
    ChangesAct::Discard,
    ChangesAct::Undo,
    ChangesAct::Redo,
];

/// What a key stands for.
pub(crate) fn act_by(key_pressed: char) -> Option<ChangesAct> {
    ACTS.into_iter().find(|act| key(*act) == key_pressed)
}

/// Why that cannot be done with what a call did to files, if anything is known of that; `None` if it can.
pub(crate) fn unavailable_reason(act: ChangesAct, of: Option<&CardChanges>) -> Option<String> {
    let of = of.map(|changes| (changes, target(act, changes)));
    if let Some((changes, set)) = of
        && act == ChangesAct::Undo
        && changes
            .background
            .iter()
            .any(|(it, _)| goes_on(it) && (!possible(set).contains(&act) || shares_files(it, set)))
    {
        return Some(GOES_ON.to_owned());
    }
    let of = of.map(|(_, set)| set);
    let Some(set) = of.filter(|set| set.counts.total() > 0 || set.state == ChangesState::Held)
    else {
        let why = of.and_then(only_outside);
        let why = why.unwrap_or_else(|| "no change of files is known".to_owned());
        return Some(format!("nothing to {}: {why}", word(act)));
    };
    if possible(set).contains(&act) {
        return None;
    }
    let why = match set.state {
        ChangesState::Held if set.counts.total() == 0 => "it changed no file",
        ChangesState::Held => "what it would change is held back",
        ChangesState::Discarded => "what it changed was discarded",
        ChangesState::Undone => "that is undone already",
        ChangesState::Listed => "only the names of the files are known",
        _ if set.undo == Undoable::No => "nothing was kept of what was there before",
        _ => "that is done, and can be undone",
    };
    Some(format!("nothing to {}: {why}", word(act)))
}

/// Something that waits for a yes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Proposed {
    pub(crate) act: ChangesAct,
    pub(crate) id: ChangesId,
    /// The same with these, one after the other.
    pub(crate) then: Vec<ChangesId>,
    /// Leave what somebody else has changed since.
    pub(crate) partial: bool,
    /// They were made by what the command left running.
    pub(crate) is_late: bool,
    pub(crate) root: String,
    pub(crate) counts: ChangeCounts,
    /// What would be done, to the first of the files.
    pub(crate) files: Vec<FileChange>,
    /// How many others there are.
    pub(crate) more: u64,
    /// What somebody else has changed since.
    pub(crate) conflicts: Vec<FileName>,
    /// Of several sets: what somebody else has changed between them, so that only what came after that is taken back.
    pub(crate) between: Vec<FileName>,
}

/// Said of the files in the way, above them.
const LEFT: &str = "Left as they are, as they were changed since:";

impl Proposed {
    /// The sets that it is about, in the order in which it is done.
    pub(crate) fn all(&self) -> Vec<ChangesId> {
        std::iter::once(&self.id)
            .chain(&self.then)
            .copied()
            .collect()
    }

    /// Which files were changed by somebody else meanwhile; nothing, if none was.
    pub(crate) fn of_between(&self) -> String {
        if self.between.is_empty() {
            return String::new();
        }
        let names: Vec<_> = self.between.iter().map(|it| one_line(&it.path)).collect();
        let names = names.join(", ");
        format!("Somebody else changed these in between, and what came before that stays: {names}")
    }

    pub(crate) fn title(&self) -> String {
        let id = self.id;
        // In the order in which they came about.
        let mut all = self.all();
        all.sort_unstable();
        let all = numbers(&all);
        match self.act {
            ChangesAct::Commit => format!("Commit what trial {id} held back?"),
            ChangesAct::Discard => format!("Discard what trial {id} held back?"),
            ChangesAct::Undo if self.is_late && self.partial => {
                format!("Undo the rest of what went on did later ({all})?")
            }
            ChangesAct::Undo if self.is_late => format!("Undo what went on did later ({all})?"),
            ChangesAct::Redo if self.is_late => {
                format!("Make again what went on did later ({all})?")
            }
            ChangesAct::Undo if self.partial => format!("Undo the rest of changes {id}?"),
            ChangesAct::Undo => format!("Undo changes {id}?"),
            ChangesAct::Redo => format!("Make changes {id} again?"),
        }
    }

    /// What happens with the files that are listed.
    pub(crate) fn summary(&self) -> String {
        let counts = match self.counts.in_words() {
            none if none.is_empty() => "no file".to_owned(),
            words => words,
        };
        let root = &self.root;
        match self.act {
            ChangesAct::Discard => format!("Not applied, and removed: {counts} in {root}"),
            _ => format!("In {root}: {counts}"),
        }
    }

    /// What is said above [`Self::conflicts`].
    pub(crate) fn of_conflicts(&self) -> &'static str {
        match self.act {
            ChangesAct::Discard if !self.conflicts.is_empty() => "Changed since:",
            _ if self.partial => LEFT,
            _ => "",
        }
    }

    /// While it is being done.
    pub(crate) fn busy(&self) -> &'static str {
        match self.act {
            ChangesAct::Commit => "Committing…",
            ChangesAct::Discard => "Discarding…",
            ChangesAct::Undo => "Undoing…",
            ChangesAct::Redo => "Redoing…",
        }
    }

    pub(crate) fn yes(&self) -> &'static str {
        word(self.act)
    }
}
