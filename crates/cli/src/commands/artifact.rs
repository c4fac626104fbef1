//! `agent-bash artifact`: the stored full outputs of one-shot commands.

use crate::args::{ArtifactAction, ArtifactArgs, DEFAULT_SESSION};
use crate::commands::{NOT_FOUND_EXIT_CODE, default_state, session};
use crate::output;
use crate::process_start::StartContext;
use crate::table::{ago, table};
use agent_bash::core::{Clock, OutputMask, Timestamp};
use agent_bash::process::SystemClock;
use agent_bash::sink::{
    ArtifactDir, ArtifactInfo, FileView, LookupError, MAX_PAGE_BYTES, NextPage, Search, SizeStyle,
    open_artifact, size_text, truncated_note,
};
use std::path::Path;
use std::sync::Arc;

/// Lists, shows or searches artifacts.
pub(crate) fn artifact(args: &ArtifactArgs, start: &StartContext) -> anyhow::Result<u8> {
    let state = state(args, start);
    let artifacts = SessionArtifacts {
        directory: session::artifact_dir(start, &state)?,
        mask: session::output_mask(start),
    };
    match &args.action {
        ArtifactAction::List { json } => list(&artifacts, *json),
        ArtifactAction::Show {
            id,
            offset,
            limit,
            byte,
            tail,
        } => artifacts.with_artifact(id, |view| {
            let page = match (byte, tail) {
                (Some(offset), _) => view.bytes(*offset, MAX_PAGE_BYTES as u64)?,
                (None, Some(lines)) => view.tail(lines.get())?,
                (None, None) => view.lines(offset.get(), limit.map(u64::from))?,
            };
            output::print(&page.piece.marked())?;
            if let Some(shown) = page.shown() {
                let next = match page.next {
                    NextPage::End => None,
                    NextPage::Line(line) => Some(("--offset", line)),
                    NextPage::Byte(byte) => Some(("--byte", byte)),
                };
                let limit = limit.map(|limit| limit.to_string());
                let mut words = vec!["show", id];
                words.extend(limit.iter().flat_map(|limit| ["--limit", limit]));
                print_next_command(&shown, &words, next, &state);
            }
            Ok(0)
        }),
        ArtifactAction::Grep {
            pattern,
            id,
            context,
            offset,
            limit,
        } => artifacts.with_artifact(id, |view| {
            let found = view.search(&Search {
                pattern: pattern.clone(),
                before: *context,
                after: *context,
                from_line: offset.get(),
                max_matches: *limit,
            })?;
            output::print(&found.text())?;
            if let Some(line) = found.next_line {
                let (context, limit) = (context.to_string(), limit.to_string());
                let words = ["grep", pattern, id, "-C", &context, "--limit", &limit];
                print_next_command(&found.shown(), &words, Some(("--offset", line)), &state);
            }
            if let Some(capped) = found.capped() {
                output::say(&format!("[{capped}]"));
            }
            Ok(u8::from(found.total_matches == 0))
        }),
    }
}

/// Returns the name of the state directory to look in.
fn state(args: &ArtifactArgs, start: &StartContext) -> String {
    let directory = |name: &str| session::artifact_dir(start, name).ok().flatten();
    let id = match &args.action {
        ArtifactAction::List { .. } => None,
        ArtifactAction::Show { id, .. } | ArtifactAction::Grep { id, .. } => Some(id),
    };
    // The path of an artifact also selects the state directory.
    let is_of_run = |id: &String| {
        let found = directory(DEFAULT_SESSION).and_then(|artifacts| artifacts.find(Path::new(id)));
        found.is_some()
    };
    if args.state.is_none() && id.is_some_and(is_of_run) {
        return DEFAULT_SESSION.to_owned();
    }
    let chosen = default_state::choose(start, args.state.as_deref(), |name| {
        let listed = directory(name)
            .map(|artifacts| artifacts.list())
            .unwrap_or_default();
        listed.iter().map(|info| info.started_at).max()
    });
    chosen.name
}

/// Prints to stderr what was shown, and the command that shows the next part.
fn print_next_command(shown: &str, words: &[&str], next: Option<(&str, u64)>, session: &str) {
    let Some((option, position)) = next else {
        output::say(&format!("[{shown}]"));
        return;
    };
    let position = position.to_string();
    let mut all = vec!["agent-bash", "artifact"];
    all.extend(words);
    all.extend([option, &position]);
    if session != DEFAULT_SESSION {
        all.extend(["--state", session]);
    }
    // Cannot fail: none of our arguments contains NUL.
    let command = shlex::try_join(all).unwrap_or_default();
    output::say(&format!("[{shown} To go on: {command}]"));
}

/// The session's artifacts.
struct SessionArtifacts {
    /// `None` if no directory for them is known.
    directory: Option<ArtifactDir>,
    mask: Option<Arc<dyn OutputMask>>,
}

impl SessionArtifacts {
    /// Runs `action` on the artifact that a number, a URI or a path names. If it does not exist,
    /// prints the error.
    fn with_artifact(
        &self,
        name: &str,
        action: impl FnOnce(&FileView) -> anyhow::Result<u8>,
    ) -> anyhow::Result<u8> {
        match self.view(name) {
            Ok(view) => action(&view.masked(self.mask.clone())),
            Err(error) => {
                output::say(&format!("agent-bash: {error}"));
                Ok(NOT_FOUND_EXIT_CODE)
            }
        }
    }

    fn view(&self, name: &str) -> Result<FileView, LookupError> {
        let named_by_path = self.directory.as_ref().and_then(|dir| {
            let info = dir.find(Path::new(name))?;
            Some(dir.open(info.artifact.id))
        });
        named_by_path.unwrap_or_else(|| open_artifact(self.directory.as_ref(), name))
    }
}

fn list(artifacts: &SessionArtifacts, json: bool) -> anyhow::Result<u8> {
    let directory = artifacts.directory.iter();
    let listed: Vec<ArtifactInfo> = directory.flat_map(ArtifactDir::list).collect();
    if json {
        let lines = listed.iter().map(|info| format!("{}\n", as_json(info)));
        output::print(&lines.collect::<String>())?;
        return Ok(0);
    }
    if listed.is_empty() {
        output::say("no outputs are stored");
        return Ok(0);
    }
    let now = SystemClock::new().wall();
    let rows: Vec<[String; 5]> = listed.iter().map(|info| row(info, now)).collect();
    let headings = ["OUTPUT", "STARTED", "LINES", "SIZE", "COMMAND"];
    output::print(&table(headings, &rows))?;
    Ok(0)
}

fn as_json(info: &ArtifactInfo) -> serde_json::Value {
    serde_json::json!({
        "artifact": info.artifact,
        "command": info.command,
        "cwd": info.cwd,
        "started_at": info.started_at,
        "duration_ms": info.duration.as_millis(),
        "status": info.status,
    })
}

/// The cells of a row: name, age, size, and the first line of the command.
fn row(info: &ArtifactInfo, now: Timestamp) -> [String; 5] {
    const MAX_COMMAND_CHARS: usize = 60;
    let first = info.command.lines().next().unwrap_or_default();
    let mut command: String = first.chars().take(MAX_COMMAND_CHARS).collect();
    if command.len() < info.command.trim_end().len() {
        command.push('…');
    }
    let artifact = &info.artifact;
    [
        artifact.uri.clone(),
        ago(info.started_at, now),
        artifact.lines.to_string(),
        size_text(artifact.bytes, SizeStyle::Spaced) + &truncated_note(artifact),
        command,
    ]
}
