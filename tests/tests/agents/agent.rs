//! An agent as a value: where it comes from, how it is started against a stand-in model, and what it makes of a result.

use crate::wire::Wire;
use agent_bash_tests::packages::{kept, made_once, npm};
use agent_bash_tests::world::World;
use anyhow::{Context, Result, anyhow, ensure};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// One agent.
#[derive(Debug)]
pub(crate) struct Agent {
    /// What people call it; agents that differ in their model are told apart.
    pub(crate) name: &'static str,
    pub(crate) package: &'static Package,
    pub(crate) wire: &'static Wire,
    /// What its model calls our tool.
    pub(crate) tool: &'static str,
    /// Its own shell tool, and the field for the script.
    pub(crate) shell: (&'static str, &'static str),
    /// Its name for `agent-bash hook`.
    pub(crate) hook: &'static str,
    /// Writes its settings, and answers how it is started to say one sentence to its model and go on until that has done.
    pub(crate) start: fn(&Place<'_>) -> Result<Command>,
    /// What its model reads of what came back, all of it.
    pub(crate) reads: fn(&Value) -> String,
    /// What is inside the agent's own frame around an answer of a tool of ours, in what the model reads.
    pub(crate) inside: fn(&Value) -> Result<Shown>,
}

/// An answer of a tool of ours, as the model sees it.
#[derive(Debug, PartialEq)]
pub(crate) struct Shown {
    pub(crate) text: String,
    /// Whether it is marked as an error; `None` where the agent has no mark that the model sees.
    pub(crate) error: Option<bool>,
}

/// A program from npm: only the part that this machine runs.
#[derive(Debug)]
pub(crate) struct Package {
    pub(crate) version: &'static str,
    /// Name and version for npm, for this architecture as node calls it.
    pub(crate) spec: fn(&str) -> String,
    /// The program in it, for this architecture as node and as Rust call it.
    pub(crate) program: fn(&str, &str) -> String,
    /// Where it is, or why it is not there: looked for once.
    pub(crate) found: OnceLock<Result<PathBuf, String>>,
}

impl Package {
    /// Where its program is; installed once.
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
        let directory = kept(Path::new(env!("CARGO_TARGET_TMPDIR")), "agent", &[&spec]);
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

/// How an agent gets to us.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Way {
    /// It has no notion of us.
    Alone,
    /// `agent-bash mcp`.
    Mcp,
    /// The same, with `mcp.structured`.
    Structured,
    /// `agent-bash mcp`, which is told another name for the agent, and announces nothing for it.
    Stranger,
    /// Its own shell asks first, as `agent-bash hook --install` sets it up.
    Hook,
    /// The same, and in place of `agent-bash` it finds this script, in which `$REAL` is the program.
    Broken(&'static str),
    /// Its own shell asks this command first.
    Foreign(&'static str),
}

/// Where an agent is started.
#[derive(Debug)]
pub(crate) struct Place<'a> {
    pub(crate) world: &'a World,
    /// Its own program.
    pub(crate) program: &'a Path,
    /// Where its model is.
    pub(crate) model: String,
    pub(crate) way: Way,
}

/// A port on loopback where nobody is.
const NOWHERE: &str = "http://127.0.0.1:9";

impl Place<'_> {
    /// Writes a file of the agent's user.
    pub(crate) fn write(&self, file: &str, text: &str) -> Result<PathBuf> {
        let path = self.world.home().join(file);
        let directory = path.parent().context("a file is in a directory")?;
        std::fs::create_dir_all(directory)?;
        std::fs::write(&path, text)?;
        Ok(path)
    }

    /// A program with nothing to reach but its model: whatever else it looks for is refused at once.
    pub(crate) fn command(&self, program: &Path) -> Result<Command> {
        // What the agents leave for their next start is theirs; the world looks for what we leave.
        let temp = self.world.home().join("tmp");
        std::fs::create_dir_all(&temp)?;
        let mut command = self.world.command(program);
        command
            .env("TMPDIR", temp)
            .env("npm_config_registry", &self.model)
            .env("npm_config_fetch_retries", "0")
            .envs(["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"].map(|name| (name, NOWHERE)))
            .env("NO_PROXY", "127.0.0.1");
        Ok(command)
    }

    /// The variables that a server gets. Some agents hand on no others.
    pub(crate) fn server_environment(&self) -> Option<BTreeMap<String, String>> {
        let mut environment = self.world.environment();
        match self.way {
            Way::Mcp | Way::Stranger => {}
            Way::Structured => {
                environment.insert("AGENT_BASH_MCP_STRUCTURED".to_owned(), "on".to_owned());
            }
            Way::Alone | Way::Hook | Way::Broken(_) | Way::Foreign(_) => return None,
        }
        Some(environment)
    }

    /// `{"mcpServers": …}`, as several agents have it.
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

    /// `{"hooks": …}`, as several agents have it.
    pub(crate) fn hooks(&self, event: &str, tool: &str) -> Value {
        let Way::Foreign(line) = self.way else {
            return json!({});
        };
        json!({event: [{"matcher": tool, "hooks": [{"type": "command", "command": line}]}]})
    }
}
