//! `agent-bash changes`: lists and shows change sets, commits or discards trials, undoes and
//! redoes.

use crate::args::{ChangesAction, ChangesArgs, DEFAULT_SESSION};
use crate::commands::default_state;
use crate::output;
use crate::process_start::StartContext;
use crate::table::{NarrowColumns, ago, fitted};
use agent_bash::change_sets::{ChangesError, ListedChanges};
use agent_bash::core::changes::ChangesId;
use agent_bash::core::visible::one_line;
use agent_bash::core::{Clock, Timestamp};
use agent_bash::journals::recordings;
use agent_bash::process::{SystemClock, terminal_columns};
use agent_bash::tools::change_texts;
use agent_bash::{ChangeSets, ChangesDone, ChangesGroupDone, ChangesRefused};
use agent_bash_server::{ChangesGroupData, ChangesSetData, FileDiffData, IntoData};
use anyhow::Context;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

/// The exit code if the action was refused.
const NOT_DONE_EXIT_CODE: u8 = 1;

const HEADINGS: [&str; 6] = ["CHANGES", "STARTED", "STATE", "FILES", "IN", "COMMAND"];

/// A narrow terminal first shortens FILES, and then omits IN and STARTED.
const NARROW_COLUMNS: NarrowColumns<'_> = NarrowColumns {
    cut: &[(3, 20)],
    omitted: &[4, 1],
};

/// Lists, shows, commits, discards, undoes or redoes.
pub(crate) fn changes(args: &ChangesArgs, start: &StartContext) -> anyhow::Result<u8> {
    let state = start.host.state_dir().context(
        "no directory for changes is known: set AGENT_BASH_STATE_DIR or HOME to an absolute path",
    )?;
    let cwd = &start.host.cwd;
    let chosen = default_state::choose(start, args.state.as_deref(), |session| {
        let sets = ChangeSets::in_state(state.clone(), session, cwd.clone());
        let listed = sets.list().unwrap_or_default();
        listed.iter().map(|set| set.begun).max()
    });
    let stored = StoredChanges {
        state,
        cwd: cwd.clone(),
        session: &chosen.name,
        json: args.json,
    };
    if let Some(id) = args.action.modified_set().filter(|_| chosen.is_assumed)
        && stored.sets_of(DEFAULT_SESSION).show(id).is_ok()
    {
        output::say(&default_state::ambiguous(&format!("changes {id}"), &chosen));
        return Ok(NOT_DONE_EXIT_CODE);
    }
    match stored.act(&args.action) {
        Err(ActionFailure::Refused(refused)) => {
            stored.refuse(&refused)?;
            Ok(NOT_DONE_EXIT_CODE)
        }
        Err(ActionFailure::Output(error)) => Err(error),
        Ok(()) => Ok(0),
    }
}

/// Why an action was not done.
enum ActionFailure {
    /// The action is not possible; nothing was changed.
    Refused(ChangesRefused),
    /// The result could not be printed.
    Output(anyhow::Error),
}

impl From<ChangesRefused> for ActionFailure {
    fn from(refused: ChangesRefused) -> Self {
        Self::Refused(refused)
    }
}

impl From<anyhow::Error> for ActionFailure {
    fn from(error: anyhow::Error) -> Self {
        Self::Output(error)
    }
}

/// Maximum number of other sessions that are named if a change set does not exist.
const MAX_NAMED_SESSIONS: usize = 5;

/// The change sets of a session.
struct StoredChanges<'a> {
    state: PathBuf,
    cwd: PathBuf,
    session: &'a str,
    json: bool,
}

