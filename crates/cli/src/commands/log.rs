//! `agent-bash log`: the calls of a recorded session, in the terminal.

use crate::args::LogArgs;
use crate::commands::recorded;
use crate::output;
use crate::start::Start;
use crate::table::{ago, fitted, table};
use agent_bash::core::visible::one_line;
use agent_bash::core::{Caller, Clock};
use agent_bash::journals::{Entry, Recording};
use agent_bash::process::{SystemClock, terminal_columns};
use agent_bash::sink::{SizeStyle, size_text};
use agent_bash_render::words;
use serde_json::json;

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
    if session.recorded.damaged > 0 {
        output::say(&format!(
            "[{} lines could not be read.]",
            session.recorded.damaged
        ));
    }
    Ok(0)
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

fn list(recordings: &[Recording], as_json: bool) -> anyhow::Result<u8> {
    if as_json {
        for one in recordings {
            let line = json!({
                "session": one.session,
                "started_at": one.started_at,
                "written_at": one.written_at,
                "bytes": one.bytes,
            });
            output::print(&format!("{line}\n"))?;
        }
        return Ok(0);
    }
    if recordings.is_empty() {
        output::say("nothing is recorded");
        return Ok(0);
    }
    let now = SystemClock::new().wall();
    let row = |one: &Recording| {
        [
            one_line(&one.session).into_owned(),
            ago(one.started_at, now),
            ago(one.written_at, now),
            size_text(one.bytes, SizeStyle::Spaced),
        ]
    };
    let rows: Vec<[String; 4]> = recordings.iter().map(row).collect();
    output::print(&table(["SESSION", "STARTED", "LAST CALL", "SIZE"], &rows))?;
    Ok(0)
}
