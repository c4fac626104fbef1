//! `agent-bash hook` with real agents: refused commands do not run, and the model reads why.

use crate::Check;
use crate::agent::{Agent, Way};
use crate::model::Ask;
use crate::run::{end, measured, play, play_with_request, world};
use agent_bash::policy::{Context as Place, Policy, Script};
use agent_bash_tests::product;
use agent_bash_tests::world::World;
use anyhow::{Context, Result, ensure};
use serde_json::json;

/// Overwrites the remote's history.
const FORCED: &str = "git push --force origin main";

pub(crate) const CHECKS: &[Check] = &[
    Check {
        name: "a forced push is refused, and the model reads why and what to do instead",
        of: |_| true,
        run: |agent| {
            let tried = forced_push(agent, Way::Hook)?;
            ensure!(!tried.ran, "it ran: {}", tried.reads);
            measured(agent, &format!("a refusal reads {:?}", tried.reads));
            let (reason, advice) = refusal()?;
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
        name: "with its plugin, a forced push is refused, and the model reads why",
        of: |agent| ["claude-code", "codex", "copilot", "gemini-cli"].contains(&agent.hook),
        run: |agent| {
            let tried = forced_push(agent, Way::Plugin)?;
            ensure!(!tried.ran, "it ran: {}", tried.reads);
            let (reason, _) = refusal()?;
            ensure!(
                tried.reads.contains(&reason),
                "{reason:?} is not in {:?}",
                tried.reads
            );
            Ok(())
        },
    },
    Check {
        name: "control: without a hook the forced push runs",
        of: |_| true,
        run: |agent| {
            let tried = forced_push(agent, Way::Alone)?;
            ensure!(
                tried.ran,
                "the test would not have noticed: {}",
                tried.reads
            );
            Ok(())
        },
    },
    Check {
        name: "control: under a hook that answers in a format of its own the forced push runs",
        // Gemini CLI uses `decision`.
        of: |agent| ["claude-code", "codex"].contains(&agent.hook),
        run: |agent| {
            let line = r#"cat > /dev/null; echo '{"decision":"deny","reason":"forced"}'; exit 1"#;
            let tried = forced_push(agent, Way::Foreign(line))?;
            ensure!(
                tried.ran,
                "the test would not have noticed: {}",
                tried.reads
            );
            Ok(())
        },
    },
    Check {
        name: "a harmless command runs under the hook",
        of: |_| true,
        run: |agent| {
            let world = world()?;
            let reads = shell(agent, Way::Hook, &world, "echo 42 | tee made")?;
            let made = std::fs::read_to_string(world.cwd().join("made"));
            ensure!(
                made.is_ok_and(|made| made == "42\n"),
                "it did not run: {reads}"
            );
            ensure!(reads.contains("42"), "{reads}");
            end(world)
        },
    },
    Check {
        name: "advice reaches the model beside the output",
        // These have no format for this answer.
        of: |agent| !["gemini-cli", "kimi", "qwen"].contains(&agent.hook),
        run: |agent| {
            let with = advised(agent, "advise")?;
            ensure!(with.contains("a line"), "it did not run: {with}");
            ensure!(with.contains(ADVICE), "no advice in {with}");
            // Control: without the hook the command is not refused.
            let without = advised(agent, "off")?;
            ensure!(without.contains("a line"), "it did not run: {without}");
            ensure!(!without.contains(ADVICE), "{without}");
            Ok(())
        },
    },
    Check {
        name: "a hook that cannot judge blocks",
        of: |_| true,
        run: |agent| {
            let unchecked = "could not be checked";
            for (broken, why) in [
                ("printf '' | $REAL \"$@\"", unchecked),
                ("printf '{' | $REAL \"$@\"", unchecked),
                // This is the state after the program was removed or killed.
                ("exit 127", ""),
                ("kill -KILL $$", ""),
            ] {
                let world = world()?;
                let reads = shell(agent, Way::Broken(broken), &world, "echo 42 > made")?;
                let ran = world.cwd().join("made").exists();
                ensure!(!ran, "`{broken}`: it ran: {reads}");
                ensure!(reads.contains(why), "`{broken}`: {reads}");
                end(world)?;
            }
            Ok(())
        },
    },
];

/// The reason and the advice of a refused forced push.
pub(crate) fn refusal() -> Result<(String, String)> {
    let verdict = Policy::standard().decide(&Script::read(FORCED, &Place::new("/")));
    let finding = verdict.finding().context("it is refused")?;
    Ok((finding.message.clone(), finding.suggestion.clone()))
}

/// Passes a script to the agent's own shell tool. Returns what the model reads.
fn shell(agent: &Agent, way: Way, world: &World, script: &str) -> Result<String> {
    let (tool, field) = agent.shell;
    let input = json!({field: script, "description": "what it does"});
    let returned = play(agent, way, world, Ask { tool, input })?;
    Ok((agent.reads)(&returned))
}

/// The interceptor's message about `cat`.
const ADVICE: &str = "Prefer the `read` tool";

/// Runs `cat` under a hook with this interceptor mode. Returns all texts that the model reads.
fn advised(agent: &Agent, mode: &str) -> Result<String> {
    let world = world()?;
    let settings = format!("[interceptor]\nmode = \"{mode}\"\ntools = [\"read\"]\n");
    let directory = world.home().join(".config/agent-bash");
    std::fs::create_dir_all(&directory)?;
    std::fs::write(directory.join("config.toml"), settings)?;
    std::fs::write(world.cwd().join("notes.txt"), "a line\n")?;
    let (tool, field) = agent.shell;
    let input = json!({field: "cat notes.txt", "description": "what it does"});
    let (_, request) = play_with_request(agent, Way::Hook, &world, Ask { tool, input })?;
    end(world)?;
    Ok(request.to_string())
}

pub(crate) struct PushOutcome {
    /// True if the remote was overwritten.
    pub(crate) ran: bool,
    /// The texts that the model reads.
    pub(crate) reads: String,
}

/// Runs a forced push in a repository whose history was rewritten after pushing.
pub(crate) fn forced_push(agent: &Agent, way: Way) -> Result<PushOutcome> {
    let world = world()?;
    let remote = world.home().join("remote.git");
    let remote = remote.to_str().context("a path in UTF-8")?;
    let git = |words: &[&str]| -> Result<String> {
        let mut command = world.command("git");
        let who = [
            "-c",
            "user.name=tester",
            "-c",
            "user.email=tester@example.invalid",
        ];
        command.args(who).args(words);
        let ran = product::run(command, None)?;
        ensure!(ran.code == 0, "git {words:?}: {}", ran.stderr);
        Ok(ran.stdout)
    };
    git(&["init", "--quiet", "--bare", "--initial-branch=main", remote])?;
    git(&["init", "--quiet", "--initial-branch=main"])?;
    git(&["remote", "add", "origin", remote])?;
    git(&["commit", "--quiet", "--allow-empty", "--message=first"])?;
    git(&["push", "--quiet", "origin", "main"])?;
    git(&[
        "commit",
        "--quiet",
        "--amend",
        "--allow-empty",
        "--message=rewritten",
    ])?;
    let before = git(&["ls-remote", "--heads", "origin"])?;
    let reads = shell(agent, way, &world, FORCED)?;
    let after = git(&["ls-remote", "--heads", "origin"])?;
    end(world)?;
    Ok(PushOutcome {
        ran: before != after,
        reads,
    })
}
