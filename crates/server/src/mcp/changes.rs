//! The tool `bash_changes`, and change sets as resources.

use super::job_texts::first_line;
use super::jobs::ToolAnswer;
use super::tools::{ChangesAction, ChangesArgs, PART_WINDOW};
use crate::into_data::IntoData;
use agent_bash::change_sets::ChangesScope;
use agent_bash::core::changes::{Changes, ChangesId};
use agent_bash::core::{Cancel, Window, masked_text};
use agent_bash::tools::change_texts;
use agent_bash::{Approver, ChangeSets, ChangesRefused, Conversation, commit_for_model};
use agent_bash_protocol::data::ChangesSetData;
use rmcp::model::{Resource, ResourceTemplate};
use serde_json::{Value, json};
use std::fmt::Write as _;

/// The scheme of the URIs of change sets.
pub(super) const SCHEME: &str = "changes://";

/// Maximum number of change sets in the data of an answer.
const MAX_SETS: usize = 10;

/// Maximum number of files in an answer; others are counted.
const MAX_FILES: usize = 500;

/// Serves `bash_changes`.
pub(super) async fn answer(
    session: &Conversation,
    args: ChangesArgs,
    window: Option<Window>,
    approver: Option<&dyn Approver>,
    cancel: &Cancel,
) -> Result<ToolAnswer, String> {
    let window = window.map_or(PART_WINDOW, |window| PART_WINDOW.and(window));
    let sets = session.changes();
    let answered = perform(session, &sets, args, window, approver, cancel).await;
    match answered {
        Ok(answer) => Ok(ToolAnswer {
            text: masked(session, &answer.text),
            ..answer
        }),
        Err(ChangesFailure::Refused(refused)) => Ok(ToolAnswer {
            data: match &refused {
                ChangesRefused::Conflict(conflict) => {
                    json!({ "conflicts": conflict.conflicts, "without_conflict": conflict.without_conflict })
                }
                ChangesRefused::Group(refused) => {
                    let set = |(id, files): &(ChangesId, _)| json!({ "id": id, "files": files });
                    let why = |(id, why): &(ChangesId, String)| json!({ "id": id, "why": why });
                    let obstacles = &refused.obstacles;
                    let conflicts: Vec<Value> = obstacles.conflicts.iter().map(set).collect();
                    let blocked: Vec<Value> = obstacles.blocked.iter().map(why).collect();
                    json!({ "conflicts": conflicts, "blocked": blocked })
                }
                _ => Value::Null,
            },
            text: masked(session, &refused.to_string()),
            is_error: true,
        }),
        Err(ChangesFailure::Usage(usage)) => Err(usage),
    }
}

/// The reason why a call failed.
enum ChangesFailure {
    Refused(ChangesRefused),
    Usage(String),
}

impl From<ChangesRefused> for ChangesFailure {
    fn from(refused: ChangesRefused) -> Self {
        Self::Refused(refused)
    }
}

/// Performs the action of a call.
async fn perform(
    session: &Conversation,
    sets: &ChangeSets,
    args: ChangesArgs,
    window: Window,
    approver: Option<&dyn Approver>,
    cancel: &Cancel,
) -> Result<ToolAnswer, ChangesFailure> {
    let ChangesArgs {
        action,
        id,
        paths,
        partial,
        since,
        turn_name: turn,
    } = args;
    if action == ChangesAction::List {
        return Ok(sets.run_blocking(move |sets| list(sets, window)).await?);
    }
    if since.is_some() || turn.is_some() {
        let is_group = matches!(action, ChangesAction::Undo | ChangesAction::Redo);
        if !is_group || id.is_some() || !paths.is_empty() {
            let usage = "`since` and `turn` are for `undo` and `redo`, without `id` and `paths`";
            return Err(ChangesFailure::Usage(usage.to_owned()));
        }
        let (since, turn) = (since.map(|name| name.text()), turn.map(|name| name.text()));
        let scope = session.changes_scope(since.as_deref(), turn.as_deref());
        let scope = scope.map_err(ChangesFailure::Usage)?;
        let is_redo = action == ChangesAction::Redo;
        return Ok(sets
            .run_blocking(move |sets| invert_group(sets, &scope, is_redo, partial))
            .await?);
    }
    let missing =
        || ChangesFailure::Usage("`id` is missing: the number of the change set".to_owned());
    let id: ChangesId = id
        .ok_or_else(missing)?
        .text()
        .parse()
        .map_err(|error| ChangesFailure::Usage(format!("`id`: {error}")))?;
    let takes_paths = matches!(action, ChangesAction::Diff | ChangesAction::Undo);
    if !takes_paths && !paths.is_empty() {
        let usage = "`paths` are for `diff` and `undo`; leave them out".to_owned();
        return Err(ChangesFailure::Usage(usage));
    }
    let done = match action {
        ChangesAction::Show | ChangesAction::List => {
            return Ok(sets
                .run_blocking(move |sets| show(sets, id, window))
                .await?);
        }
        ChangesAction::Diff => {
            let diff = move |sets: &ChangeSets| {
                let diffs = sets.diff(id, &paths)?;
                let text: String = diffs.iter().map(change_texts::diff).collect();
                Ok(text_answer(cut(
                    &text,
                    window,
                    "name `paths` to see other files",
                )))
            };
            return Ok(sets.run_blocking(diff).await?);
        }
        ChangesAction::Commit => match approver {
            Some(approver) => commit_for_model(sets, id, approver, cancel).await?,
            None => session.commit_for_model(id, cancel).await?,
        },
        ChangesAction::Discard => sets.run_blocking(move |sets| sets.discard(id)).await?,
        ChangesAction::Undo => {
            sets.run_blocking(move |sets| sets.undo(id, &paths, partial))
                .await?
        }
        ChangesAction::Redo => sets.run_blocking(move |sets| sets.redo(id)).await?,
    };
    Ok(ToolAnswer::new(
        done.text,
        json!({ "changes": done.changes }),
    ))
}

