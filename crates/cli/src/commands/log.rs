//! `agent-bash log`: the calls of a recorded session, in the terminal.

use crate::args::LogArgs;
use crate::commands::find_record::{self, NamedRecord};
use crate::commands::{NOT_FOUND_EXIT_CODE, later_events, session};
use crate::output;
use crate::process_start::StartContext;
use crate::table::{NarrowColumns, ago, fitted, table};
use agent_bash::core::changes::{Changes, ChangesId};
use agent_bash::core::visible::one_line;
use agent_bash::core::{Clock, JobId, Timestamp, ToolResult};
use agent_bash::exec::JobState;
use agent_bash::journals::JournalEntry;
use agent_bash::process::{SystemClock, terminal_columns};
use agent_bash::sink::{SizeStyle, size_text};
use agent_bash_render::call_summary;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, IsTerminal};

/// A narrow terminal first shortens changes and outcome, and then omits time and duration. The
/// changes stay, because they are the purpose of the log.
const NARROW_COLUMNS: NarrowColumns<'_> = NarrowColumns {
    cut: &[(CHANGES_COLUMN, 18), (OUTCOME_COLUMN, 12)],
    omitted: &[TIME_COLUMN, DURATION_COLUMN],
};
const TIME_COLUMN: usize = 1;
const DURATION_COLUMN: usize = 2;
const OUTCOME_COLUMN: usize = 3;
const CHANGES_COLUMN: usize = 4;

/// Prints the table of a record.
pub(crate) fn log(args: &LogArgs, start: &StartContext) -> anyhow::Result<u8> {
    if args.list {
        return list(&find_record::all(start, None)?, args.json);
    }
    let Some(session) = find_record::session(start, &args.recorded)? else {
        output::say(&find_record::missing_text(&args.recorded));
        return Ok(NOT_FOUND_EXIT_CODE);
    };
    let entries = &session.recorded.entries;
    let first = args
        .last
        .map_or(0, |last| entries.len().saturating_sub(last));
    if args.json {
        for entry in &entries[first..] {
            output::print(&format!("{}\n", serde_json::to_string(entry)?))?;
        }
        return Ok(0);
    }
    let now = SystemClock::new().wall();
    if io::stdout().is_terminal() {
        output::print(&heading(&session.name, session.since, now))?;
    }
    let jobs = session::jobs(start, &session.name);
    let jobs = jobs.and_then(|jobs| jobs.list().ok()).unwrap_or_default();
    let later = LaterEvents {
        background: later_events::background_changes(&session.sets),
        unsure: later_events::maybe_earlier(&session.sets),
        jobs: jobs
            .into_iter()
            .map(|job| (job.id, matches!(job.state, JobState::Running)))
            .collect(),
    };
    let numbered = entries.iter().enumerate().skip(first);
    let rows: Vec<[String; 6]> = numbered
        .map(|(index, entry)| row(index, entry, &later))
        .collect();
    let table = fitted(
        ["CALL", "AT (UTC)", "TOOK", "OUTCOME", "CHANGES", "COMMAND"],
        &rows,
        terminal_columns(),
        NARROW_COLUMNS,
    );
    let times = entries[first..].iter().map(|entry| entry.result.started_at);
    output::print(&with_days(&table, times, now))?;
    if session.recorded.full {
        output::say("[The record was full: later calls are missing (journal.max_mb).]");
    }
    for (lines, what) in [
        (session.recorded.damaged, "could not be read"),
        (session.recorded.newer, "of a newer version are left out"),
    ] {
        match lines {
            0 => {}
            1 => output::say(&format!("[1 line {}.]", what.replace("are", "is"))),
            many => output::say(&format!("[{many} lines {what}.]")),
        }
    }
    Ok(0)
}

/// Inserts a line with the date before the first row of each day. If the first row is of today, the
/// line of today is omitted.
fn with_days(table: &str, times: impl Iterator<Item = Timestamp>, now: Timestamp) -> String {
    let day = |time| {
        let mut date = call_summary::date(time);
        date.truncate(10);
        date
    };
    let mut last_day = day(now);
    let mut lines = table.split_inclusive('\n');
    let mut text = lines.next().unwrap_or_default().to_owned();
    for (line, time) in lines.zip(times) {
        let day = day(time);
        if day != last_day {
            text.push_str(&day);
            text.push('\n');
            last_day = day;
        }
        text.push_str(line);
    }
    text
}