impl StoredChanges<'_> {
    fn sets(&self) -> ChangeSets {
        self.sets_of(self.session)
    }

    fn sets_of(&self, session: &str) -> ChangeSets {
        ChangeSets::in_state(self.state.clone(), session, self.cwd.clone())
    }

    /// Returns lines that name other state directories with change sets of the working directory,
    /// for example the one of a running interface. They are only named, because the change sets of
    /// each have their own numbers.
    fn other_sessions_text(&self, now: Timestamp) -> String {
        let sessions = self.sets().other_sessions().unwrap_or_default();
        let mut text = String::new();
        for session in sessions.iter().take(MAX_NAMED_SESSIONS) {
            let listed = self.sets_of(session).list().unwrap_or_default();
            let Some(last) = listed.iter().map(|set| set.begun).max() else {
                continue;
            };
            if text.is_empty() {
                text.push_str("\nother sessions have change sets of this directory:");
            }
            let sets = match listed.len() {
                1 => "1 set".to_owned(),
                many => format!("{many} sets, the last"),
            };
            // Writing to a String cannot fail.
            let _ = write!(text, "\n  --state {session}  {sets} {}", ago(last, now));
        }
        text
    }

    fn act(&self, action: &ChangesAction) -> Result<(), ActionFailure> {
        let sets = &self.sets();
        match action {
            ChangesAction::List => self.list(),
            ChangesAction::Show { id, names } => self.show(*id, *names),
            ChangesAction::Diff { id, paths } => self.diff(*id, paths),
            ChangesAction::Commit { id } => self.print_done(&sets.commit(*id)?),
            ChangesAction::Discard { id } => self.print_done(&sets.discard(*id)?),
            ChangesAction::Undo {
                id,
                paths,
                partial,
                several,
            } => match (id, several.scope(now())) {
                (Some(id), _) => self.print_done(&sets.undo(*id, paths, *partial)?),
                (None, Some(scope)) => self.print_group(sets.undo_group(&scope, *partial)?),
                (None, None) => Ok(()),
            },
            ChangesAction::Redo { id, several } => match (id, several.scope(now())) {
                (Some(id), _) => self.print_done(&sets.redo(*id)?),
                (None, Some(scope)) => self.print_group(sets.redo_group(&scope)?),
                (None, None) => Ok(()),
            },
        }
    }

    fn print_group(&self, done: ChangesGroupDone) -> Result<(), ActionFailure> {
        if self.json {
            let data: ChangesGroupData = done.into_data();
            return print_json(&json!(data));
        }
        Ok(output::print(&format!("{}\n", done.text))?)
    }

    fn print_done(&self, done: &ChangesDone) -> Result<(), ActionFailure> {
        if self.json {
            return print_json(&json!(done.changes));
        }
        Ok(output::print(&format!("{}\n", done.text))?)
    }

    /// Prints why the action was refused.
    fn refuse(&self, refused: &ChangesRefused) -> anyhow::Result<()> {
        let ChangesRefused::Conflict(conflict) = refused else {
            let mut text = format!("agent-bash: {refused}");
            if let ChangesRefused::Set(ChangesError::Unknown { .. }) = refused {
                let others = self.other_sessions_text(now());
                text.push_str(match &*others {
                    "" => "; `agent-bash log --list` names the sessions, and --state chooses one",
                    others => others,
                });
            }
            output::say(&text);
            return Ok(());
        };
        if self.json {
            let (conflicts, without_conflict) = (&conflict.conflicts, conflict.without_conflict);
            let json = json!({ "conflicts": conflicts, "without_conflict": without_conflict });
            return output::print(&format!("{json}\n"));
        }
        output::say(&conflict.user_text());
        Ok(())
    }

    /// Returns all change sets. A change set of background processes gets the command of their
    /// call. If the call itself changed nothing, only the journal has that command.
    fn listed(&self) -> Result<Vec<ListedChanges>, ActionFailure> {
        let mut listed = self.sets().list()?;
        let call_without_command =
            |set: &ListedChanges| set.after.filter(|_| set.changes.command.is_none());
        if listed.iter().all(|set| call_without_command(set).is_none()) {
            return Ok(listed);
        }
        let mut commands: BTreeMap<ChangesId, String> = BTreeMap::new();
        for recording in recordings(&self.state, Some(self.session)) {
            let entries = recording.read().unwrap_or_default().entries;
            commands.extend(entries.into_iter().filter_map(|entry| {
                let id = entry.result.changes?.id;
                Some((id, one_line(&entry.command).into_owned()))
            }));
        }
        for ListedChanges { changes, .. } in &listed {
            commands.extend(changes.command.clone().map(|it| (changes.id, it)));
        }
        for set in &mut listed {
            if let Some(call) = call_without_command(set) {
                set.changes.command = commands.get(&call).cloned();
            }
        }
        Ok(listed)
    }

    fn list(&self) -> Result<(), ActionFailure> {
        let listed = self.listed()?;
        if self.json {
            for set in &listed {
                let data: ChangesSetData = set.clone().into_data();
                print_json(&json!(data))?;
            }
            return Ok(());
        }
        if listed.is_empty() {
            let (others, session) = (self.other_sessions_text(now()), self.session);
            let who_records = match &*others {
                "" => ": shell, rpc, mcp and tui record changes; `run` does with --changes=undo",
                _ => "",
            };
            output::say(&format!(
                "session {session} has no change sets{who_records}{others}"
            ));
            return Ok(());
        }
        let now = now();
        let mut text = table(&listed, now);
        for set in &listed {
            if let Some(why) = set.changes.commit_obstacle() {
                // Writing to a String cannot fail.
                let _ = writeln!(text, "trial {}: {why}", set.changes.id);
            }
        }
        Ok(output::print(&text)?)
    }

    fn show(&self, id: ChangesId, names: bool) -> Result<(), ActionFailure> {
        let (mut changes, files) = self.sets().show_all(id)?;
        if names {
            let all = files.iter().filter_map(|file| file.name.bytes());
            let text: Vec<u8> = all.flat_map(|name| [name, vec![0]].concat()).collect();
            return Ok(output::print_bytes(&text)?);
        }
        let is_background = if changes.command.is_none() {
            let listed = self.listed()?;
            let itself = listed.into_iter().find(|set| set.changes.id == id);
            changes.command = itself.as_ref().and_then(|set| set.changes.command.clone());
            itself.is_some_and(|set| set.after.is_some())
        } else {
            false
        };
        if self.json {
            changes.files = files;
            changes.more = 0;
            return print_json(&json!(changes));
        }
        if let Some(command) = changes.command.as_mut().filter(|_| is_background) {
            command.insert_str(0, "background processes of: ");
        }
        let changed_by = self.sets().changed_by(id, &changes.conflicts);
        Ok(output::print(&change_texts::set(
            &changes, &files, &changed_by,
        ))?)
    }

    fn diff(&self, id: ChangesId, paths: &[PathBuf]) -> Result<(), ActionFailure> {
        let diffs = self.sets().diff(id, paths)?;
        if self.json {
            let all = diffs.into_iter().map(IntoData::into_data);
            let all: Vec<FileDiffData> = all.collect();
            return print_json(&json!(all));
        }
        let text: String = diffs.iter().map(change_texts::diff).collect();
        Ok(output::print(&text)?)
    }
}

