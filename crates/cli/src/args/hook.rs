//! `agent-bash hook`.

use agent_bash::hook::{AGENTS, Agent, by_name};
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};

#[derive(Debug, Args)]
#[command(after_help = "\
Reads a tool call as JSON on stdin, as the agent writes it, and answers in the agent's format.
A command that nothing speaks against passes without a word: the agent asks as it would have.
What is refused comes with the reason; so does whatever cannot be read or judged (exit code 2).

The settings in force are those of `agent-bash settings`.")]
pub(crate) struct HookArgs {
    /// Whose hook this is.
    #[arg(value_name = "AGENT", value_parser = agents())]
    pub(crate) agent: &'static Agent,
}

fn agents() -> impl TypedValueParser<Value = &'static Agent> {
    PossibleValuesParser::new(AGENTS.map(|agent| agent.name))
        .try_map(|name| by_name(&name).ok_or("there is no such agent"))
}
