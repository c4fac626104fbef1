//! Texts for outcomes, and short forms of numbers, times and counts, for all displays of finished
//! calls.

pub use crate::text::duration::{duration, from_millis};
use crate::{CardState, icon};
use agent_bash_core::changes::{
    Change, ChangeCounts, Changes, ChangesBy, ChangesId, ChangesState, FileChange,
};
use agent_bash_core::sandbox::SandboxLevel;
use agent_bash_core::{SizeStyle, Status, Timestamp, ToolResult, size_text};
use std::collections::BTreeMap;

/// The mark of a call that ran outside of the sandbox.
pub const OUTSIDE_SANDBOX: &str = "outside the sandbox";

/// The icon, the words and the colour that show a call's outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// The icon, as on a card in the terminal.
    pub icon: &'static str,
    /// The words next to the icon.
    pub text: String,
    /// The class of the colour in the report: `ok`, `warn` or `bad`.
    pub class: &'static str,
}

/// Returns the icon, the words and the colour of a status.
pub fn outcome(status: &Status) -> Outcome {
    let class = match status {
        Status::Exited { code: 0 } | Status::MovedToBackground { .. } => "ok",
        Status::TimedOut { .. } | Status::Cancelled | Status::Blocked { .. } => "warn",
        _ => "bad",
    };
    Outcome {
        icon: icon(status),
        text: CardState::Ended(status.clone()).badge(),
        class,
    }
}

/// A part of a whole: `8.5 of 97.7 KB`, `900 B of 1.2 MB`.
pub fn part_of(part: u64, all: u64) -> String {
    let [part, all] = [part, all].map(|bytes| size_text(bytes, SizeStyle::Spaced));
    let unit = all.rsplit(' ').next().unwrap_or_default();
    let part = part.strip_suffix(unit).map_or(&*part, str::trim_end);
    format!("{part} of {all}")
}

/// The time of day in UTC, `12:03:04`.
pub fn clock(time: Timestamp) -> String {
    time.to_string().get(11..19).unwrap_or_default().to_owned()
}

/// The date and the time in UTC, `2026-11-22 12:03:04 UTC`.
pub fn date(time: Timestamp) -> String {
    let text = time.to_string();
    let day = text.get(..10).unwrap_or_default();
    format!("{day} {} UTC", clock(time))
}

/// The sign of a change to a file.
pub fn sign(change: Change) -> &'static str {
    match change {
        Change::Created => "+",
        Change::Changed => "~",
        Change::Deleted => "−",
        Change::Renamed => "→",
        // A mode, or a change that a later version adds.
        _ => "m",
    }
}

/// The counts by kind, without zeros.
pub fn nonzero_counts(counts: &ChangeCounts) -> impl Iterator<Item = (Change, u64)> {
    let all = [
        (Change::Created, counts.created),
        (Change::Changed, counts.changed),
        (Change::Deleted, counts.deleted),
        (Change::Renamed, counts.renamed),
        (Change::Mode, counts.mode),
    ];
    all.into_iter().filter(|(_, number)| *number > 0)
}

/// `+2 ~1 −1 →1 m1`; empty without changes.
pub fn delta(counts: &ChangeCounts) -> String {
    let parts: Vec<String> = nonzero_counts(counts)
        .map(|(change, number)| format!("{}{number}", sign(change)))
        .collect();
    parts.join(" ")
}

/// The state of a change set, in a few words; `None` for the usual state (made, and not undone).
pub fn state_text(changes: &Changes) -> Option<&'static str> {
    if changes.undone_in_part {
        return Some(match (changes.state, changes.by) {
            (ChangesState::Interrupted, _) => "interrupted, undone in part",
            (_, ChangesBy::Overlay) => "committed, undone in part",
            _ => "undone in part",
        });
    }
    match (changes.state, changes.by) {
        (ChangesState::Held, _) => Some("held"),
        (ChangesState::Done, ChangesBy::Overlay) => Some("committed"),
        // The mark `by scan` implies that only names are known.
        (ChangesState::Listed, ChangesBy::Scan) => None,
        (ChangesState::Listed, _) => Some("listed"),
        (ChangesState::Discarded, _) => Some("discarded"),
        (ChangesState::Undone, _) => Some("undone"),
        (ChangesState::Interrupted, _) => Some("interrupted"),
        // Done, or a state that a later version adds.
        _ => None,
    }
}

