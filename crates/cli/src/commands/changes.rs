//! `agent-bash changes`: what calls did to files, or would do: shown, made, taken back.

use crate::args::{ChangesAction, ChangesArgs};
use crate::output;
use crate::start::Start;
use crate::table::{ago, table};
use agent_bash::change_sets::{ChangesError, FileDiff, Listed, Store, Text};
use agent_bash::core::changes::{
    Change, ChangeCounts, Changes, ChangesBy, ChangesId, ChangesState, FileChange, applied_text,
    conflict_text, counted, not_undone_text, undone_text,
};
use agent_bash::core::visible::one_line;
use agent_bash::core::{Clock, Timestamp};
use agent_bash::process::SystemClock;
use anyhow::Context;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Exit code where nothing was done.
const NOT_DONE: u8 = 1;

/// Lists, shows, commits, discards, undoes or redoes.
pub(crate) fn changes(args: &ChangesArgs, start: &Start) -> anyhow::Result<u8> {
    let state = start.host.state_dir().context(
        "no directory for changes is known: set AGENT_BASH_STATE_DIR or HOME to an absolute path",
    )?;
    let kept = Kept {
        store: Store::open(&state)?,
        session: &args.state,
        cwd: &start.host.cwd,
        json: args.json,
    };
    match kept.act(&args.action) {
        Err(Refused::Set(error)) => {
            kept.refuse(&args.action, &error)?;
            Ok(NOT_DONE)
        }
        Err(Refused::Output(error)) => Err(error),
        Ok(()) => Ok(0),
    }
}

/// Why a command did not do what it should.
enum Refused {
    Set(ChangesError),
    Output(anyhow::Error),
}

impl From<ChangesError> for Refused {
    fn from(error: ChangesError) -> Self {
        Self::Set(error)
    }
}

impl From<anyhow::Error> for Refused {
    fn from(error: anyhow::Error) -> Self {
        Self::Output(error)
    }
}

/// The sets of a session.
struct Kept<'a> {
    store: Store,
    session: &'a str,
    cwd: &'a Path,
    json: bool,
}

impl Kept<'_> {
    fn act(&self, action: &ChangesAction) -> Result<(), Refused> {
        let (store, session) = (&self.store, self.session);
        match action {
            ChangesAction::List => self.list(),
            ChangesAction::Show { id, names } => self.show(*id, *names),
            ChangesAction::Diff { id, paths } => self.diff(*id, paths),
            ChangesAction::Commit { id } => {
                let done = store.commit(session, *id)?;
                self.tell(&done, &applied_text(*id, &done.counts))
            }
            ChangesAction::Discard { id } => {
                let gone = store.discard(session, *id)?;
                self.tell(
                    &gone,
                    &format!("[Trial {id}: nothing was applied; its changes are discarded.]"),
                )
            }
            ChangesAction::Undo { id, paths, partial } => {
                let paths = self.below_root(*id, paths)?;
                let done = store.undo(session, *id, &paths, *partial)?;
                self.tell(&done, &undone_text(*id, done.counts.total()))
            }
            ChangesAction::Redo { id } => {
                let done = store.redo(session, *id)?;
                let files = counted(done.counts.total());
                self.tell(&done, &format!("[Done again: {files} as after call {id}.]"))
            }
        }
    }

    fn tell(&self, changes: &Changes, line: &str) -> Result<(), Refused> {
        if self.json {
            return print_json(&json!(changes));
        }
        let mut text = format!("{line}\n");
        for left in &changes.conflicts {
            // Writing to a String cannot fail.
            let _ = writeln!(
                text,
                "left as it is, as it was changed since: {}",
                one_line(&left.path)
            );
        }
        Ok(output::print(&text)?)
    }

    fn refuse(&self, action: &ChangesAction, error: &ChangesError) -> anyhow::Result<()> {
        let ChangesError::Conflict {
            conflicts, free, ..
        } = error
        else {
            output::say(&format!("agent-bash: {error}"));
            return Ok(());
        };
        if self.json {
            return output::print(&format!(
                "{}\n",
                json!({ "conflicts": conflicts, "free": free })
            ));
        }
        let Some((first, others)) = conflicts.split_first() else {
            return Ok(());
        };
        output::say(&match action {
            ChangesAction::Commit { id } => conflict_text(*id, first),
            _ => not_undone_text(first, *free),
        });
        for other in others {
            output::say(&format!("changed, too: {}", one_line(&other.path)));
        }
        Ok(())
    }

    fn list(&self) -> Result<(), Refused> {
        let listed = self.store.list(self.session)?;
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
        let files = self.store.files(self.session, id)?;
        if names {
            let all = files.iter().filter_map(|file| file.name.bytes());
            let text: Vec<u8> = all.flat_map(|name| [name, vec![0]].concat()).collect();
            return Ok(output::print_bytes(&text)?);
        }
        let mut changes = self.store.show(self.session, id)?;
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
        let paths = self.below_root(id, paths)?;
        let diffs = self.store.diff(self.session, id, &paths)?;
        if self.json {
            let all = diffs.iter().map(diff_as_json);
            return print_json(&all.collect());
        }
        let text: String = diffs.iter().map(diff_text).collect();
        Ok(output::print(&text)?)
    }

    /// Paths as they are below a set's root.
    fn below_root(&self, id: ChangesId, paths: &[PathBuf]) -> Result<Vec<PathBuf>, Refused> {
        if paths.is_empty() {
            return Ok(Vec::new());
        }
        let root = PathBuf::from(self.store.show(self.session, id)?.root);
        let here = self
            .cwd
            .canonicalize()
            .unwrap_or_else(|_| self.cwd.to_owned());
        let from = if here.starts_with(&root) {
            &here
        } else {
            &root
        };
        let below = paths.iter().map(|path| {
            let whole = from.join(path);
            // `.` and a slash at the end go; a `..` is none of the set's paths, and is said to be none.
            let whole: PathBuf = whole.components().collect();
            whole
                .strip_prefix(&root)
                .map_or(whole.clone(), Path::to_owned)
        });
        Ok(below.collect())
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
