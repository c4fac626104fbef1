//! `agent-bash shell` against bash itself: the same invocations, signals and callers.

mod callers;
mod equality;
mod namespaces;
mod recursion;
mod signals;

use agent_bash_tests::product;
use agent_bash_tests::world::World;
use anyhow::{Result, ensure};
use std::path::PathBuf;
use std::time::Duration;

/// The shell of an invocation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shell {
    Bash,
    /// `agent-bash` by a link with the name of the shell.
    Product,
}

impl Shell {
    /// The program that runs as `name`.
    fn program(self, world: &World, name: &str) -> PathBuf {
        match self {
            Self::Bash => PathBuf::from("/bin").join(name),
            Self::Product => link(world, name),
        }
    }
}

/// The link to the product. It is `argv[0]` of both shells.
fn link(world: &World, name: &str) -> PathBuf {
    world.home().with_file_name("links").join(name)
}

/// The caller stays in a directory that a command has removed.
#[test]
fn shell_runs_in_a_removed_directory() -> Result<()> {
    let world = world()?;
    let script = "mkdir gone && cd gone && rmdir ../gone && export PWD \
        && exec \"$0\" -c 'echo ran; cd / && pwd; exit 3'";
    for shell in [Shell::Bash, Shell::Product] {
        let mut command = world.command("bash");
        command.args(["-c", script]);
        command.arg(shell.program(&world, "bash"));
        let ran = product::run(command, None)?;
        ensure!(
            (ran.stdout.as_str(), ran.code) == ("ran\n/\n", 3),
            "{shell:?}: {ran:?}"
        );
    }
    world.assert_nothing_left(Duration::from_secs(20));
    Ok(())
}

#[test]
fn survivor_of_much_output_is_named_on_a_line_of_its_own() -> Result<()> {
    let world = world()?;
    let script = "rm -f go; mkfifo go; read -r line <> go & seq 200000; printf \"$1\"";
    for (end, named) in [("end", "\n[Still running"), ("end\n", "[Still running")] {
        let mut command = world.command(link(&world, "bash"));
        command.args(["-c", script, "name", end]);
        let ran = product::run(command, None)?;
        ensure!(ran.stdout.ends_with(end) && ran.code == 0, "{}", ran.code);
        ensure!(ran.stderr.starts_with(named), "{:?}", ran.stderr);
        std::fs::write(world.cwd().join("go"), "\n")?;
    }
    world.assert_nothing_left(Duration::from_secs(20));
    Ok(())
}

#[test]
fn job_of_a_survivor_has_both_streams() -> Result<()> {
    let world = world()?;
    let mut command = world.command(link(&world, "bash"));
    command.args([
        "-c",
        "(until [ -e go ]; do sleep 0.01; done; echo out; echo err >&2) & echo now",
    ]);
    let ran = product::run(command, None)?;
    ensure!(ran.stdout == "now\n" && ran.code == 0, "{ran:?}");
    std::fs::write(world.cwd().join("go"), "")?;
    for (action, stdout) in [("wait", None), ("output", Some("out\nerr\n"))] {
        let mut command = world.command(product::agent_bash()?);
        command.args(["jobs", action, "1"]);
        let ran = product::run(command, None)?;
        ensure!(ran.code == 0, "{action}: {ran:?}");
        ensure!(stdout.is_none_or(|it| it == ran.stdout), "{ran:?}");
    }
    world.assert_nothing_left(Duration::from_secs(20));
    Ok(())
}

/// A world with links to the product outside of its PATH.
fn world() -> Result<World> {
    let world = World::new()?;
    std::fs::create_dir(world.home().with_file_name("links"))?;
    for name in ["bash", "sh"] {
        std::os::unix::fs::symlink(product::agent_bash()?, link(&world, name))?;
    }
    Ok(world)
}