/// Counts the files of a change set outside and inside of a `.git`. If the change set does not list
/// all files, counts all as outside. Every git command changes several files inside, which are
/// rarely of interest.
pub(crate) fn split_git(changes: &Changes) -> (ChangeCounts, u64) {
    let (in_git, outside_git): (Vec<_>, Vec<_>) =
        changes.files.iter().partition(|file| file.name.is_of_git());
    if in_git.is_empty() || changes.more > 0 {
        return (changes.counts, 0);
    }
    (ChangeCounts::of(outside_git), in_git.len() as u64)
}

/// `+2 ~1 −1`; with files in a `.git`: `~1, 7 in .git`.
fn own_delta(changes: &Changes) -> String {
    let (outside_git, in_git) = split_git(changes);
    let mut parts = vec![delta(&outside_git)];
    if in_git > 0 {
        parts.push(format!("{in_git} in .git"));
    }
    parts.retain(|part| !part.is_empty());
    parts.join(", ")
}

/// A call's changes to files, and their state unless it is the usual one (made, and not undone):
/// `+2 ~1 −1`, `−3 held`. Empty without changes.
pub fn effect(changes: &Changes) -> String {
    let counts = own_delta(changes);
    match state_text(changes) {
        Some(state_text) if !counts.is_empty() && changes.state != ChangesState::Listed => {
            format!("{counts} {state_text}")
        }
        _ => counts,
    }
}

/// The changes of background processes, in all their change sets: `later +1 ~2`. The flag marks a
/// change set whose process may belong to an earlier call (`perhaps later +1`).
pub fn background_summary<'a>(sets: impl IntoIterator<Item = (&'a Changes, bool)>) -> Vec<String> {
    let mut groups: Vec<(bool, Vec<&Changes>)> = Vec::new();
    for (set, is_unsure) in sets {
        let has_same_state = |other: &&Changes| state_text(other) == state_text(set);
        let found = groups.iter_mut().find(|(unsure, sets)| {
            *unsure == is_unsure && sets.first().is_some_and(has_same_state)
        });
        match found {
            Some((_, sets)) => sets.push(set),
            None => groups.push((is_unsure, vec![set])),
        }
    }
    let parts = groups.iter().map(|(is_unsure, sets)| {
        let word = if *is_unsure { "perhaps later" } else { "later" };
        (word, effect(&merged_sets(sets)))
    });
    parts
        .filter(|(_, effect)| !effect.is_empty())
        .map(|(word, effect)| format!("{word} {effect}"))
        .collect()
}

/// Merges several change sets into one: a file that was created and then changed counts as created.
fn merged_sets(sets: &[&Changes]) -> Changes {
    let Some((first, others)) = sets.split_first() else {
        return Changes::new(ChangesId(0), ChangesState::Done, ChangesBy::Trace, "");
    };
    let mut all = Changes::new(first.id, first.state, first.by, first.root.clone());
    all.undone_in_part = first.undone_in_part;
    if others.is_empty() || sets.iter().any(|set| set.more > 0) {
        all.files.clone_from(&first.files);
        all.counts = first.counts;
        all.more = first.more;
        for set in others {
            all.counts = all.counts.plus(&set.counts);
            all.more += set.counts.total();
        }
        return all;
    }
    let files = sets.iter().flat_map(|set| &set.files).cloned();
    all.with_files(merge_file_changes(files))
}