fn invert_group(
    sets: &ChangeSets,
    scope: &ChangesScope,
    is_redo: bool,
    partial: bool,
) -> Result<ToolAnswer, ChangesRefused> {
    let done = if is_redo {
        sets.redo_group(scope)?
    } else {
        sets.undo_group(scope, partial)?
    };
    Ok(ToolAnswer::new(
        done.text,
        json!({ "turn": done.turn_name, "sets": done.sets, "changes": done.changes }),
    ))
}

fn list(sets: &ChangeSets, window: Window) -> Result<ToolAnswer, ChangesRefused> {
    let listed = sets.list()?;
    // Latest first, because the client most likely wants the latest change sets.
    let lines = listed.iter().rev().map(|listed_set| {
        let (kind, counts) = (
            change_texts::kind(listed_set),
            change_texts::counts(&listed_set.changes.counts),
        );
        let why = listed_set.changes.commit_obstacle();
        let why = why.map_or_else(String::new, |why| format!("; {why}"));
        let turn = listed_set.turn_name.as_ref();
        let turn = turn.map_or_else(String::new, |turn| format!("; turn {turn}"));
        let changes = &listed_set.changes;
        let command = changes.command.as_deref();
        let command = command.map_or_else(String::new, |it| format!("  {}", first_line(it)));
        format!("{}  {kind}  {counts}{turn}{why}{command}\n", changes.id)
    });
    let text: String = lines.collect();
    if text.is_empty() {
        return Ok(text_answer("There are no change sets.".to_owned()));
    }
    let text = cut(&text, window, "the omitted change sets are older");
    // Latest first, like the text.
    let latest = listed.into_iter().rev().take(MAX_SETS);
    let sets: Vec<ChangesSetData> = latest.map(IntoData::into_data).collect();
    Ok(ToolAnswer::new(text, json!({ "sets": sets })))
}

fn show(sets: &ChangeSets, id: ChangesId, window: Window) -> Result<ToolAnswer, ChangesRefused> {
    let (text, changes) = describe(sets, id)?;
    let text = cut(
        &text,
        window,
        "`diff` with `paths` shows the files of a directory",
    );
    Ok(ToolAnswer::new(text, json!({ "changes": changes })))
}

/// Returns a text about a change set, with its first files and the number of its other files. Also
/// returns the change set.
fn describe(sets: &ChangeSets, id: ChangesId) -> Result<(String, Changes), ChangesRefused> {
    let (changes, files) = sets.show_all(id)?;
    let mut text = change_texts::set(&changes, &files[..files.len().min(MAX_FILES)], &[]);
    if let more @ 1.. = files.len().saturating_sub(MAX_FILES) {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "  and {more} others");
    }
    Ok((text, changes))
}

fn text_answer(text: String) -> ToolAnswer {
    ToolAnswer::new(text, Value::Null)
}

/// Cuts a text to the lines of a window, and adds the number of omitted bytes.
fn cut(text: &str, window: Window, hint: &str) -> String {
    let mut end = 0;
    for line in text.split_inclusive('\n').take(window.lines) {
        if end + line.len() > window.bytes {
            break;
        }
        end += line.len();
    }
    match text.len() - end {
        0 => text.to_owned(),
        omitted => format!("{}[{omitted} bytes are left out; {hint}.]", &text[..end]),
    }
}

/// Returns the text of the resource `uri`: a change set with its files.
pub(super) fn resource(session: &Conversation, uri: &str) -> Result<String, String> {
    let id = uri
        .parse()
        .map_err(|error: agent_bash::core::changes::ChangesIdError| error.to_string())?;
    let (text, _) = describe(&session.changes(), id).map_err(|refused| refused.to_string())?;
    Ok(masked(session, &text))
}

/// Masks the secrets in a text for the model: in names, commands and contents of files.
fn masked(session: &Conversation, text: &str) -> String {
    let mask = session.tool().output_mask();
    masked_text(mask.map(|mask| &**mask), text).into_owned()
}

/// Returns all change sets of a session as resources, oldest first.
pub(super) fn resources(session: &Conversation) -> Vec<Resource> {
    let sets = session.changes();
    let listed = if sets.is_recording() {
        sets.list().unwrap_or_default()
    } else {
        Vec::new()
    };
    listed
        .into_iter()
        .map(|listed_set| {
            let changes = &listed_set.changes;
            let (kind, counts) = (
                change_texts::kind(&listed_set),
                change_texts::counts(&changes.counts),
            );
            Resource::new(changes.all.clone(), format!("changes {}", changes.id))
                .with_title(format!("{kind}: {counts}"))
                .with_description(format!("started {} in {}", listed_set.begun, changes.root))
                .with_mime_type("text/plain")
        })
        .collect()
}

/// Returns the URI template of change sets.
pub(super) fn template() -> ResourceTemplate {
    ResourceTemplate::new("changes://{id}", "changes")
        .with_description("Which files a command changed, or would change")
        .with_mime_type("text/plain")
}
