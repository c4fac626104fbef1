//! `agent-bash changes`: what calls did to files, or would do: shown, made, taken back.

use crate::args::{ChangesAction, ChangesArgs};
use crate::output;
use crate::start::Start;
use crate::table::{ago, table};
use agent_bash::change_sets::{FileDiff, Listed, Text};
use agent_bash::core::changes::{
    Change, ChangeCounts, Changes, ChangesBy, ChangesId, ChangesState, FileChange,
};
use agent_bash::core::visible::one_line;
use agent_bash::core::{Clock, Timestamp};
use agent_bash::process::SystemClock;
use agent_bash::{ChangeSets, ChangesDone, ChangesRefused};
use anyhow::Context;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::PathBuf;

/// Exit code where nothing was done.
const NOT_DONE: u8 = 1;

/// Lists, shows, commits, discards, undoes or redoes.
pub(crate) fn changes(args: &ChangesArgs, start: &Start) -> anyhow::Result<u8> {
    let state = start.host.state_dir().context(
        "no directory for changes is known: set AGENT_BASH_STATE_DIR or HOME to an absolute path",
    )?;
    let kept = Kept {
        sets: ChangeSets::in_state(state, &args.state, start.host.cwd.clone()),
        json: args.json,
    };
    match kept.act(&args.action) {
        Err(Refused::Set(refused)) => {
            kept.refuse(&refused)?;
            Ok(NOT_DONE)
        }
        Err(Refused::Output(error)) => Err(error),
        Ok(()) => Ok(0),
    }
}

/// Why a command did not do what it should.
enum Refused {
    Set(ChangesRefused),
    Output(anyhow::Error),
}

impl From<ChangesRefused> for Refused {
    fn from(refused: ChangesRefused) -> Self {
        Self::Set(refused)
    }
}

impl From<anyhow::Error> for Refused {
    fn from(error: anyhow::Error) -> Self {
        Self::Output(error)
    }
}

/// The sets of a session.
struct Kept {
    sets: ChangeSets,
    json: bool,
}

impl Kept {
    fn act(&self, action: &ChangesAction) -> Result<(), Refused> {
        let sets = &self.sets;
        match action {
            ChangesAction::List => self.list(),
            ChangesAction::Show { id, names } => self.show(*id, *names),
            ChangesAction::Diff { id, paths } => self.diff(*id, paths),
            ChangesAction::Commit { id } => self.tell(&sets.commit(*id)?),
            ChangesAction::Discard { id } => self.tell(&sets.discard(*id)?),
            ChangesAction::Undo { id, paths, partial } => {
                self.tell(&sets.undo(*id, paths, *partial)?)
            }
            ChangesAction::Redo { id } => self.tell(&sets.redo(*id)?),
        }
    }

    fn tell(&self, done: &ChangesDone) -> Result<(), Refused> {
        if self.json {
            return print_json(&json!(done.changes));
        }
        Ok(output::print(&format!("{}\n", done.text))?)
    }

    fn refuse(&self, refused: &ChangesRefused) -> anyhow::Result<()> {
        let ChangesRefused::Conflict(conflict) = refused else {
            output::say(&format!("agent-bash: {refused}"));
            return Ok(());
        };
        if self.json {
            let (conflicts, free) = (&conflict.conflicts, conflict.free);
            let json = json!({ "conflicts": conflicts, "free": free });
            return output::print(&format!("{json}\n"));
        }
        output::say(&refused.to_string());
        Ok(())
    }

    fn list(&self) -> Result<(), Refused> {
        let listed = self.sets.list()?;
        if self.json {
            for one in &listed {
                print_json(&as_json(one))?;
            }
            return Ok(());
        }
        if listed.is_empty() {
            output::say("nothing is kept");
            return Ok(());
        }
        let now = SystemClock::new().wall();
        let rows: Vec<[String; 5]> = listed.iter().map(|one| row(one, now)).collect();
        let headings = ["CHANGES", "STARTED", "STATE", "FILES", "IN"];
        Ok(output::print(&table(headings, &rows))?)
    }