/// Merges successive changes into one combined change for each file name.
pub fn merge_file_changes(all: impl IntoIterator<Item = FileChange>) -> Vec<FileChange> {
    let mut files: BTreeMap<String, FileChange> = BTreeMap::new();
    for mut file in all {
        let name = file.name.path.clone();
        let Some(first) = files.remove(&name) else {
            files.insert(name, file);
            continue;
        };
        let bytes = first.bytes.zip(file.bytes);
        let bytes = bytes.map(|([before, _], [_, after])| [before, after]);
        let change = match (first.change, file.change) {
            (Change::Created, Change::Deleted) => continue,
            (
                Change::Created | Change::Changed | Change::Renamed,
                Change::Changed | Change::Mode,
            ) => {
                file.from.clone_from(&first.from);
                file.from_base64.clone_from(&first.from_base64);
                file.inferred = first.inferred;
                first.change
            }
            (Change::Deleted, Change::Created) => Change::Changed,
            (_, then) => then,
        };
        file.change = change;
        file.bytes = bytes.or(file.bytes).or(first.bytes);
        files.insert(name, file);
    }
    files.into_values().collect()
}

/// The mark of a call with a running background process.
pub const STILL_RUNS: &str = "still runs";

/// Returns marks for a call that ran as a trial, ran with a wider sandbox, or left processes
/// running. `runs` is true if a background process still runs; `None` if that is unknown.
pub fn marks(result: &ToolResult, runs: Option<bool>) -> Vec<String> {
    let is_trial = result.changes.as_ref().is_some_and(|set| {
        // A committed trial has the mark `committed` instead.
        set.by == ChangesBy::Overlay
            && matches!(set.state, ChangesState::Held | ChangesState::Discarded)
    });
    let escalated = result.sandbox.as_ref().filter(|sandbox| sandbox.escalated);
    let mut marks = Vec::new();
    marks.extend(is_trial.then(|| "trial".to_owned()));
    marks.extend(escalated.map(|sandbox| match sandbox.level {
        SandboxLevel::Off => OUTSIDE_SANDBOX.to_owned(),
        _ => "wider sandbox".to_owned(),
    }));
    if !result.survivors.is_empty() {
        let count = result.survivors.len();
        marks.push(match runs {
            Some(true) => STILL_RUNS.to_owned(),
            Some(false) => format!("left {count}, ended"),
            None => format!("left {count} running"),
        });
    }
    marks
}

#[cfg(test)]
mod tests {
    use super::*;
    use agent_bash_core::Survivor;
    use agent_bash_core::changes::{ChangesId, FileChange, FileName};
    use agent_bash_core::sandbox::{Network, Sandboxed};

    #[test]
    fn effect_includes_the_state_of_the_changes() {
        use ChangesBy::{Overlay, Scan, Trace};
        use ChangesState::{Discarded, Done, Held, Interrupted, Listed, Undone};
        for (state, by, in_part, want) in [
            (Done, Trace, false, "−3"),
            (Done, Scan, false, "−3"),
            (Listed, Trace, false, "−3"),
            (Held, Overlay, false, "−3 held"),
            (Done, Overlay, false, "−3 committed"),
            (Discarded, Overlay, false, "−3 discarded"),
            (Undone, Trace, false, "−3 undone"),
            (Interrupted, Trace, false, "−3 interrupted"),
            (Done, Trace, true, "−3 undone in part"),
            (Done, Overlay, true, "−3 committed, undone in part"),
            (Interrupted, Trace, true, "−3 interrupted, undone in part"),
        ] {
            let mut changes = Changes::new(ChangesId(1), state, by, "/w");
            changes.undone_in_part = in_part;
            if !in_part {
                assert_eq!(effect(&changes), "");
            }
            changes.counts.deleted = 3;
            assert_eq!(effect(&changes), want);
        }
    }

