//! The turn of a call that names none itself: the prompt of the client's user to which the call
//! belongs.

use agent_bash::change_sets::TurnSign;
use agent_bash::{ChangeSets, ChangesRefused, Conversation};
use rmcp::model::JsonObject;

/// The key and the field in which Codex 0.171.0 passes the id of the prompt.
const CODEX_TURN: [&str; 2] = ["x-codex-turn-metadata", "turn_id"];

/// Begins the turn of a call if changes are recorded: the turn that Codex names, else that of the
/// last prompt which the agent has reported to its hook. `agent` is the state directory of these
/// prompts. Does nothing if the last turn goes on.
///
/// # Errors
/// The turn cannot be stored.
pub(super) async fn begin(
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
        let id = id.to_owned();
        let begin = move |sets: &ChangeSets| sets.begin_turn(TurnSign::Prompt(Some(&id)));
        sets.run_blocking(begin).await?;
    } else if let Some(agent) = agent {
        let agent = agent.to_owned();
        let follow = move |sets: &ChangeSets| sets.follow_turn(&agent);
        sets.run_blocking(follow).await?;
    }
    Ok(())
}
