//! `agent-bash shell` with unmodified agents: each starts it in place of bash, for its own shell
//! tool.

use crate::Check;
use crate::agent::{Agent, Way};
use crate::hooks::{FORCED, forced_push, refusal};
use crate::run::{end, measured, play, world};
use agent_bash_tests::product::{self, CommandResult};
use agent_bash_tests::world::World;
use anyhow::{Context, Result, ensure};
use serde_json::Value;

pub(crate) const CHECKS: &[Check] = &[
    Check {
        name: "exit code, output and record are those of the model's command, and undo restores a file",
        of: can_replace_shell,
        run: |agent| {
            let world = world()?;
            let precious = world.cwd().join("precious.txt");
            std::fs::write(&precious, "precious\n")?;
            let script = "rm precious.txt; echo 'it is gone' >&2; exit 7";
            let reads = shell(agent, &world, script)?;
            measured(agent, &format!("reads {reads:?}"));
            ensure!(!precious.exists(), "it did not run: {reads}");
            ensure!(reads.contains("it is gone"), "{reads}");
            // opencode tells its model no exit code.
            let tells_code = agent.hook != "opencode";
            ensure!(!tells_code || reads.contains("xit code 7"), "{reads}");
            let [call] = &recorded(&world)?[..] else {
                anyhow::bail!("not one recorded call");
            };
            ensure!(call.command == script, "{:?}", call.command);
            ensure!(call.exit_code == 7, "{:?}", call.exit_code);
            agent_bash(&world, &["changes", "undo", "--state", &call.session, "1"])?;
            let restored = std::fs::read_to_string(&precious)?;
            ensure!(restored == "precious\n", "{restored}");
            end(world)
        },
    },
    Check {
        name: "with its hook, the changes of a call belong to the turn of the prompt",
        of: can_replace_shell,
        run: |agent| {
            let world = world()?;
            std::fs::write(world.cwd().join("precious.txt"), "precious\n")?;
            let call = agent.shell_call("rm precious.txt; echo made > made.txt");
            let returned = play(agent, Way::ShellAndHook, &world, call)?;
            let listed = agent_bash(&world, &["changes", "list", "--json"])?.stdout;
            let listed: Value = serde_json::from_str(&listed)?;
            let reads = (agent.reads)(&returned);
            ensure!(
                listed["turn"] == "1",
                "{listed}, and the model reads {reads}"
            );
            agent_bash(&world, &["changes", "undo", "--turn"])?;
            let restored = std::fs::read_to_string(world.cwd().join("precious.txt"))?;
            ensure!(
                restored == "precious\n" && !world.cwd().join("made.txt").exists(),
                "{restored}"
            );
            end(world)
        },
    },
    Check {
        name: "by its shell, a forced push is refused, and the model reads why and what to do instead",
        of: can_replace_shell,
        run: |agent| {
            let tried = forced_push(agent, Way::Shell)?;
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
        },
    },
    Check {
        name: "a surviving process is named, and does not keep the agent waiting",
        of: can_replace_shell,
        run: |agent| {
            let world = world()?;
            // Claude Code refuses `sleep` and `&` in one command.
            let script = "python3 -c 'import time; time.sleep(600)' & echo started";
            let reads = shell(agent, &world, script)?;
            ensure!(reads.contains("started\n[Still running: pid "), "{reads}");
            let [call] = &recorded(&world)?[..] else {
                anyhow::bail!("not one recorded call");
            };
            agent_bash(&world, &["jobs", "kill", "--state", &call.session, "1"])?;
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
            let reads = shell(agent, &world, script)?;
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

/// Runs a script in the agent's own shell tool. Returns what the model reads.
fn shell(agent: &Agent, world: &World, script: &str) -> Result<String> {
    let returned = play(agent, Way::Shell, world, agent.shell_call(script))?;
    Ok((agent.reads)(&returned))
}

/// A call in a record of `agent-bash log`.
struct RecordedCall {
    session: String,
    command: String,
    exit_code: i64,
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
