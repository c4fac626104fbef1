//! `agent-bash setup`.

use agent_bash_hooks::{SUPPORTED, SupportedAgent};
use clap::builder::{PossibleValue, TypedValueParser};
use clap::{Arg, Args, Command, ValueEnum};
use std::ffi::OsStr;

#[derive(Debug, Args)]
#[command(after_help = "\
Finds the agents on this machine: their programs in PATH, or their settings. Asks what to do with
each, shows the change to its files, and writes it if you agree. An agent can use agent-bash as:

  shell  the shell that it starts: its commands get the rules, a record, and undo
  hook   a check before each command, which the agent then runs itself
  mcp    tools next to its own, over the Model Context Protocol

--undo removes what `setup` and `hook --install` wrote for you, and restores each file, to the byte.

  agent-bash setup                                   asks for each agent
  agent-bash setup --dry-run                         shows the proposed changes
  agent-bash setup --yes                             makes the proposed changes, without asking
  agent-bash setup --agent codex=hook,mcp --yes      these ways, for this agent alone
  agent-bash setup --undo                            asks, and removes what was set up")]
pub(crate) struct SetupArgs {
    /// Set up only this agent, even if it is not found, in these ways: shell, hook, mcp or none.
    #[arg(long = "agent", value_name = "NAME[=WAY,...]", value_parser = ChosenAgentParser)]
    pub(crate) agents: Vec<ChosenAgent>,

    /// Remove what was set up.
    #[arg(long)]
    pub(crate) undo: bool,

    /// Write without asking; set up each agent in the proposed way.
    #[arg(long)]
    pub(crate) yes: bool,

    /// Show the changes without writing them.
    #[arg(long, conflicts_with = "yes")]
    pub(crate) dry_run: bool,
}

/// An agent named on the command line.
#[derive(Debug, Clone)]
pub(crate) struct ChosenAgent {
    pub(crate) agent: &'static SupportedAgent,
    /// The ways; if `None`, the user chooses, or the proposed way is used.
    pub(crate) ways: Option<Vec<SetupWay>>,
}

/// A way in which an agent uses agent-bash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(crate) enum SetupWay {
    /// The agent starts agent-bash as its shell.
    Shell,
    /// The agent asks agent-bash before each command.
    Hook,
    /// The agent uses agent-bash as an MCP server.
    Mcp,
}

impl SetupWay {
    /// The name on the command line.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Shell => "shell",
            Self::Hook => "hook",
            Self::Mcp => "mcp",
        }
    }

    /// Parses a list of ways, in the order of installation. `none` is the empty list.
    pub(crate) fn list(text: &str) -> Result<Vec<Self>, String> {
        if text == "none" {
            return Ok(Vec::new());
        }
        let words = text.split([',', ' ']).filter(|word| !word.is_empty());
        let ways = words.map(|word| {
            Self::from_str(word, true)
                .map_err(|_| format!("`{word}` is not one of shell, hook, mcp and none"))
        });
        let mut ways: Vec<Self> = ways.collect::<Result<_, _>>()?;
        ways.sort_unstable();
        ways.dedup();
        Ok(ways)
    }
}

/// Parses an agent with its ways. Help and completion show the agents' names.
#[derive(Debug, Clone)]
struct ChosenAgentParser;

impl TypedValueParser for ChosenAgentParser {
    type Value = ChosenAgent;

    fn parse_ref(
        &self,
        command: &Command,
        argument: Option<&Arg>,
        value: &OsStr,
    ) -> Result<ChosenAgent, clap::Error> {
        chosen_agent.parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let names = SUPPORTED.iter().map(|agent| agent.hook.name);
        Some(Box::new(names.map(PossibleValue::new)))
    }
}

/// Parses `NAME` or `NAME=WAY,...`.
fn chosen_agent(text: &str) -> Result<ChosenAgent, String> {
    let (name, ways) = match text.split_once('=') {
        Some((name, ways)) => (name, Some(SetupWay::list(ways)?)),
        None => (text, None),
    };
    let agent = SUPPORTED.iter().find(|agent| agent.hook.name == name);
    let agent = agent.ok_or_else(|| {
        let names: Vec<&str> = SUPPORTED.iter().map(|agent| agent.hook.name).collect();
        format!("the agents are {}", names.join(", "))
    })?;
    Ok(ChosenAgent { agent, ways })
}
