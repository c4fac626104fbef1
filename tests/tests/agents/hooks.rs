//! `agent-bash hook` with real agents: refused commands do not run, and the model reads why.

use crate::Check;
use crate::agent::{Agent, Integration};
use crate::run::{end, measured, play, play_all, world};
use agent_bash::policy::{Context as Place, Policy, Script};
use agent_bash_tests::product;
use agent_bash_tests::world::World;
use anyhow::{Context, Result, ensure};

/// Overwrites the remote's history.
pub(crate) const FORCED: &str = "git push --force origin main";

pub(crate) const CHECKS: &[Check] = &[
    Check {
        name: "a forced push is refused, and the model reads why and what to do instead",
        of: |_| true,
        run: |agent| {
            let tried = forced_push(agent, Integration::Hook)?;
            ensure!(!tried.ran, "it ran: {}", tried.reads);
            measured(agent, &format!("a refusal reads {:?}", tried.reads));
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
        name: "with its plugin, a forced push is refused, and the model reads why",
        of: |agent| ["claude-code", "codex", "copilot", "gemini-cli"].contains(&agent.hook),
        run: |agent| {
            let tried = forced_push(agent, Integration::Plugin)?;
            ensure!(!tried.ran, "it ran: {}", tried.reads);
            let (reason, _) = refusal(FORCED)?;
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
            let tried = forced_push(agent, Integration::Alone)?;
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
            let tried = forced_push(agent, Integration::Foreign(line))?;
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
            let reads = shell(agent, Integration::Hook, &world, "echo 42 | tee made")?;
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
        name: "`git add -A` is refused, and the model reads why and what to do instead",
        of: |_| true,
        run: |agent| {
            let world = repository()?;
            let reads = shell(agent, Integration::Hook, &world, STAGE_ALL)?;
            ensure!(!is_staged(&world)?, "it ran: {reads}");
            let (reason, advice) = refusal(STAGE_ALL)?;
            for part in [reason, advice] {
                ensure!(reads.contains(&part), "{part:?} is not in {reads:?}");
            }
            end(world)
        },
    },
    Check {
        name: "under the hook, a tool that is no shell answers as without",
        of: |_| true,
        run: |agent| {
            let answers = [Integration::Alone, Integration::Hook].map(|integration| {
                let world = world()?;
                let notes = world.cwd().join("notes.txt");
                std::fs::write(&notes, "a line\n")?;
                let returned = play(agent, integration, &world, (agent.other)(&notes))?;
                let reads = (agent.reads)(&returned);
                let root = world.cwd().display().to_string();
                end(world)?;
                // Without the time that the call took.
                let is_shown = |character: &char| !character.is_ascii_digit();
                let reads = reads.replace(&root, "");
                Ok::<String, anyhow::Error>(reads.chars().filter(is_shown).collect())
            });
            let [without, with] = answers;
            let (without, with) = (without?, with?);
            // Codex has no tool for text files.
            let is_read = agent.hook == "codex" || with.contains("a line");
            ensure!(is_read && with == without, "{without:?}, but {with:?}");
            Ok(())
        },
    },
    Check {
        name: "advice reaches the model beside the output",
        // These have no format for this answer, or do not show it to their models.
        of: |agent| !["droid", "gemini-cli", "kimi", "qwen"].contains(&agent.hook),
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
        name: "a hook that cannot check a call blocks it",
        // Cline then ends the task, so that its model reads nothing.
        of: |agent| agent.hook != "cline",
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
                let reads = shell(agent, Integration::Broken(broken), &world, "echo 42 > made")?;
                let ran = world.cwd().join("made").exists();
                ensure!(!ran, "`{broken}`: it ran: {reads}");
                ensure!(reads.contains(why), "`{broken}`: {reads}");
                end(world)?;
            }
            Ok(())
        },
    },
];

/// Stages files that were not named.
const STAGE_ALL: &str = "git add -A";

/// A world whose directory is a repository with a new file.
fn repository() -> Result<World> {
    let world = world()?;
    git(&world, &["init", "--quiet"])?;
    std::fs::write(world.cwd().join("notes.txt"), "a line\n")?;
    Ok(world)
}

fn git(world: &World, words: &[&str]) -> Result<String> {
    let mut command = world.command("git");
    command.args(words);
    Ok(product::run(command, None)?.stdout)
}

fn is_staged(world: &World) -> Result<bool> {
    Ok(!git(world, &["ls-files"])?.is_empty())
}

/// The reason and the advice of a refused script.
pub(crate) fn refusal(script: &str) -> Result<(String, String)> {
    let verdict = Policy::standard().decide(&Script::read(script, &Place::new("/")));
    let finding = verdict.finding().context("it is refused")?;
    Ok((finding.message.clone(), finding.suggestion.clone()))
}

/// Passes a script to the agent's own shell tool. Returns what the model reads.
fn shell(agent: &Agent, integration: Integration, world: &World, script: &str) -> Result<String> {
    let returned = play(agent, integration, world, agent.shell_call(script))?;
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
    let calls = vec![agent.shell_call("cat notes.txt")];
    let (_, request) = play_all(agent, Integration::Hook, &world, calls)?;
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
pub(crate) fn forced_push(agent: &Agent, integration: Integration) -> Result<PushOutcome> {
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
        "commit", "--quiet", "--amend", "--allow-empty", "--message=rewritten",
    ])?;
    let before = git(&["ls-remote", "--heads", "origin"])?;
    let reads = shell(agent, integration, &world, FORCED)?;
    let after = git(&["ls-remote", "--heads", "origin"])?;
    end(world)?;
    Ok(PushOutcome {
        ran: before != after,
        reads,
    })
}