/// Returns `7: +1 ~2, later +1, 3 outside`: the call's change set, the changes of its background
/// processes, and the number of files outside of the root. The numbers of calls and change sets
/// differ, because an undo is a change set, too.
fn changes_cell(
    result: &ToolResult,
    background: &[Changes],
    unsure: &BTreeSet<ChangesId>,
) -> String {
    let changes = result.changes.as_ref();
    let outside: u64 = changes.map_or(0, |changes| changes.outside.values().sum());
    let effect = changes.map(|set| (set.id, call_summary::effect(set)));
    let effect = effect.filter(|(_, effect)| !effect.is_empty());
    let mut parts: Vec<String> = effect
        .map(|(id, effect)| format!("{id}: {effect}"))
        .into_iter()
        .collect();
    let background = background.iter().map(|set| (set, unsure.contains(&set.id)));
    parts.extend(call_summary::background_summary(background));
    if outside > 0 {
        parts.push(format!("{outside} outside"));
    }
    parts.retain(|part| !part.is_empty());
    parts.join(", ")
}

/// Returns the line above the table, which names the record and its start.
fn heading(name: &str, since: Timestamp, now: Timestamp) -> String {
    format!(
        "{}, since {} ({})\n\n",
        one_line(name),
        call_summary::clock(since),
        ago(since, now)
    )
}

/// Events after the calls were recorded.
#[derive(Debug, Default)]
struct LaterEvents {
    /// The changes of background processes, by the call's change set.
    background: BTreeMap<ChangesId, Vec<Changes>>,
    /// Change sets that may belong to an earlier call.
    unsure: BTreeSet<ChangesId>,
    /// The jobs of the calls, each with true while the job runs.
    jobs: BTreeMap<JobId, bool>,
}

impl LaterEvents {
    /// Returns true if a background process of the call is still running; `None` if this is
    /// unknown.
    fn is_running(&self, result: &ToolResult) -> Option<bool> {
        let jobs = result.survivors.iter().filter_map(|it| it.job.as_ref());
        jobs.filter_map(|id| self.jobs.get(id))
            .copied()
            .reduce(|a, b| a || b)
    }
}

/// Returns the cells of a call's row.
fn row(index: usize, entry: &JournalEntry, later: &LaterEvents) -> [String; 6] {
    let result = &entry.result;
    let set = result.changes.as_ref().map(|changes| changes.id);
    let background = set.and_then(|id| later.background.get(&id));
    let outcome_words = call_summary::outcome(&result.status);
    let mut outcome = format!("{} {}", outcome_words.icon, outcome_words.text);
    for mark in call_summary::marks(result, later.is_running(result)) {
        outcome.push_str(", ");
        outcome.push_str(&mark);
    }
    let mut command = one_line(entry.command.trim_start()).into_owned();
    command.insert_str(0, entry.bang());
    [
        (index + 1).to_string(),
        call_summary::clock(result.started_at),
        match result.duration_ms {
            // The command did not run.
            0.0 => String::new(),
            ms => call_summary::duration(call_summary::from_millis(ms)),
        },
        outcome,
        changes_cell(result, background.map_or(&[], Vec::as_slice), &later.unsure),
        command,
    ]
}

