//! The examples run, and do what they say.

use agent_bash_tests::product;
use agent_bash_tests::world::World;
use anyhow::{Context, Result, ensure};
use std::path::PathBuf;
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(30);

/// Cargo builds the examples of the workspace beside the product's binary.
fn example(name: &str) -> Result<PathBuf> {
    let beside = product::agent_bash()?;
    let directory = beside.parent().context("the binary has no directory")?;
    let program = directory.join("examples").join(name);
    ensure!(
        program.is_file(),
        "{} is not built: `cargo build --workspace --examples` does",
        program.display()
    );
    Ok(program)
}

/// Runs an example in a world of its own; what it printed.
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
fn a_whole_agent_uses_every_part() -> Result<()> {
    let said = run("agent_loop", &[], None)?;
    for line in [
        "tool   Blocked: permission denied: blind git add commands",
        "(50.0KB limit). Full: artifact://",
        "tool   line 10000 of a long build",
        "tool   Started in the background as job 1",
        "model  the job said: tick 1 tick 2 tick 3",
        "shown  what the user wanted to know",
        "told   Ran `echo what the user wanted to know`",
    ] {
        ensure!(said.contains(line), "no {line:?} in:\n{said}");
    }
    let told = said.find("told ").context("not told")?;
    ensure!(
        told > said.find("the job said").context("not done")?,
        "what the user ran is told after the turn:\n{said}"
    );
    Ok(())
}

#[test]
fn a_script_runs_and_what_it_left_is_ended() -> Result<()> {
    let said = run("run_script", &["sleep 300 & echo hi; exit 3"], None)?;
    ensure!(said.starts_with("hi\nExited { code: 3 } after "), "{said}");
    Ok(())
}

#[test]
fn who_leaves_its_session_is_named_too() -> Result<()> {
    let said = run("contain", &[], None)?;
    ensure!(said.contains("it ended: "), "{said}");
    ensure!(said.contains("Survivor { pid: "), "{said}");
    Ok(())
}

#[test]
fn a_call_is_read_as_models_write_it() -> Result<()> {
    let said = run(
        "read_call",
        &[],
        Some(r#"{"cmd": "make", "timeout": "90s"}"#),
    )?;
    ensure!(said.contains("command: \"make\""), "{said}");
    ensure!(said.contains("notice: "), "{said}");
    Ok(())
}

#[test]
fn one_call_is_all_it_takes_and_the_readme_shows_it() -> Result<()> {
    let said = run("run_once", &["echo one; exit 3"], None)?;
    ensure!(
        said == "one\n\nCommand exited with code 3\nExited { code: 3 }\n",
        "{said}"
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
