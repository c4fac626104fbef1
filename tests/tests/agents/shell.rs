//! `agent-bash shell` with unmodified agents: each starts it in place of bash, for its own shell
//! tool.

use crate::Check;
use crate::agent::{Agent, Integration};
use crate::hooks::{FORCED, forced_push, refusal};
use crate::model::Ask;
use crate::run::{end, measured, play, world};
use agent_bash_tests::product::{self, CommandResult};
use agent_bash_tests::world::World;
use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

pub(crate) const CHECKS: &[Check] = &[
    Check {
        name: "exit code, output and record are those of the model's command, and undo restores a file",
        of: can_replace_shell,
        run: |agent| records_and_undoes(agent, Integration::Shell),
    },
    Check {
        name: "by rewriting, exit code, output and record are those of the model's command, and undo restores a file",
        of: can_rewrite,
        run: |agent| records_and_undoes(agent, Integration::Rewriting),
    },
    Check {
        name: "by rewriting, a forced push is refused, and the model reads why",
        of: can_rewrite,
        run: |agent| refuses_forced_push(agent, Integration::Rewriting),
    },
    Check {
        name: "with its hook, the changes of a call belong to the turn of the prompt",
        of: |agent| can_replace_shell(agent) || starts_first_bash_in_path(agent),
        run: |agent| {
            turn_is_undone(
                agent,
                Integration::ShellAndHook,
                agent.shell_call(TURN_SCRIPT),
            )
        },
    },
    Check {
        name: "with its hook, the changes of a call of `agent-bash mcp` belong to the turn of the prompt",
        of: reports_prompts,
        run: |agent| {
            let call = Ask::new(agent.tool, json!({"command": TURN_SCRIPT}));
            turn_is_undone(agent, Integration::McpAndHook, call)
        },
    },
    Check {
        name: "by its shell, a forced push is refused, and the model reads why and what to do instead",
        of: can_replace_shell,
        run: |agent| refuses_forced_push(agent, Integration::Shell),
    },
    Check {
        name: "a surviving process is named, and does not keep the agent waiting",
        of: can_replace_shell,
        run: |agent| {
            let world = world()?;
            // Claude Code refuses `sleep` and `&` in one command.
            let script = "python3 -c 'import time; time.sleep(600)' & echo started";
            let reads = shell(agent, Integration::Shell, &world, script)?;
            ensure!(reads.contains("started\n[Still running: pid "), "{reads}");
            let [call] = &recorded(&world)?[..] else {
                anyhow::bail!("not one recorded call");
            };
            agent_bash(&world, &["jobs", "kill", "--state", &call.session, "1"])?;
            end(world)
        },
    },
    Check {
        name: "at the agent's own time limit, the command ends and leaves nothing",
        // Claude Code moves the command to the background instead.
        of: |agent| agent.hook == "opencode",
        run: |agent| {
            let world = world()?;
            let (tool, field) = agent.shell;
            let script = "sleep 60; echo late > late.txt";
            let input = json!({field: script, "description": "what it does", "timeout": 2000});
            let returned = play(agent, Integration::Shell, &world, Ask::new(tool, input))?;
            let reads = (agent.reads)(&returned);
            ensure!(reads.contains("timeout 2000 ms"), "{reads}");
            let calls = recorded(&world)?;
            ensure!(calls.len() == 1, "{} recorded calls", calls.len());
            ensure!(!world.cwd().join("late.txt").exists(), "it went on");
            end(world)
        },
    },
    Check {
        name: "hooks and MCP servers of the agent run untouched",
        // Only Claude Code starts them by the shell prefix.
        of: |agent| agent.hook == "claude-code",
        run: |agent| {
            let world = world()?;
            // A server may start after the call.
            let script = "until [ -e started-server ]; do sleep 0.1; done; cat started-*";
            let reads = shell(agent, Integration::Shell, &world, script)?;
            ensure!(reads.contains("hook\nserver"), "{reads}");
            let commands = recorded(&world)?;
            let commands: Vec<_> = commands.iter().map(|call| &call.command[..]).collect();
            ensure!(commands == [script], "{commands:?}");
            end(world)
        },
    },
];

/// A command line of a hook that the rules would refuse if it were the model's.
pub(crate) fn refused_line(file: &str, text: &str) -> String {
    format!("git add -A 2>/dev/null; echo {text} > {file}")
}

fn can_replace_shell(agent: &Agent) -> bool {
    ["claude-code", "opencode"].contains(&agent.hook)
}

fn starts_first_bash_in_path(agent: &Agent) -> bool {
    ["gemini-cli", "qwen"].contains(&agent.hook)
}

/// True for agents that report the prompts of their users, or name them in their calls.
fn reports_prompts(agent: &Agent) -> bool {
    let agents = [
        "claude-code", "codex", "copilot", "gemini-cli", "kimi", "opencode", "qwen",
    ];
    agents.contains(&agent.hook)
}

/// A script whose changes are undone with its turn.
const TURN_SCRIPT: &str = "rm precious.txt; echo made > made.txt";

