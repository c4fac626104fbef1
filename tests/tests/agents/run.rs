//! One run of an agent, from the call that its model requests to the result that the model reads.

use crate::agent::{Agent, AgentHome, Integration, links};
use crate::model::{Ask, Model};
use agent_bash_tests::world::World;
use agent_bash_tests::{poll, product};
use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::fs::File;
use std::net::Ipv4Addr;
use std::time::Duration;

/// The time that an agent may take on a loaded machine. Normally one to ten seconds.
const PATIENCE: Duration = Duration::from_secs(120);

/// The variable that presents the product to the agent as an unknown server, and the agent to the
/// product as an unknown client. In newer revisions of MCP, the field has a prefix.
const STRANGER: &str = r#"sed -u 's/clientInfo":{"name":"/&other-/' | $REAL "$@" | sed -u 's,anthropic/max,other/max,g'"#;

/// Records what the agent sends to the product.
const RECORDED: &str = r#"tee -a "$HOME/sent" | $REAL "$@""#;

/// A world in which `agent-bash` can be called.
pub(crate) fn world() -> Result<World> {
    World::new()?.with_program(product::agent_bash()?)
}

/// Runs the agent, whose model requests one call; returns the result that the model got.
pub(crate) fn play(
    agent: &Agent,
    integration: Integration,
    world: &World,
    ask: Ask,
) -> Result<Value> {
    play_all(agent, integration, world, vec![ask]).map(|(returned, _)| returned)
}

/// Runs the agent, whose model requests these calls. Returns the last result, and the whole request
/// that carried it.
pub(crate) fn play_all(
    agent: &Agent,
    integration: Integration,
    world: &World,
    asks: Vec<Ask>,
) -> Result<(Value, Value)> {
    // A sandbox's proxy connects to this address only, since programs reach 127.0.0.1 without it.
    let address = match integration {
        Integration::Sandbox => Ipv4Addr::new(127, 0, 0, 2),
        _ => Ipv4Addr::LOCALHOST,
    };
    let model = Model::start(agent.wire, address, asks)?;
    let home = AgentHome {
        world,
        program: agent.package.program()?,
        model: model.url(),
        integration,
    };
    let printed = world.home().join("said");
    let mut command = (agent.start)(&home)?;
    let install = ["hook", "--install", "--yes", agent.hook];
    match integration {
        Integration::Hook
        | Integration::Broken(_)
        | Integration::ShellAndHook
        | Integration::McpAndHook => {
            set_up(world, &install)?;
        }
        Integration::Rewriting => {
            let words = install.iter().copied().chain(["--take-over=rewrite"]);
            set_up(world, &words.collect::<Vec<_>>())?;
        }
        _ => {}
    }
    match integration {
        Integration::Shell | Integration::ShellAndHook => {
            let links = links(world);
            let links = links.to_str().context("a path in UTF-8")?;
            set_up(world, &["shell", "--link", links])?;
        }
        Integration::Plugin => {
            for (command, input) in (agent.install_plugin)(&home)? {
                let words = format!("{command:?}");
                let ran = product::run(command, Some(input))?;
                ensure!(ran.code == 0, "{words}: {}{}", ran.stdout, ran.stderr);
            }
        }
        _ => {}
    }
    let real = product::agent_bash()?.display();
    let in_place = match integration {
        Integration::Broken(script) => Some(script),
        Integration::Stranger => Some(STRANGER),
        Integration::McpWithUser(_) => Some(RECORDED),
        _ => None,
    };
    if let Some(script) = in_place {
        world.script("agent-bash", &format!("REAL={real}\n{script}\n"))?;
    }
    if matches!(integration, Integration::Sandbox) {
        command = home.in_sandbox(agent, &command)?;
    }
    command
        .stdout(File::create(&printed)?)
        .stderr(File::options().append(true).open(&printed)?);
    let mut child = command
        .spawn()
        .with_context(|| format!("starting {}", home.program.display()))?;
    let ended = poll::until(PATIENCE, || child.try_wait().transpose());
    if ended.is_none() {
        child.kill()?;
        child.wait()?;
    }
    let printed = || {
        format!(
            "{} said:\n{}",
            agent.name,
            std::fs::read_to_string(&printed).unwrap_or_default()
        )
    };
    ensure!(
        ended.is_some(),
        "it goes on after {PATIENCE:?}; {}",
        printed()
    );
    model.returned().with_context(printed)
}

/// Connects the agent as a user would.
fn set_up(world: &World, words: &[&str]) -> Result<()> {
    let mut command = world.command(product::agent_bash()?);
    command.args(words);
    let ran = product::run(command, None)?;
    ensure!(
        ran.code == 0,
        "`agent-bash {}` ended with {}: {}{}",
        words.join(" "),
        ran.code,
        ran.stdout,
        ran.stderr
    );
    Ok(())
}

/// Ends the world; the product must leave nothing.
pub(crate) fn end(world: World) -> Result<()> {
    let left = world.end(Duration::from_secs(30));
    ensure!(left.is_empty(), "left behind:\n{left}");
    Ok(())
}

/// Prints a figure for the documentation.
#[expect(clippy::print_stderr, reason = "prints measured figures")]
pub(crate) fn measured(agent: &Agent, what: &str) {
    eprintln!("measured: {} {}: {what}", agent.name, agent.package.version);
}