    fn show(&self, id: ChangesId, names: bool) -> Result<(), Refused> {
        let files = self.sets.files(id)?;
        if names {
            let all = files.iter().filter_map(|file| file.name.bytes());
            let text: Vec<u8> = all.flat_map(|name| [name, vec![0]].concat()).collect();
            return Ok(output::print_bytes(&text)?);
        }
        let mut changes = self.sets.show(id)?;
        if self.json {
            changes.files = files;
            changes.more = 0;
            return print_json(&json!(changes));
        }
        let mut text = format!(
            "{} {id}, {}: {} in {}\n",
            what(&changes),
            state(changes.state),
            counts(&changes.counts),
            one_line(&changes.root)
        );
        for file in &files {
            let _ = writeln!(text, "  {}", line(file));
        }
        for left in &changes.not_kept {
            let _ = writeln!(text, "  cannot be taken back: {}", one_line(&left.path));
        }
        for (directory, writes) in &changes.outside {
            let _ = writeln!(text, "  beyond it: {writes} in {}", one_line(directory));
        }
        for conflict in &changes.conflicts {
            let _ = writeln!(
                text,
                "  changed by somebody else: {}",
                one_line(&conflict.path)
            );
        }
        Ok(output::print(&text)?)
    }

    fn diff(&self, id: ChangesId, paths: &[PathBuf]) -> Result<(), Refused> {
        let diffs = self.sets.diff(id, paths)?;
        if self.json {
            let all = diffs.iter().map(diff_as_json);
            return print_json(&all.collect());
        }
        let text: String = diffs.iter().map(diff_text).collect();
        Ok(output::print(&text)?)
    }
}

fn print_json(value: &Value) -> Result<(), Refused> {
    Ok(output::print(&format!("{value}\n"))?)
}

fn as_json(listed: &Listed) -> Value {
    json!({
        "changes": listed.changes,
        "started_at": listed.begun,
        "undoes": listed.undoes,
        "redoes": listed.redoes,
    })
}

fn row(listed: &Listed, now: Timestamp) -> [String; 5] {
    let changes = &listed.changes;
    let state = match (listed.undoes, listed.redoes) {
        (Some(of), _) => format!("undid {of}"),
        (_, Some(of)) => format!("redid {of}"),
        _ => state(changes.state).to_owned(),
    };
    [
        changes.id.to_string(),
        ago(listed.begun, now),
        state,
        counts(&changes.counts),
        one_line(&changes.root).into_owned(),
    ]
}

fn what(changes: &Changes) -> &'static str {
    match (changes.by, changes.state) {
        (ChangesBy::Overlay, ChangesState::Held | ChangesState::Discarded) => "Trial",
        _ => "Changes",
    }
}

fn state(state: ChangesState) -> &'static str {
    match state {
        ChangesState::Listed => "listed",
        ChangesState::Done => "done",
        ChangesState::Held => "held",
        ChangesState::Discarded => "discarded",
        ChangesState::Undone => "undone",
        ChangesState::Interrupted => "interrupted",
        _ => "",
    }
}

fn counts(counts: &ChangeCounts) -> String {
    match counts.in_words() {
        none if none.is_empty() => "no files".to_owned(),
        words => words,
    }
}

/// `changed   src/a.rs  (120 → 131 bytes)`.
fn line(file: &FileChange) -> String {
    let mut text = format!("{:<8}  {}", file.change.word(), one_line(&file.name.path));
    match (&file.from, file.bytes) {
        (Some(from), _) => {
            let seems = if file.inferred { "it seems, " } else { "" };
            let _ = write!(text, "  ({seems}from {})", one_line(from));
        }
        (None, Some([before, after])) if file.change == Change::Changed => {
            let _ = write!(text, "  ({before} → {after} bytes)");
        }
        _ => {}
    }
    text
}

fn diff_text(diff: &FileDiff) -> String {
    let name = one_line(&diff.file.name.path);
    let mut text = String::new();
    if let Some(from) = &diff.file.from {
        let _ = writeln!(text, "renamed {} to {name}", one_line(from));
    }
    if let Some((before, after)) = diff.mode {
        let _ = writeln!(text, "mode of {name}: {before:o} before, {after:o} after");
    }
    let word = diff.file.change.word();
    match &diff.text {
        Text::Unified(unified) => text.push_str(unified),
        Text::Binary => _ = writeln!(text, "{word}: {name} (binary)"),
        Text::TooLarge => _ = writeln!(text, "{word}: {name} (too large to be compared)"),
        Text::Unknown => _ = writeln!(text, "{word}: {name} (its content is not kept)"),
        _ if diff.mode.is_none() => _ = writeln!(text, "{word}: {name}"),
        _ => {}
    }
    text
}

fn diff_as_json(diff: &FileDiff) -> Value {
    let text = match &diff.text {
        Text::Unified(text) => Some(text),
        _ => None,
    };
    json!({
        "file": diff.file,
        "diff": text,
        "binary": diff.text == Text::Binary,
        "mode": diff.mode.map(|(before, after)| [format!("{before:o}"), format!("{after:o}")]),
    })
}
