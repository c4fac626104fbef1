//! An agent as a value: how to install it, how to start it against a model stub, and how to read
//! its requests.

use crate::model::Ask;
use crate::sandbox::program;
use crate::wire::Wire;
use agent_bash_tests::packages::{cached_packages, made_once, npm};
use agent_bash_tests::product;
use agent_bash_tests::world::World;
use anyhow::{Context, Result, anyhow, ensure};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// An agent.
#[derive(Debug)]
pub(crate) struct Agent {
    /// Its display name; the same agent with different models has different names.
    pub(crate) name: &'static str,
    pub(crate) package: &'static Package,
    pub(crate) wire: &'static Wire,
    /// The name under which its model sees the tool of agent-bash; empty if it is tried without.
    pub(crate) tool: &'static str,
    /// The agent's own shell tool, and the tool's field for the script.
    pub(crate) shell: (&'static str, &'static str),
    /// A call of another of the agent's tools, which reads this file if the agent has such a tool.
    pub(crate) other: fn(&Path) -> Ask,
    /// Its name for `agent-bash hook`.
    pub(crate) hook: &'static str,
    /// Writes the agent's settings, and returns a command that sends one sentence to the model and
    /// continues until the model is done.
    pub(crate) start: fn(&AgentHome<'_>) -> Result<Command>,
    /// The steps that install its plugin of `plugins/`. Empty if `plugins/` has none for it.
    pub(crate) install_plugin: fn(&AgentHome<'_>) -> Result<Vec<InstallStep>>,
    /// The complete text that its model reads of the result.
    pub(crate) reads: fn(&Value) -> String,
    /// The text inside the agent's frame around the tool's answer.
    pub(crate) inside: fn(&Value) -> Result<Shown>,
}

impl Agent {
    /// A call of the agent's own shell tool with this script.
    pub(crate) fn shell_call(&self, script: &str) -> Ask {
        let (tool, field) = self.shell;
        let input = match self.hook {
            "cline" => json!({field: [script]}),
            "droid" => json!({field: script, "riskLevelReason": "a test", "riskLevel": "low"}),
            _ => json!({field: script, "description": "what it does"}),
        };
        Ask::new(tool, input)
    }
}

/// A command that installs a plugin, and its stdin.
pub(crate) type InstallStep = (Command, &'static str);

/// An answer of the tool, as the model sees it.
#[derive(Debug, PartialEq)]
pub(crate) struct Shown {
    pub(crate) text: String,
    /// True if it is marked as an error; `None` if the agent shows its model no such mark.
    pub(crate) error: Option<bool>,
}

/// A program from npm, in the package for this machine alone.
#[derive(Debug)]
pub(crate) struct Package {
    pub(crate) version: &'static str,
    /// The npm name and version, given the architecture's name in Node.
    pub(crate) spec: fn(&str) -> String,
    /// The path of the program in the package, given the architecture's names in Node and in Rust.
    pub(crate) program: fn(&str, &str) -> String,
    /// The path of the program, or why it is missing; determined once.
    pub(crate) found: OnceLock<Result<PathBuf, String>>,
}

impl Package {
    /// The path of its program, which is installed once.
    pub(crate) fn program(&self) -> Result<&Path> {
        let found = self
            .found
            .get_or_init(|| self.find().map_err(|error| format!("{error:#}")));
        found.as_deref().map_err(|error| anyhow!("{error}"))
    }

    fn find(&self) -> Result<PathBuf> {
        let machine = std::env::consts::ARCH;
        let node = match machine {
            "x86_64" => "x64",
            "aarch64" => "arm64",
            other => other,
        };
        let spec = (self.spec)(node);
        let directory = cached_packages(Path::new(env!("CARGO_TARGET_TMPDIR")), "agent", &[&spec]);
        made_once(&directory, |directory| {
            npm(
                directory,
                &["--ignore-scripts", "--omit=optional"],
                &[&spec],
            )
        })
        .with_context(|| format!("{spec} cannot be had from the package registry"))?;
        let program = directory
            .join("node_modules")
            .join((self.program)(node, machine));
        ensure!(program.is_file(), "{spec} has no {}", program.display());
        Ok(program)
    }
}

/// How an agent is connected to agent-bash.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Integration {
    /// Not at all.
    Alone,
    /// `agent-bash mcp`.
    Mcp,
    /// Both [`Self::Mcp`] and [`Self::Hook`].
    McpAndHook,
    /// `agent-bash mcp` with `mcp.structured`.
    Structured,
    /// `agent-bash mcp`, whose input is recorded in the file `sent`. The user answers questions of
    /// the server with this action.
    McpWithUser(&'static str),
    /// `agent-bash mcp`, with a changed client name, so that no agent-specific limits apply.
    Stranger,
    /// Through a hook of its own shell tool, as `agent-bash hook --install` configures it.
    Hook,
    /// As [`Self::Hook`], but this script runs instead of `agent-bash`, with the program as
    /// `$REAL`.
    Broken(&'static str),
    /// Its plugin of `plugins/`, installed by its own commands.
    Plugin,
    /// A hook of its own shell tool that runs this command.
    Foreign(&'static str),
    /// Its own shell tool starts `agent-bash shell` in place of bash, by a link.
    Shell,
    /// Both [`Self::Shell`] and [`Self::Hook`].
    ShellAndHook,
    /// The agent runs in a sandbox: `agent-bash sandbox run`.
    Sandbox,
    /// A hook that replaces each command of its own shell tool by a call of `agent-bash shell`.
    Rewriting,
}

/// The world and the settings with which an agent is started.
#[derive(Debug)]
pub(crate) struct AgentHome<'a> {
    pub(crate) world: &'a World,
    /// The agent's program.
    pub(crate) program: &'a Path,
    /// The URL of its model.
    pub(crate) model: String,
    pub(crate) integration: Integration,
}

/// The directory of the links that `agent-bash shell --link` makes. The hook looks here for links.
pub(crate) fn links(world: &World) -> PathBuf {
    world.home().join(".local/share/agent-bash/links")
}

/// The directory of the plugins.
pub(crate) const PLUGINS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../plugins");

/// A port on loopback on which nothing listens.
const NOWHERE: &str = "http://127.0.0.1:9";

impl AgentHome<'_> {
    /// Writes a file into the user's home.
    pub(crate) fn write(&self, file: &str, text: &str) -> Result<PathBuf> {
        let path = self.world.home().join(file);
        let directory = path.parent().context("a file is in a directory")?;
        std::fs::create_dir_all(directory)?;
        std::fs::write(&path, text)?;
        Ok(path)
    }

    /// Returns a command that can reach only its model: all other connections are refused.
    pub(crate) fn command(&self, program: &Path) -> Result<Command> {
        // A separate directory: the world checks its own for leftovers of the product.
        let temp = self.world.home().join("tmp");
        std::fs::create_dir_all(&temp)?;
        let mut command = self.world.command(program);
        command
            .env("TMPDIR", temp)
            .env("npm_config_registry", &self.model)
            .env("npm_config_fetch_retries", "0")
            .envs(["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"].map(|name| (name, NOWHERE)))
            .env("NO_PROXY", "127.0.0.1,127.0.0.2");
        Ok(command)
    }

    /// Returns a command that runs the agent's command in a sandbox that reaches its model.
    pub(crate) fn in_sandbox(&self, agent: &Agent, command: &Command) -> Result<Command> {
        let name = program(agent).context("an agent that can run in a sandbox")?;
        let model = self.model.trim_start_matches("http://");
        let mut sandboxed = self.world.command(product::agent_bash()?);
        sandboxed
            .args(["sandbox", "run", "--network", model, "--agent", name, "--"])
            .arg(command.get_program())
            .args(command.get_args());
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => sandboxed.env(name, value),
                None => sandboxed.env_remove(name),
            };
        }
        if let Some(directory) = command.get_current_dir() {
            sandboxed.current_dir(directory);
        }
        Ok(sandboxed)
    }

    /// The commands that add the marketplace of the plugins, and install the plugin by the
    /// subcommand `install`.
    pub(crate) fn install_from_marketplace(&self, install: &str) -> Result<Vec<InstallStep>> {
        let steps = [
            ["plugin", "marketplace", "add", PLUGINS].as_slice(),
            &["plugin", install, "agent-bash@agent-bash"],
        ];
        let commands = steps.into_iter().map(|words| {
            let mut command = self.command(self.program)?;
            command.args(words);
            Ok((command, ""))
        });
        commands.collect()
    }

    /// The environment for a server. Some agents pass on nothing else.
    pub(crate) fn server_environment(&self) -> Option<BTreeMap<String, String>> {
        let mut environment = self.world.environment();
        match self.integration {
            Integration::Mcp
            | Integration::McpAndHook
            | Integration::McpWithUser(_)
            | Integration::Stranger => {}
            Integration::Structured => {
                environment.insert("AGENT_BASH_MCP_STRUCTURED".to_owned(), "on".to_owned());
            }
            Integration::Alone
            | Integration::Hook
            | Integration::Broken(_)
            | Integration::Plugin
            | Integration::Foreign(_)
            | Integration::Shell
            | Integration::ShellAndHook
            | Integration::Sandbox
            | Integration::Rewriting => return None,
        }
        Some(environment)
    }

    /// The path of a link to `agent-bash` with the name of a shell, if the agent is to start that.
    pub(crate) fn shell(&self, name: &str) -> Option<PathBuf> {
        let is_shell = matches!(
            self.integration,
            Integration::Shell | Integration::ShellAndHook
        );
        is_shell.then(|| links(self.world).join(name))
    }

    /// Puts the directory of the links first in `PATH`, if the agent is to start a link.
    pub(crate) fn put_shell_first(&self, command: &mut Command) {
        if let Some(shell) = self.shell("")
            && let Some(path) = self.world.environment().get("PATH")
        {
            command.env("PATH", format!("{}:{path}", shell.display()));
        }
    }

    /// `{"mcpServers": …}`, the format of several agents.
    pub(crate) fn mcp_servers(&self, more: &Value) -> Value {
        let Some(environment) = self.server_environment() else {
            return json!({});
        };
        let mut server = json!({"command": "agent-bash", "args": ["mcp"], "env": environment});
        if let (Some(server), Some(more)) = (server.as_object_mut(), more.as_object()) {
            server.extend(more.clone());
        }
        json!({"agent-bash": server})
    }

    /// `{"hooks": …}`, the format of several agents.
    pub(crate) fn hooks(&self, event: &str, tool: &str) -> Value {
        let Integration::Foreign(line) = self.integration else {
            return json!({});
        };
        json!({event: [{"matcher": tool, "hooks": [{"type": "command", "command": line}]}]})
    }
}
