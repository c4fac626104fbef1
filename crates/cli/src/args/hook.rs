//! `agent-bash hook`.

use agent_bash_hooks::install::SettingsScope;
use agent_bash_hooks::{SupportedAgent, by_name, hook_agents};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
#[command(after_help = "\
Reads a tool call as JSON on stdin, as the agent writes it, and answers in the agent's format.
A command that no rule refuses gets no answer: the agent then asks as it does without a hook.
A refusal names its reason. A call that cannot be read or checked is refused, too (exit code 2).

The settings in force are those of `agent-bash settings`.

`auto` is the hook of any agent: it answers in the format of the call.

  agent-bash hook --install claude-code              shows what would change, and asks
  agent-bash hook --install --project codex --yes    for this directory alone, without asking
  agent-bash hook --uninstall claude-code            restores the former settings

With --take-over, the agent starts `agent-bash shell` in place of bash. claude-code, kilo, opencode
and pi have a setting for that; vscode has one for tasks only. gemini-cli and qwen start the first
bash in PATH; the command prints how to start them. codex and copilot always start /bin/bash,
mistral-vibe starts zsh if there is one, and vscode types into a terminal: --take-over=rewrite makes
their hook replace each command. The hook of gemini-cli can do so, too. The cost: the permission
rules of the agent see the new text, so a rule that allows agent-bash allows every command. Codex no
longer asks the user about commands, because it accepts a new text only together with `allow`.

  agent-bash hook --install --take-over claude-code    then: agent-bash log, agent-bash changes list
  agent-bash hook --uninstall --take-over claude-code  restores the former settings
  agent-bash doctor                                    says which agents go through agent-bash")]
pub(crate) struct HookArgs {
    /// The agent whose hook this is.
    #[arg(value_name = "AGENT", value_parser = agents())]
    pub(crate) agent: &'static SupportedAgent,

    /// Configure the agent to ask this hook.
    #[arg(long, conflicts_with = "uninstall")]
    pub(crate) install: bool,

    /// Undo `--install`.
    #[arg(long)]
    pub(crate) uninstall: bool,

    /// Replace the agent's shell instead of checking its commands.
    #[arg(
        long,
        value_name = "WAY",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "shell"
    )]
    pub(crate) take_over: Option<TakeOverArg>,

    /// Change the agent's settings of this project, instead of your settings for all projects.
    #[arg(long)]
    pub(crate) project: bool,

    /// Write without asking.
    #[arg(long)]
    pub(crate) yes: bool,
}

impl HookArgs {
    /// Returns the settings that the command changes.
    pub(crate) fn scope(&self) -> SettingsScope {
        if self.project {
            SettingsScope::Project
        } else {
            SettingsScope::User
        }
    }
}

/// How an agent's commands reach `agent-bash shell`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TakeOverArg {
    /// The agent starts `agent-bash shell` in place of bash.
    Shell,
    /// The hook replaces each command by a call of `agent-bash shell`.
    Rewrite,
}

/// Returns the parser of an agent's name.
fn agents() -> impl TypedValueParser<Value = &'static SupportedAgent> {
    PossibleValuesParser::new(hook_agents().map(|agent| agent.name))
        .try_map(|name| by_name(&name).ok_or("no agent has this name"))
}
