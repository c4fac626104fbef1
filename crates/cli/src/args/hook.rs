//! `agent-bash hook`.

use agent_bash::hook::{AGENTS, Agent, by_name};
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};

#[derive(Debug, Args)]
#[command(after_help = "\
Reads a tool call as JSON on stdin, as the agent writes it, and answers in the agent's format.
A command that nothing speaks against passes without a word: the agent asks as it would have.
What is refused comes with the reason; so does whatever cannot be read or judged (exit code 2).

The settings in force are those of `agent-bash settings`.

  agent-bash hook --install claude-code              shows what would change, and asks
  agent-bash hook --install --project codex --yes    for this directory alone, without asking
  agent-bash hook --uninstall claude-code            puts back what was there")]
pub(crate) struct HookArgs {
    /// The agent whose hook this is.
    #[arg(value_name = "AGENT", value_parser = agents())]
    pub(crate) agent: &'static Agent,

    /// Configure the agent to ask this hook.
    #[arg(long, conflicts_with = "uninstall")]
    pub(crate) install: bool,

    /// Undo `--install`.
    #[arg(long)]
    pub(crate) uninstall: bool,

    /// Use the settings of this project, not your own for all projects.
    #[arg(long)]
    pub(crate) project: bool,

    /// Write without asking.
    #[arg(long)]
    pub(crate) yes: bool,
}

fn agents() -> impl TypedValueParser<Value = &'static Agent> {
    PossibleValuesParser::new(AGENTS.map(|agent| agent.name))
        .try_map(|name| by_name(&name).ok_or("there is no such agent"))
}