/// Makes a call of a tool of the agent, with [`TURN_SCRIPT`]. The only recorded call must belong to
/// the first turn, and its changes are undone as the last turn.
fn turn_is_undone(agent: &Agent, integration: Integration, call: Ask) -> Result<()> {
    let world = world()?;
    let precious = world.cwd().join("precious.txt");
    std::fs::write(&precious, "precious\n")?;
    let returned = play(agent, integration, &world, call)?;
    let session = session_with_changes(&world, integration)?;
    let listed = agent_bash(&world, &["changes", "list", "--json", "--state", &session])?.stdout;
    let listed: Value = serde_json::from_str(&listed)?;
    let reads = (agent.reads)(&returned);
    ensure!(
        listed["turn"] == "1" && listed["changes"]["command"] == TURN_SCRIPT,
        "{listed}, and the model reads {reads}"
    );
    if integration == Integration::ShellAndHook {
        // Claude Code's wrapper writes a file of its own.
        for call in recorded(&world)? {
            ensure!(call.outside.is_null(), "{}", call.outside);
        }
    }
    agent_bash(&world, &["changes", "undo", "--turn", "--state", &session])?;
    let restored = std::fs::read_to_string(&precious)?;
    ensure!(
        restored == "precious\n" && !world.cwd().join("made.txt").exists(),
        "{restored}"
    );
    end(world)
}

/// Returns the name of the only state directory with a change set. The directories of agents'
/// processes have prompts only, if the calls are those of `agent-bash mcp`.
fn session_with_changes(world: &World, integration: Integration) -> Result<String> {
    let mut found = Vec::new();
    for session in std::fs::read_dir(world.state().join("changes"))? {
        let session = session?;
        let name = session.file_name().to_string_lossy().into_owned();
        let is_mcp = name.starts_with("mcp-");
        if is_mcp == (integration == Integration::McpAndHook) && session.path().join("1").is_dir() {
            found.push(name);
        }
    }
    match &found[..] {
        [name] => Ok(name.clone()),
        _ => anyhow::bail!("not one state directory with a change set: {found:?}"),
    }
}

/// True for agents whose hook can replace commands.
fn can_rewrite(agent: &Agent) -> bool {
    ["codex", "copilot", "gemini-cli"].contains(&agent.hook)
}

/// A command that deletes a file and fails is recorded as the model wrote it, and undone.
fn records_and_undoes(agent: &Agent, integration: Integration) -> Result<()> {
    let world = world()?;
    let precious = world.cwd().join("precious.txt");
    std::fs::write(&precious, "precious\n")?;
    let script = "rm precious.txt; echo 'it is gone' >&2; exit 7";
    let reads = shell(agent, integration, &world, script)?;
    measured(agent, &format!("reads {reads:?}"));
    ensure!(!precious.exists(), "it did not run: {reads}");
    ensure!(reads.contains("it is gone"), "{reads}");
    // opencode tells its model no exit code.
    let tells_code = agent.hook != "opencode";
    let code = [
        "xit code 7", "xit Code: 7", "exited with code 7", "exit_code\":7",
    ];
    let is_told = code.iter().any(|code| reads.contains(code));
    ensure!(!tells_code || is_told, "{reads}");
    let [call] = &recorded(&world)?[..] else {
        anyhow::bail!("not one recorded call");
    };
    ensure!(call.command == script, "{:?}", call.command);
    ensure!(call.exit_code == 7, "{:?}", call.exit_code);
    agent_bash(&world, &["changes", "undo", "--state", &call.session, "1"])?;
    let restored = std::fs::read_to_string(&precious)?;
    ensure!(restored == "precious\n", "{restored}");
    end(world)
}

/// A forced push does not run; the model reads the reason and the advice.
fn refuses_forced_push(agent: &Agent, integration: Integration) -> Result<()> {
    let tried = forced_push(agent, integration)?;
    ensure!(!tried.ran, "it ran: {}", tried.reads);
    let (reason, advice) = refusal(FORCED)?;
    for part in [reason, advice] {
        ensure!(
            tried.reads.contains(&part),
            "{part:?} is not in {:?}",
            tried.reads
        );
    }
    Ok(())
}

/// Runs a script in the agent's own shell tool. Returns what the model reads.
fn shell(agent: &Agent, integration: Integration, world: &World, script: &str) -> Result<String> {
    let returned = play(agent, integration, world, agent.shell_call(script))?;
    Ok((agent.reads)(&returned))
}

/// A call in a record of `agent-bash log`.
struct RecordedCall {
    session: String,
    command: String,
    exit_code: i64,
    /// The counts of changes outside of the recorded directory; null if the call changed nothing
    /// there.
    outside: Value,
}

/// The calls of the only recorded session.
fn recorded(world: &World) -> Result<Vec<RecordedCall>> {
    let list = agent_bash(world, &["log", "--list", "--json"])?;
    let list: Value = serde_json::from_str(&list.stdout)?;
    let session = list["session"].as_str().context("no recorded session")?;
    let log = agent_bash(world, &["log", "--json"])?;
    let calls = log.stdout.lines().map(|line| {
        let call: Value = serde_json::from_str(line)?;
        Ok(RecordedCall {
            session: session.to_owned(),
            command: call["command"].as_str().unwrap_or_default().to_owned(),
            exit_code: call["result"]["status"]["code"]
                .as_i64()
                .unwrap_or_default(),
            outside: call["result"]["changes"]["outside"].clone(),
        })
    });
    calls.collect()
}

fn agent_bash(world: &World, words: &[&str]) -> Result<CommandResult> {
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
    Ok(ran)
}
