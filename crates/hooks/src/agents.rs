//! The supported agents: one file each. To add an agent, add its file, and a line in [`SUPPORTED`].
//!
//! The timeouts in the entries are longer than the deadline of `agent-bash hook`: if a hook times
//! out, most agents run the command.

/// Expands to the JSON text of a group of hooks for matching tools, as in Claude Code's settings.
/// The unit of `$timeout` depends on the agent. `LINE` is replaced by the hook's command line.
macro_rules! group {
    ($matcher:literal, $timeout:literal) => {
        concat!(
            "{\n  \"matcher\": \"",
            $matcher,
            "\",\n  \"hooks\": [\n    {\n      \"type\": \"command\",\n      \"command\": LINE,\n      \"timeout\": ",
            $timeout,
            "\n    }\n  ]\n}"
        )
    };
}

/// Expands to the form of an entry of `mcpServers`, with these members before the usual members.
macro_rules! server {
    ($json:expr, $more:literal) => {
        $crate::mcp_agent::McpForm::Json {
            json: $json,
            keys: &["mcpServers", "agent-bash"],
            entry: concat!(
                "{\n",
                $more,
                "  \"command\": PROGRAM,\n  \"args\": [\"mcp\"]\n}"
            ),
        }
    };
}

/// Expands to the JSON text of a hook that is told the user's prompts. `REPORT` is replaced by the
/// hook's command line.
macro_rules! prompt_group {
    ($timeout:literal) => {
        concat!(
            "{\n  \"hooks\": [\n    {\n      \"type\": \"command\",\n      \"command\": REPORT,\n      \"timeout\": ",
            $timeout,
            "\n    }\n  ]\n}"
        )
    };
}

mod claude_code;
mod cline;
mod codex;
mod copilot;
mod crush;
mod cursor;
mod droid;
mod gemini_cli;
mod kilo;
mod kimi;
mod kiro;
mod letta;
mod mistral_vibe;
mod omp;
mod opencode;
mod openhands;
mod pi;
mod qwen;
mod vscode;
mod windsurf;

pub use claude_code::CLAUDE_CODE;

use crate::agent::Agent;
use crate::sandboxed_agent::SandboxedAgent;
use crate::supported_agent::SupportedAgent;
use std::iter;

/// All supported agents, in the order of their names.
pub static SUPPORTED: [SupportedAgent; 22] = [
    claude_code::AGENT,
    cline::AGENT,
    codex::AGENT,
    copilot::AGENT,
    crush::AGENT,
    cursor::AGENT,
    droid::AGENT,
    gemini_cli::AGENT,
    kilo::AGENT,
    kimi::AGENT,
    kiro::AGENT,
    letta::AGENT,
    mistral_vibe::AGENT,
    omp::AGENT,
    opencode::AGENT,
    openhands::AGENT,
    pi::AGENT,
    qwen::AGENT,
    vscode::VSCODE,
    vscode::VSCODE_INSIDERS,
    vscode::VSCODIUM,
    windsurf::AGENT,
];

/// Any agent: the fields of the call determine the format of the answer.
pub const AUTO: Agent = Agent {
    name: "auto",
    tested_with: "the recorded calls of all other agents",
    ..Agent::UNKNOWN
};

static ANY: SupportedAgent = SupportedAgent::with_hook(AUTO);

/// Returns all agents with a hook: [`AUTO`], and the supported agents in the order of their names.
pub fn hook_agents() -> impl Iterator<Item = &'static Agent> {
    iter::once(&ANY).chain(&SUPPORTED).map(|agent| &agent.hook)
}

/// Finds an agent by its name on the command line: a supported one, or any agent by [`AUTO`]'s
/// name.
pub fn by_name(name: &str) -> Option<&'static SupportedAgent> {
    let mut agents = iter::once(&ANY).chain(&SUPPORTED);
    agents.find(|agent| agent.hook.name == name)
}

/// Finds the agent with this program, such as `claude`.
pub fn sandboxed_agent(program: &str) -> Option<&'static SandboxedAgent> {
    let agent = SUPPORTED
        .iter()
        .find(|agent| agent.hook.program == program)?;
    agent.sandbox.as_ref()
}

/// Returns the programs of all agents whose files and hosts are known.
pub fn sandboxed_programs() -> impl Iterator<Item = &'static str> {
    let known = SUPPORTED.iter().filter(|agent| agent.sandbox.is_some());
    known.map(|agent| agent.hook.program)
}

#[cfg(test)]
mod tests {
    use super::*;
    use agent_bash::HostContext;
    use agent_bash::settings;

    #[test]
    fn hosts_of_every_agent_are_entries_of_a_list() {
        let home = tempfile::tempdir().unwrap();
        let mut host = HostContext::capture(home.path().to_owned());
        host.env = std::sync::Arc::default();
        host.home = None;
        for program in sandboxed_programs() {
            let agent = sandboxed_agent(program).unwrap();
            assert!(
                !agent.hosts.is_empty() && !agent.state.is_empty(),
                "{program}"
            );
            let mut loaded = settings::load(&host).unwrap();
            let list = agent.hosts.join(",");
            loaded.set("sandbox.network", &list, program).unwrap();
        }
    }
}