/// Prints the records, one per line, with the names that `log` and `report` accept.
fn list(named: &[NamedRecord], as_json: bool) -> anyhow::Result<u8> {
    if !as_json && named.is_empty() {
        output::say("nothing is recorded");
        return Ok(0);
    }
    let now = SystemClock::new().wall();
    let mut rows = Vec::new();
    for NamedRecord { name, recording } in named {
        // An unreadable record is listed all the same.
        let entries = recording.read().unwrap_or_default().entries;
        let directory = entries.first().map(|entry| entry.result.cwd.clone());
        if as_json {
            let line = json!({
                "name": name.to_string(),
                "session": recording.session,
                "started_at": recording.started_at,
                "written_at": recording.written_at,
                "bytes": recording.bytes,
                "calls": entries.len(),
                "directory": directory,
            });
            output::print(&format!("{line}\n"))?;
            continue;
        }
        rows.push([
            one_line(&name.to_string()).into_owned(),
            ago(recording.started_at, now),
            ago(recording.written_at, now),
            entries.len().to_string(),
            size_text(recording.bytes, SizeStyle::Spaced),
            one_line(&directory.unwrap_or_default()).into_owned(),
        ]);
    }
    if !as_json {
        let headings = [
            "SESSION", "STARTED", "LAST CALL", "CALLS", "SIZE", "DIRECTORY",
        ];
        output::print(&table(headings, &rows))?;
    }
    Ok(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use agent_bash::core::changes::{ChangesBy, ChangesState};
    use agent_bash::core::{Caller, ProfileName, Status, Survivor};

    #[test]
    fn log_has_a_date_line_for_each_new_day() {
        let night = 86_400_000;
        let times = || [night - 1, night, night + 1].map(Timestamp).into_iter();
        let table = "CALL\n1\n2\n3\n";
        let first = "CALL\n1\n1970-01-02\n2\n3\n";
        assert_eq!(with_days(table, times(), Timestamp(0)), first);
        let later = "CALL\n1970-01-01\n1\n1970-01-02\n2\n3\n";
        assert_eq!(with_days(table, times(), Timestamp(3 * night)), later);
    }

    #[test]
    fn changes_cell_has_the_change_set_and_counts_files_outside_of_the_root() {
        let mut result = ToolResult::new(Status::Exited { code: 0 }, "", Timestamp(0));
        let (state, by) = (ChangesState::Done, ChangesBy::Trace);
        let mut changes = Changes::new(ChangesId(1), state, by, "/w");
        changes.outside.insert("/etc".to_owned(), 2);
        result.changes = Some(changes.clone());
        let sure = BTreeSet::new();
        assert_eq!(changes_cell(&result, &[], &sure), "2 outside");
        let mut background = changes.clone();
        background.counts.changed = 3;
        let background = [background];
        assert_eq!(
            changes_cell(&result, &background, &sure),
            "later ~3, 2 outside"
        );
        changes.counts.created = 1;
        result.changes = Some(changes);
        assert_eq!(
            changes_cell(&result, &background, &sure),
            "1: +1, later ~3, 2 outside"
        );
        // An earlier call may have started the process.
        let unsure = BTreeSet::from([ChangesId(1)]);
        let cell = changes_cell(&result, &background, &unsure);
        assert_eq!(cell, "1: +1, perhaps later ~3, 2 outside");
    }

    #[test]
    fn user_lines_are_marked_by_bangs() {
        let result = ToolResult::new(Status::Exited { code: 0 }, "", Timestamp(0));
        let mut entry = JournalEntry::new(Caller::Model, ProfileName::Standard, "ls", result);
        let command = |entry: &JournalEntry| row(0, entry, &LaterEvents::default())[5].clone();
        assert_eq!(command(&entry), "ls");
        entry.by = Caller::User;
        assert_eq!(command(&entry), "!ls");
        entry.excluded_from_context = true;
        assert_eq!(command(&entry), "!!ls");
    }

    #[test]
    fn discarded_trial_is_marked_in_the_outcome() {
        let mut result = ToolResult::new(Status::Exited { code: 0 }, "", Timestamp(0));
        let profile = ProfileName::Standard;
        let outcome = |result: &ToolResult| {
            let entry = JournalEntry::new(Caller::Model, profile, "rm -r x", result.clone());
            row(0, &entry, &LaterEvents::default())[3].clone()
        };
        assert_eq!(outcome(&result), "✓ exit 0");
        let (state, by) = (ChangesState::Discarded, ChangesBy::Overlay);
        result.changes = Some(Changes::new(ChangesId(1), state, by, "/w"));
        assert_eq!(outcome(&result), "✓ exit 0, trial");
    }

    #[test]
    fn survivors_run_while_one_of_their_jobs_runs() {
        let mut result = ToolResult::new(Status::Exited { code: 0 }, "", Timestamp(0));
        let id = |number: u64| JobId(number.to_string());
        for number in [1, 2] {
            let mut survivor = Survivor::new(7, "sleep", false);
            survivor.job = Some(id(number));
            result.survivors.push(survivor);
        }
        for (jobs, wanted) in [
            (vec![], None),
            (vec![(id(1), false)], Some(false)),
            (vec![(id(1), false), (id(2), false)], Some(false)),
            (vec![(id(1), true), (id(2), false)], Some(true)),
            // The job of another call.
            (vec![(id(3), true)], None),
        ] {
            let later = LaterEvents {
                jobs: jobs.into_iter().collect(),
                ..LaterEvents::default()
            };
            assert_eq!(later.is_running(&result), wanted, "{later:?}");
        }
    }

    #[test]
    fn heading_names_the_record_and_its_start() {
        let since = Timestamp(1_700_000_000_000);
        let text = heading("mcp-\u{1b}[2Jx", since, Timestamp(since.0 + 7_200_000));
        assert!(
            text.starts_with("mcp-") && text.contains(", since "),
            "{text}"
        );
        assert!(
            text.ends_with("(2 h ago)\n\n") && !text.contains('\u{1b}'),
            "{text}"
        );
    }
}
