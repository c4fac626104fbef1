//! Real agents as published: Claude Code, Codex, Gemini CLI, opencode, Copilot CLI, Kimi Code, Qwen
//! Code, Cline, Droid and pi, each with a stub of its model on loopback that requests calls and
//! records the result. The tests check the requests that a model really receives.
//!
//! The agents are large, so `cargo xtask agents` runs these tests and the suite does not. Each
//! agent is installed once from npm below `target/`; if the installation fails, the agent's tests
//! fail and name it. Measured figures are printed to stderr, for the table in docs/mcp.md.

mod agent;
mod chat_agents;
mod claude_code;
mod codex;
mod gemini_cli;
mod hooks;
mod local_agents;
mod mcp;
mod model;
mod opencode;
mod run;
mod sandbox;
mod shell;
mod wire;

use agent::Agent;
use anyhow::Result;
use libtest_mimic::{Arguments, Failed, Trial};

const AGENTS: [&Agent; 11] = [
    &claude_code::CLAUDE_CODE,
    &codex::CODEX,
    &codex::CODEX_BY_SCRIPT,
    &gemini_cli::GEMINI_CLI,
    &opencode::OPENCODE,
    &chat_agents::COPILOT,
    &chat_agents::KIMI,
    &chat_agents::QWEN,
    &local_agents::CLINE,
    &local_agents::DROID,
    &local_agents::PI,
];

/// A test, and the agents that it applies to.
struct Check {
    name: &'static str,
    of: fn(&Agent) -> bool,
    run: fn(&Agent) -> Result<()>,
}

fn main() {
    let mut trials = Vec::new();
    let checks = [mcp::CHECKS, hooks::CHECKS, shell::CHECKS, sandbox::CHECKS];
    let checks = checks.into_iter().flatten();
    for check in checks {
        for agent in AGENTS.into_iter().filter(|agent| (check.of)(agent)) {
            let trial = Trial::test(format!("{}: {}", agent.name, check.name), || {
                (check.run)(agent).map_err(|error| Failed::from(format!("{error:#}")))
            });
            trials.push(trial.with_ignored_flag(true));
        }
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}
