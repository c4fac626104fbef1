//! The examples run and behave as documented.

use agent_bash_tests::product;
use agent_bash_tests::world::World;
use anyhow::{Context, Result, ensure};
use std::path::PathBuf;
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(30);

/// Cargo builds the workspace's examples beside the product's binary.
fn example(name: &str) -> Result<PathBuf> {
    let outside = product::agent_bash()?;
    let directory = outside.parent().context("the binary has no directory")?;
    let program = directory.join("examples").join(name);
    ensure!(
        program.is_file(),
        "{} is not built: `cargo build --workspace --examples` does",
        program.display()
    );
    Ok(program)
}

/// Runs an example in a fresh world; returns its output.
fn run(name: &str, words: &[&str], input: Option<&str>) -> Result<String> {
    let world = World::new()?;
    let mut command = world.command(example(name)?);
    command.args(words);
    let ran = product::run(command, input)?;
    ensure!(ran.code == 0, "{name}: {ran:?}");
    let left = world.end(PATIENCE);
    ensure!(left.is_empty(), "{name} left behind:\n{left}");
    Ok(ran.stdout)
}

#[test]
fn agent_example_calls_the_tool_and_finishes() -> Result<()> {
    let printed = run("agent_loop", &[], None)?;
    for line in [
        "tool   Blocked: permission denied: blind git add commands",
        "(50.0KB limit). Full: artifact://",
        "tool   line 10000 of a long build",
        "tool   Started in the background as job 1",
        "model  the job said: tick 1 tick 2 tick 3",
        "shown  what the user wanted to know",
        "told   Ran `echo what the user wanted to know`",
    ] {
        ensure!(printed.contains(line), "no {line:?} in:\n{printed}");
    }
    let hint_at = printed.find("told ").context("not told")?;
    ensure!(
        hint_at > printed.find("the job said").context("not done")?,
        "what the user ran is told after the turn:\n{printed}"
    );
    Ok(())
}

#[test]
fn script_runs_and_its_leftovers_are_ended() -> Result<()> {
    let printed = run("run_script", &["sleep 300 & echo hi; exit 3"], None)?;
    ensure!(
        printed.starts_with("hi\nExited { code: 3 } after "),
        "{printed}"
    );
    Ok(())
}

#[test]
fn process_that_leaves_its_session_is_named() -> Result<()> {
    let printed = run("contain", &[], None)?;
    ensure!(printed.contains("it ended: "), "{printed}");
    ensure!(printed.contains("Survivor { pid: "), "{printed}");
    Ok(())
}

#[test]
fn request_example_accepts_the_forms_that_models_write() -> Result<()> {
    let printed = run(
        "read_call",
        &[],
        Some(r#"{"cmd": "make", "timeout": "90s"}"#),
    )?;
    ensure!(printed.contains("command: \"make\""), "{printed}");
    ensure!(printed.contains("notice: "), "{printed}");
    Ok(())
}

#[test]
fn one_call_example_equals_the_readme() -> Result<()> {
    let printed = run("run_once", &["echo one; exit 3"], None)?;
    ensure!(
        printed == "one\n\nCommand exited with code 3\nExited { code: 3 }\n",
        "{printed}"
    );
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let file = std::fs::read_to_string(root.join("crates/agent-bash/examples/run_once.rs"))?;
    let begin = file.find("use agent_bash::core").context("no program")?;
    let readme = std::fs::read_to_string(root.join("README.md"))?;
    ensure!(
        readme.contains(&format!("```rust\n{}```", &file[begin..])),
        "the README shows another program than examples/run_once.rs"
    );
    Ok(())
}

#[test]
fn permission_hook_example_refuses_or_prints_nothing() -> Result<()> {
    let world = World::new()?;
    let ask = |script: &str| -> Result<_> {
        let call = serde_json::json!({
            "hook_event_name": "PreToolUse", "cwd": "/tmp", "tool_name": "Bash", "tool_input": {"command": script},
        });
        let command = world.command(example("permission_hook")?);
        product::run(command, Some(&call.to_string()))
    };
    let denied = ask("git add -A")?;
    ensure!(denied.stdout.contains("no_blind_git_add"), "{denied:?}");
    let passed = ask("git status")?;
    ensure!(passed.code == 0 && passed.stdout.is_empty(), "{passed:?}");
    let empty = ask("")?;
    ensure!(empty.code == 2 && !empty.stderr.is_empty(), "{empty:?}");
    let mut explain = world.command(example("explain_script")?);
    explain.arg("git push -f");
    let explained = product::run(explain, None)?;
    ensure!(
        explained.code == 1 && explained.stdout.starts_with("blocked: no_force_push"),
        "{explained:?}"
    );
    Ok(())
}

#[test]
fn pipe_example_truncates_any_reader() -> Result<()> {
    let lines: Vec<String> = (1..=20_000).map(|line| line.to_string()).collect();
    let input = lines.join("\n") + "\n";
    let printed = run("pipe_through", &["--tail", "2"], Some(&input))?;
    ensure!(printed == "19999\n20000\n", "{printed}");
    Ok(())
}

#[test]
fn serve_example_answers_its_client() -> Result<()> {
    let printed = run("serve", &["echo one; exit 3"], None)?;
    let last = printed.lines().last().context("no answer")?;
    let answer: serde_json::Value = serde_json::from_str(last)?;
    let status = &answer["data"]["status"];
    ensure!(
        *status == serde_json::json!({"kind": "exited", "code": 3}),
        "{printed}"
    );
    Ok(())
}

/// The screen of an example on a terminal of 24 rows, after typing `keys`.
fn on_terminal(name: &str, words: &str, keys: &str) -> Result<String> {
    let world = World::new()?;
    let program = example(name)?;
    let line = format!("stty rows 24 cols 80; exec {} {words}", program.display());
    let mut command = world.command("script");
    command
        .args(["--quiet", "--return", "--command", &line, "/dev/null"])
        .env("TERM", "xterm-256color");
    let ran = product::run(command, Some(keys))?;
    ensure!(ran.code == 0, "{name}: {ran:?}");
    let left = world.end(PATIENCE);
    ensure!(left.is_empty(), "{name} left behind:\n{left}");
    Ok(ran.stdout)
}

#[test]
fn card_example_draws_and_ends_by_key() -> Result<()> {
    let shown = on_terminal("card", "", "q")?;
    // The words of the command have their own colours.
    ensure!(shown.contains("{1..30}"), "{shown}");
    Ok(())
}

#[test]
fn overlay_example_shows_a_command_until_its_end() -> Result<()> {
    let shown = on_terminal("overlay", "'echo on a terminal; sleep 0.5'", "")?;
    ensure!(shown.contains("on a terminal"), "{shown}");
    Ok(())
}
