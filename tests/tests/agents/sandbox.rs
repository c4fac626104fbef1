//! Agents that run in a sandbox themselves, by `agent-bash sandbox run`.

use crate::Check;
use crate::agent::{Agent, Integration};
use crate::model::Ask;
use crate::run::{end, play, world};
use anyhow::ensure;
use serde_json::json;

pub(crate) const CHECKS: &[Check] = &[Check {
    name: "in a sandbox, the agent reaches its model, and its commands write only the workspace",
    of: |agent| program(agent).is_some(),
    run: |agent| {
        let world = world()?;
        let secret = world.home().join(".ssh/id_ed25519");
        std::fs::create_dir_all(world.home().join(".ssh"))?;
        std::fs::write(&secret, "the key\n")?;
        let (tool, field) = agent.shell;
        let script =
            "echo made > made.txt; cat ~/.ssh/id_ed25519; echo no > ~/outside.txt; echo end";
        let input = json!({field: script, "description": "what it does"});
        let returned = play(agent, Integration::Sandbox, &world, Ask::new(tool, input))?;
        let reads = (agent.reads)(&returned);
        let made = std::fs::read_to_string(world.cwd().join("made.txt")).unwrap_or_default();
        ensure!(
            made == "made\n",
            "made.txt is {made:?}, and the model reads {reads}"
        );
        ensure!(!world.home().join("outside.txt").exists(), "{reads}");
        ensure!(!reads.contains("the key"), "{reads}");
        ensure!(reads.contains("end"), "{reads}");
        end(world)
    },
}];

/// Returns the agent's name for `agent-bash sandbox run`, if that knows the agent.
pub(crate) fn program(agent: &Agent) -> Option<&'static str> {
    match agent.hook {
        "claude-code" => Some("claude"),
        "codex" => Some("codex"),
        "copilot" => Some("copilot"),
        "gemini-cli" => Some("gemini"),
        "opencode" => Some("opencode"),
        _ => None,
    }
}
