//! Checks whether the changes of a command can be recorded and undone on this system, and held back
//! by a trial. Tries both once, in a temporary directory.

use crate::commands::session;
use crate::process_start::StartContext;
use agent_bash::core::changes::{Changes, ChangesBy, ChangesLevel, ChangesState, Undoable};
use agent_bash::core::{Cancel, NoticeKind, Status, ToolResult};
use agent_bash::process::supervisor::Supervisor;
use agent_bash::settings::Settings;
use agent_bash::{Conversation, HostContext};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// The file's content before the command, and the command that changes it.
const FORMER_CONTENT: &str = "before\n";
const CHANGING_COMMAND: &str = "echo after > file";

/// The result of each attempt.
pub(super) struct AttemptResults {
    /// The result of a recorded change and its undo.
    pub(super) record: Result<(), String>,
    pub(super) trial: Result<(), String>,
}

/// Tries an undo and a trial with the user's settings, in a temporary directory.
pub(super) async fn try_changes(
    settings: &Settings,
    start: &StartContext,
    session: &str,
) -> AttemptResults {
    let tree = match tempfile::tempdir_in(start.host.temp_dir()) {
        Ok(tree) => tree,
        Err(error) => {
            let why = format!("{}: {error}", start.host.temp_dir().display());
            return AttemptResults {
                record: Err(why.clone()),
                trial: Err(why),
            };
        }
    };
    let opened = open_session(settings, start, session, tree.path());
    let (record, trial) = match opened {
        Ok(session) => (
            record_and_undo(&session, tree.path()).await,
            hold_trial(&session, tree.path()).await,
        ),
        Err(error) => (Err(format!("{error:#}")), Err(format!("{error:#}"))),
    };
    if let Some(state) = start.host.state_dir() {
        // The directory may not exist.
        let _ = fs::remove_dir_all(state.join("changes").join(session));
    }
    AttemptResults { record, trial }
}

fn open_session(
    settings: &Settings,
    start: &StartContext,
    name: &str,
    tree: &Path,
) -> anyhow::Result<Conversation> {
    let mut settings = settings.clone();
    settings.changes.level = Some(ChangesLevel::Undo);
    settings.changes.root = Some(tree.canonicalize()?);
    let start = StartContext {
        host: HostContext {
            cwd: tree.to_owned(),
            ..start.host.clone()
        },
        token: start.token.clone(),
    };
    let supervisor = Supervisor::this_program(&start.token);
    session::open_for_checks(&settings, &start, &supervisor, name)
}

/// Writes the former content, runs the call, and returns the changes that it recorded.
async fn run(session: &Conversation, tree: &Path, request: Value) -> Result<Changes, String> {
    fs::write(tree.join("file"), FORMER_CONTENT).map_err(|error| error.to_string())?;
    let result = session.tool().execute(request, &Cancel::new()).await;
    match result {
        ToolResult {
            status: Status::Exited { code: 0 },
            changes: Some(changes),
            ..
        } => Ok(changes),
        other => {
            let unknown = other.notices.iter().find_map(|notice| match &notice.kind {
                NoticeKind::ChangesUnknown { reason } => Some(reason.clone()),
                _ => None,
            });
            Err(unknown.unwrap_or_else(|| other.text.trim().to_owned()))
        }
    }
}

async fn record_and_undo(session: &Conversation, tree: &Path) -> Result<(), String> {
    let changes = run(session, tree, json!(CHANGING_COMMAND)).await?;
    if changes.by == ChangesBy::Scan {
        let why =
            "files are compared before and after a call, which lists changes and cannot undo them";
        return Err(match session.tool().check_recording().await {
            Err(reason) => format!("{why}: {reason}"),
            Ok(()) => why.to_owned(),
        });
    }
    if !changes.exact || changes.undo != Undoable::Whole {
        return Err("the record of the changes is incomplete".to_owned());
    }
    let sets = session.changes();
    let undone = sets
        .run_blocking(move |sets| sets.undo(changes.id, &[], false))
        .await;
    undone.map_err(|error| error.to_string())?;
    check_is_as_before(tree)
}

async fn hold_trial(session: &Conversation, tree: &Path) -> Result<(), String> {
    let request = json!({"command": CHANGING_COMMAND, "trial": true});
    let changes = run(session, tree, request).await?;
    if changes.state != ChangesState::Held {
        return Err("nothing was held back".to_owned());
    }
    check_is_as_before(tree)?;
    // The kernel's directory in a held trial has no permissions, so an ordinary user could not
    // remove the session's directory with it.
    let sets = session.changes();
    let discarded = sets.run_blocking(move |sets| sets.discard(changes.id));
    discarded.await.map(drop).map_err(|error| error.to_string())
}

fn check_is_as_before(tree: &Path) -> Result<(), String> {
    match fs::read_to_string(tree.join("file")) {
        Ok(content) if content == FORMER_CONTENT => Ok(()),
        Ok(_) => Err("the file is not as before".to_owned()),
        Err(error) => Err(format!("the file cannot be read: {error}")),
    }
}