    #[test]
    fn background_changes_are_summed_over_all_change_sets() {
        let set = |id, state, files: &[(&str, Change)]| {
            let files = files.iter();
            let files = files.map(|(name, change)| FileChange::new(FileName::new(*name), *change));
            Changes::new(ChangesId(id), state, ChangesBy::Trace, "/w").with_files(files)
        };
        let (done, undone) = (ChangesState::Done, ChangesState::Undone);
        let (new, more) = (Change::Created, Change::Changed);
        let sets = [
            set(1, done, &[("tick", new), ("log", more)]),
            set(2, done, &[("tick", more), ("log", more), ("b", new)]),
            set(3, done, &[("b", Change::Deleted)]),
        ];
        let all = |unsure| sets.iter().map(move |set| (set, unsure));
        assert_eq!(background_summary(all(false)), ["later +1 ~1"]);
        assert_eq!(background_summary(all(true)), ["perhaps later +1 ~1"]);
        let other = set(4, undone, &[("c", new)]);
        let nothing = set(5, done, &[]);
        let mixed = all(false).chain([(&other, false), (&sets[0], true), (&nothing, true)]);
        let wanted = ["later +1 ~1", "later +1 undone", "perhaps later +1 ~1"];
        assert_eq!(background_summary(mixed), wanted);
        assert!(background_summary([(&nothing, false)]).is_empty());
    }

    #[test]
    fn files_of_git_are_counted_separately() {
        let of = |paths: &[&str], more| {
            let (state, by) = (ChangesState::Done, ChangesBy::Trace);
            let file = |path: &&str| FileChange::new(FileName::new(path), Change::Changed);
            let set = Changes::new(ChangesId(1), state, by, "/w");
            let mut set = set.with_files(paths.iter().map(file));
            set.more = more;
            effect(&set)
        };
        assert_eq!(of(&["a", ".gitignore"], 0), "~2");
        assert_eq!(
            of(&["a", ".git/index", "sub/.git/HEAD"], 0),
            "~1, 2 in .git"
        );
        assert_eq!(of(&[".git/index"], 0), "1 in .git");
        // Unlisted files may be in a `.git`.
        assert_eq!(of(&["a", ".git/index"], 9), "~2");
    }

    #[test]
    fn calls_that_did_not_run_as_they_read_are_marked() {
        let marked = |state, by| {
            let mut result = ToolResult::new(Status::Exited { code: 0 }, "", Timestamp(0));
            result.changes = Some(Changes::new(ChangesId(1), state, by, "/w"));
            marks(&result, None)
        };
        assert_eq!(marked(ChangesState::Held, ChangesBy::Overlay), ["trial"]);
        let discarded = marked(ChangesState::Discarded, ChangesBy::Overlay);
        assert_eq!(discarded, ["trial"]);
        for (state, by) in [
            (ChangesState::Done, ChangesBy::Overlay),
            (ChangesState::Undone, ChangesBy::Trace),
        ] {
            assert!(marked(state, by).is_empty(), "{state:?}");
        }
        let mut result = ToolResult::new(Status::Exited { code: 0 }, "", Timestamp(0));
        let mut sandbox = Sandboxed::new(SandboxLevel::Off, Network::On, None);
        sandbox.escalated = true;
        result.sandbox = Some(sandbox);
        let survivor = |pid| Survivor::new(pid, "sleep", false);
        result.survivors = vec![survivor(1), survivor(2)];
        for (runs, left) in [
            (None, "left 2 running"),
            (Some(true), STILL_RUNS),
            (Some(false), "left 2, ended"),
        ] {
            assert_eq!(marks(&result, runs), [OUTSIDE_SANDBOX, left]);
        }
    }

    #[test]
    fn part_and_whole_have_one_unit_where_possible() {
        for (part, all, want) in [
            (8_700, 100_000, "8.5 of 97.7 KB"),
            (900, 100_000, "900 B of 97.7 KB"),
            (12, 100, "12 of 100 B"),
            (131_072, 1_572_864, "128 KB of 1.5 MB"),
        ] {
            assert_eq!(part_of(part, all), want);
        }
    }

    #[test]
    fn times_are_utc() {
        let time = Timestamp(1_700_000_000_123);
        assert_eq!(
            (clock(time).as_str(), date(time).as_str()),
            ("22:13:20", "2023-11-14 22:13:20 UTC")
        );
    }

    #[test]
    fn zero_counts_are_left_out() {
        let counts = ChangeCounts {
            created: 2,
            changed: 1,
            mode: 3,
            deleted: 1,
            renamed: 0,
        };
        assert_eq!(delta(&counts), "+2 ~1 −1 m3");
        assert_eq!(delta(&ChangeCounts::default()), "");
    }
}