fn now() -> Timestamp {
    SystemClock::new().wall()
}

fn print_json(value: &Value) -> Result<(), ActionFailure> {
    Ok(output::print(&format!("{value}\n"))?)
}

/// Returns the table of change sets, with their turns if any is known.
fn table(listed: &[ListedChanges], now: Timestamp) -> String {
    let rows: Vec<[String; 6]> = listed.iter().map(|set| row(set, now)).collect();
    let columns = terminal_columns();
    if listed.iter().all(|set| set.turn_name.is_none()) {
        return fitted(HEADINGS, &rows, columns, NARROW_COLUMNS);
    }
    let with_turn = |[id, begun, state, files, root, command]: [String; 6], turn: &str| {
        [id, begun, state, files, root, turn.to_owned(), command]
    };
    let turns = listed
        .iter()
        .map(|set| set.turn_name.as_deref().unwrap_or_default());
    let rows = rows.into_iter().zip(turns);
    let rows: Vec<[String; 7]> = rows.map(|(row, turn)| with_turn(row, turn)).collect();
    let headings = with_turn(HEADINGS.map(str::to_owned), "TURN");
    fitted(
        headings.each_ref().map(String::as_str),
        &rows,
        columns,
        NARROW_COLUMNS,
    )
}

fn row(listed: &ListedChanges, now: Timestamp) -> [String; 6] {
    let changes = &listed.changes;
    [
        changes.id.to_string(),
        ago(listed.begun, now),
        change_texts::kind(listed),
        change_texts::counts(&changes.counts),
        one_line(&changes.root).into_owned(),
        one_line(changes.command.as_deref().unwrap_or_default()).into_owned(),
    ]
}
