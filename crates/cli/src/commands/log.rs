//! `agent-bash log`: the calls of a recorded session, in the terminal.

use crate::args::LogArgs;
use crate::commands::recorded::{self, Named};
use crate::output;
use crate::start::Start;
use crate::table::{ago, fitted, table};
use agent_bash::core::visible::one_line;
use agent_bash::core::{Caller, Clock, Timestamp};
use agent_bash::journals::Entry;
use agent_bash::process::{SystemClock, terminal_columns};
use agent_bash::sink::{SizeStyle, size_text};
use agent_bash_render::words;
use serde_json::json;
use std::io::{self, IsTerminal};

/// Nothing is recorded.
const NOT_THERE: u8 = 1;

/// Columns that a narrow terminal does not show.
const AT: usize = 1;
const TOOK: usize = 2;
const FILES: usize = 4;

/// Prints it.
pub(crate) fn log(args: &LogArgs, start: &Start) -> anyhow::Result<u8> {
    if args.list {
        return list(&recorded::all(start, None)?, args.json);
    }
    let Some(session) = recorded::session(start, &args.recorded)? else {
        output::say(&recorded::none(&args.recorded));
        return Ok(NOT_THERE);
    };
    let entries = &session.recorded.entries;
    let from = args
        .last
        .map_or(0, |last| entries.len().saturating_sub(last));
    if args.json {
        for entry in &entries[from..] {
            output::print(&format!("{}\n", serde_json::to_string(entry)?))?;
        }
        return Ok(0);
    }
    if io::stdout().is_terminal() {
        let now = SystemClock::new().wall();
        output::print(&heading(&session.name, session.since, now))?;
    }
    let rows: Vec<[String; 6]> = entries.iter().enumerate().skip(from).map(row).collect();
    output::print(&fitted(
        ["CALL", "AT", "TOOK", "OUTCOME", "FILES", "COMMAND"],
        &rows,
        terminal_columns(),
        &[AT, FILES, TOOK],
    ))?;
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

/// Which record it is: above the table, for people.
fn heading(name: &str, since: Timestamp, now: Timestamp) -> String {
    format!(
        "{}, since {} ({})\n\n",
        one_line(name),
        words::clock(since),
        ago(since, now)
    )
}

fn row((index, entry): (usize, &Entry)) -> [String; 6] {
    let result = &entry.result;
    let look = words::outcome(&result.status);
    let mut command = one_line(entry.command.trim_start()).into_owned();
    if entry.by == Caller::User {
        command.insert(0, '!');
    }
    [
        (index + 1).to_string(),
        words::clock(result.started_at),
        match result.duration_ms {
            // Nothing ran.
            0.0 => String::new(),
            ms => words::duration(words::millis(ms)),
        },
        format!("{} {}", look.icon, look.text),
        recorded::effect(result),
        command,
    ]
}

/// Each record has a line, by a name that is known again.
fn list(named: &[Named], as_json: bool) -> anyhow::Result<u8> {
    if !as_json && named.is_empty() {
        output::say("nothing is recorded");
        return Ok(0);
    }
    let now = SystemClock::new().wall();
    let mut rows = Vec::new();
    for Named { name, recording } in named {
        // What cannot be read is listed all the same.
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
            "SESSION",
            "STARTED",
            "LAST CALL",
            "CALLS",
            "SIZE",
            "DIRECTORY",
        ];
        output::print(&table(headings, &rows))?;
    }
    Ok(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_heading_says_which_record_it_is_and_since_when() {
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
