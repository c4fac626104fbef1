//! A shell that leads back to `agent-bash shell` neither loops nor starts another supervisor.

use super::{link, world};
use agent_bash_tests::product;
use agent_bash_tests::world::World;
use anyhow::{Result, ensure};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;
use std::time::Duration;

/// Prints the number of supervisors in this world.
const SUPERVISORS: &str = "for p in /proc/[0-9]*; do \
    if tr '\\0' '\\n' < $p/environ 2>/dev/null | grep -qxF AGENT_BASH_TEST_RUN=$AGENT_BASH_TEST_RUN \
    && grep -qx agent-bash-sup $p/comm; then echo supervisor; fi; done 2>/dev/null | grep -c .";

fn script(path: &std::path::Path, text: &str) -> Result<()> {
    fs::write(path, text)?;
    Ok(fs::set_permissions(
        path,
        fs::Permissions::from_mode(0o755),
    )?)
}

fn result(mut command: Command, world: World, want: (&str, i32)) -> Result<()> {
    let ran = product::run(std::mem::replace(&mut command, world.command("true")), None)?;
    ensure!((ran.stdout.as_str(), ran.code) == want, "{ran:?}");
    world.assert_nothing_left(Duration::from_secs(20));
    Ok(())
}

/// The links come first in PATH.
fn path(world: &World) -> String {
    let links = link(world, "bash").with_file_name("");
    format!("{}:/usr/local/bin:/usr/bin:/bin", links.display())
}

#[test]
fn script_named_by_shell_variable_does_not_loop() -> Result<()> {
    let world = world()?;
    let wrapper = world.home().join("bash");
    let own = product::agent_bash()?.display();
    script(&wrapper, &format!("#!/bin/sh\nexec {own} shell \"$@\"\n"))?;
    let mut command = world.command(&wrapper);
    command.env("SHELL", &wrapper);
    command.args([
        "-c",
        &format!("$SHELL -c '$SHELL -c \"echo deep; exit 5\"'; code=$?; {SUPERVISORS}; exit $code"),
    ]);
    result(command, world, ("deep\n1\n", 5))
}

/// Gemini CLI and Qwen Code start hooks by the first `bash` in PATH.
#[test]
fn hook_of_an_agent_is_no_call_and_a_command_is_one() -> Result<()> {
    for (variables, supervisors) in [
        (
            &[("GEMINI_PROJECT_DIR", "/"), ("GEMINI_SESSION_ID", "3-f")][..],
            "0",
        ),
        (&[("GEMINI_CLI", "1")], "1"),
    ] {
        let world = world()?;
        let mut command = world.command(link(&world, "bash"));
        command.envs(variables.iter().copied());
        command.args(["-c", SUPERVISORS]);
        let code = i32::from(supervisors == "0");
        result(command, world, (&format!("{supervisors}\n"), code))?;
    }
    Ok(())
}

#[test]
fn wrapper_first_in_path_is_not_the_real_shell() -> Result<()> {
    let world = world()?;
    let own = product::agent_bash()?.display();
    // A shell is searched in PATH after the usual directories.
    script(
        &world.program("bash"),
        &format!("#!/usr/bin/env sh\nexec {own} shell \"$@\"\n"),
    )?;
    let mut command = world.command(world.program("bash"));
    command.args([
        "-c",
        "bash -c 'bash -c \"echo \\$BASH_VERSION | grep -c .; exit 6\"'",
    ]);
    result(command, world, ("1\n", 6))
}

#[test]
fn twenty_levels_of_links_have_one_supervisor() -> Result<()> {
    let world = world()?;
    let deeper = world.home().join("deeper");
    let text = format!(
        "#!/usr/bin/env bash\nif [ $1 = 0 ]; then {SUPERVISORS}; exit 3; fi\nbash -c '\"$0\" \"$1\"' \"$0\" $(($1 - 1))\n"
    );
    script(&deeper, &text)?;
    let mut command = world.command(link(&world, "bash"));
    command.env("PATH", path(&world));
    command.args(["-c", "\"$0\" 20"]).arg(&deeper);
    result(command, world, ("1\n", 3))
}

#[test]
fn nested_calls_of_all_names_have_one_supervisor() -> Result<()> {
    let world = world()?;
    let own = product::agent_bash()?.display();
    fs::write(world.home().join("count"), SUPERVISORS)?;
    let text = format!(
        "sh -c 'bash -c \"{own} shell -c \\\"exit 4\\\"\"'; code=$?\n\
         bash ~/count; env bash -s < ~/count; exit $code"
    );
    let mut command = world.command(product::agent_bash()?);
    command
        .env("PATH", path(&world))
        .args(["shell", "-c", &text]);
    result(command, world, ("1\n1\n", 4))
}

#[test]
fn run_ignores_a_link_that_the_shell_variable_names() -> Result<()> {
    let world = world()?;
    let mut command = world.command(product::agent_bash()?);
    command.env("SHELL", link(&world, "bash"));
    command.args(["run", SUPERVISORS]);
    result(command, world, ("1\n", 0))
}

#[test]
fn setting_that_names_the_link_is_refused_with_its_reason() -> Result<()> {
    let world = world()?;
    let mut command = world.command(link(&world, "bash"));
    command.env("AGENT_BASH_SHELL_PATH", link(&world, "bash"));
    command.args(["-c", "echo not reached"]);
    let ran = product::run(command, None)?;
    ensure!(ran.code == 125 && ran.stdout.is_empty(), "{ran:?}");
    ensure!(ran.stderr.contains("which is agent-bash itself"), "{ran:?}");
    world.assert_nothing_left(Duration::from_secs(20));
    Ok(())
}
