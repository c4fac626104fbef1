//! Agents that are not ours, as they are published: Claude Code, Codex, Gemini CLI and opencode, each with a stand-in for its
//! model on loopback that asks for one call and keeps what comes back. What a model really gets is what is looked at.
//!
//! They are large, so the tests are listed as ignored, and `cargo xtask agents` runs them. Each agent is installed once
//! from npm, below `target/`; one that cannot be had fails its tests and is named there. What was measured on the way goes to
//! stderr: the table in docs/mcp.md is made of it.

mod agent;
mod claude_code;
mod codex;
mod gemini_cli;
mod hooks;
mod mcp;
mod model;
mod opencode;
mod run;
mod wire;

use agent::Agent;
use anyhow::Result;
use libtest_mimic::{Arguments, Failed, Trial};

const AGENTS: [&Agent; 5] = [
    &claude_code::CLAUDE_CODE,
    &codex::CODEX,
    &codex::CODEX_BY_SCRIPT,
    &gemini_cli::GEMINI_CLI,
    &opencode::OPENCODE,
];

/// A test, and the agents that it is for.
struct Check {
    name: &'static str,
    of: fn(&Agent) -> bool,
    run: fn(&Agent) -> Result<()>,
}

fn main() {
    let mut trials = Vec::new();
    for check in mcp::CHECKS.iter().chain(hooks::CHECKS) {
        for agent in AGENTS.into_iter().filter(|agent| (check.of)(agent)) {
            let trial = Trial::test(format!("{}: {}", agent.name, check.name), || {
                (check.run)(agent).map_err(|error| Failed::from(format!("{error:#}")))
            });
            trials.push(trial.with_ignored_flag(true));
        }
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}
