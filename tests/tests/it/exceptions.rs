//! Exceptions from rules: the user allows a refused command on a terminal, a command never does.

use agent_bash_tests::product;
use agent_bash_tests::tmux::Tmux;
use agent_bash_tests::world::World;
use anyhow::{Context, Result, ensure};
use std::fs;

/// A command that a rule refuses.
const REFUSED: &str = "git add -A";

fn cleared(tmux: &Tmux<'_>) -> Result<()> {
    tmux.enters("clear")?;
    tmux.hides("agent-bash").map(drop)
}

/// Runs the command, which is refused; returns its code in the list of refused commands.
fn refusal_code(tmux: &Tmux<'_>) -> Result<String> {
    cleared(tmux)?;
    tmux.enters(&format!("agent-bash run '{REFUSED}'"))?;
    tmux.shows("Blocked: permission denied: blind git add")?;
    tmux.shows("[The user can allow it once, on a terminal: agent-bash allow ")?;
    cleared(tmux)?;
    tmux.enters("agent-bash allow")?;
    let screen = tmux.shows("  refused  no_blind_git_add")?;
    let row = screen.lines().find(|line| line.contains("  refused  "));
    let code = row.and_then(|row| row.split_whitespace().next());
    Ok(code.context("no code in the list")?.to_owned())
}

/// Answers the question of `agent-bash allow` with the number that it shows, or with `answer`.
fn allow(tmux: &Tmux<'_>, code: &str, answer: Option<&str>) -> Result<()> {
    cleared(tmux)?;
    tmux.enters(&format!("agent-bash allow {code}"))?;
    let screen = tmux.shows(" to allow it once:")?;
    ensure!(screen.contains(REFUSED), "{screen}");
    let (before, _) = screen
        .split_once(" to allow it once:")
        .context("a question")?;
    let number = before.rsplit(' ').next().context("a number")?;
    tmux.enters(answer.unwrap_or(number))
}

#[test]
fn refused_command_runs_once_after_the_user_allows_it_on_a_terminal() -> Result<()> {
    let world = World::new()?.with_program(product::agent_bash()?)?;
    let tmux = Tmux::start(&world, 160, 50)?;
    tmux.enters("git init -q; touch new")?;
    let code = refusal_code(&tmux)?;
    allow(&tmux, &code, Some("no"))?;
    tmux.shows("the number was not typed")?;
    let code = refusal_code(&tmux)?;
    allow(&tmux, &code, None)?;
    tmux.shows("may run once in")?;
    cleared(&tmux)?;
    tmux.enters(&format!("agent-bash run '{REFUSED}'; git status --short"))?;
    tmux.shows("A  new")?;
    // The exception is used up.
    refusal_code(&tmux)?;
    Ok(())
}

#[test]
fn command_of_a_model_allows_nothing() -> Result<()> {
    let world = World::new()?.with_program(product::agent_bash()?)?;
    let tmux = Tmux::start(&world, 160, 50)?;
    tmux.enters("git init -q; touch new")?;
    let code = refusal_code(&tmux)?;
    // The rule does not see into a file, but the program knows what runs it.
    fs::write(
        world.cwd().join("allow"),
        format!("agent-bash allow {code}"),
    )?;
    for (command, refusal) in [
        (
            format!("run 'agent-bash allow {code}'"),
            "only the user can allow",
        ),
        (
            "run 'sh allow'".to_owned(),
            "which runs commands of the model",
        ),
        (
            "run --pty 'sh allow'".to_owned(),
            "which runs commands of the model",
        ),
    ] {
        cleared(&tmux)?;
        tmux.enters(&format!("agent-bash {command}"))?;
        tmux.shows(refusal)?;
    }
    refusal_code(&tmux)?;
    Ok(())
}
