//! The turn of a call that names none itself: the prompt of the client's user to which the call
//! belongs.

use agent_bash::change_sets::TurnSign;
use agent_bash::{ChangesRefused, Conversation};
use rmcp::model::JsonObject;

/// The key and the field in which Codex 0.171.0 passes the id of the prompt.
const CODEX_TURN: [&str; 2] = ["x-codex-turn-metadata", "turn_id"];

/// Begins the turn of a call if changes are recorded: the turn that Codex names, else that of the
/// last prompt which the agent has reported to its hook. `agent` is the state directory of these
/// prompts. Does nothing if the last turn goes on.
///
/// Looks at two small files, and reads them if they have changed, without another thread: a call
/// that waits here would lose its place among the calls of its session.
///
/// # Errors
/// The turn cannot be stored.
pub(super) fn begin(
    session: &Conversation,
    meta: &JsonObject,
    agent: Option<&str>,
) -> Result<(), ChangesRefused> {
    let sets = session.changes();
    if !sets.is_recording() {
        return Ok(());
    }
    let [codex, id] = CODEX_TURN;
    if let Some(id) = meta.get(codex).and_then(|turn| turn[id].as_str()) {
        sets.begin_turn(TurnSign::Prompt(Some(id)))?;
    } else if let Some(agent) = agent {
        sets.follow_turn(agent)?;
    }
    Ok(())
}
