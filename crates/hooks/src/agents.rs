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
mod kimi;
mod kiro;
mod opencode;
mod pi;
mod qwen;
mod windsurf;

pub use claude_code::CLAUDE_CODE;

use crate::agent::{Agent, HookForm, same_directory};
use crate::mcp_agent::McpAgent;
use crate::sandboxed_agent::SandboxedAgent;
use crate::supported_agent::SupportedAgent;
use crate::take_over::ShellAgent;
use std::iter;

/// All supported agents, in the order of their names.
pub(crate) static SUPPORTED: [SupportedAgent; 14] = [
    claude_code::AGENT,
    cline::AGENT,
    codex::AGENT,
    copilot::AGENT,
    crush::AGENT,
    cursor::AGENT,
    droid::AGENT,
    gemini_cli::AGENT,
    kimi::AGENT,
    kiro::AGENT,
    opencode::AGENT,
    pi::AGENT,
    qwen::AGENT,
    windsurf::AGENT,
];

/// Any agent: the fields of the call determine the format of the answer.
pub const AUTO: Agent = Agent {
    name: "auto",
    program: "",
    tested_with: "the recorded calls of all other agents",
    format: None,
    can_rewrite: false,
    settings: same_directory("", "", ""),
    form: HookForm::Unknown,
    preferred: None,
    install_hint: "",
};

/// Returns all agents with a hook: [`AUTO`], and the supported agents in the order of their names.
pub fn hook_agents() -> impl Iterator<Item = &'static Agent> {
    iter::once(&AUTO).chain(SUPPORTED.iter().map(|agent| &agent.hook))
}

/// Returns the agents whose shell calls can run through `agent-bash shell`. VS Code is not listed:
/// its agent types into an interactive shell, which `agent-bash shell` leaves to bash.
pub fn shell_agents() -> impl Iterator<Item = &'static ShellAgent> {
    SUPPORTED.iter().filter_map(|agent| agent.shell.as_ref())
}

/// Finds an agent with a hook by its name on the command line.
pub fn by_name(name: &str) -> Option<&'static Agent> {
    hook_agents().find(|agent| agent.name == name)
}

/// Finds an agent with MCP servers by its name on the command line.
pub fn mcp_agent(name: &str) -> Option<&'static McpAgent> {
    let mut agents = SUPPORTED.iter().filter_map(|agent| agent.mcp.as_ref());
    agents.find(|agent| agent.name == name)
}

/// Finds an agent with a shell tool by its name on the command line.
pub fn shell_agent(name: &str) -> Option<&'static ShellAgent> {
    shell_agents().find(|agent| agent.name == name)
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
