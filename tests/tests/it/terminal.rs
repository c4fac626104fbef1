//! Output from commands and files that is printed on a user's terminal: text only, no control
//! sequences. `script` provides the terminal.

use agent_bash_tests::product::{self, CommandResult};
use agent_bash_tests::world::World;
use anyhow::ensure;
use std::os::unix::fs::symlink;
use std::path::Path;

/// Sets the clipboard and the title, each also by C1 controls.
const HOSTILE: &str =
    "\u{1b}]52;c;ZXZpbA==\u{7}\u{1b}]0;title\u{1b}\\\u{9d}52;c;ZXZpbA==\u{9c}\u{9b}31m";

fn on_terminal(world: &World, words: &str) -> anyhow::Result<CommandResult> {
    let mut command = world.command("script");
    let program = product::agent_bash()?;
    command.args([
        "-qec",
        &format!("{} {words}", program.display()),
        "/dev/null",
    ]);
    product::run(command, None)
}

fn is_harmless(text: &str) -> bool {
    let obeyed = |c: char| c.is_control() && !matches!(c, '\n' | '\r' | '\t');
    !text.contains(obeyed)
}

#[test]
fn commands_pass_no_control_sequences_to_a_terminal() -> anyhow::Result<()> {
    let world = World::new()?;
    std::fs::write(world.cwd().join("hostile"), format!("shown {HOSTILE}\n"))?;
    let mut command = world.command(product::agent_bash()?);
    let script = format!("cat hostile; seq 30000; cat hostile; exit 3 # {HOSTILE} shown");
    command.args(["run", "--mode", "background", &script]);
    product::run(command, None)?;
    let mut command = world.command(product::agent_bash()?);
    command.args(["jobs", "wait", "1"]);
    product::run(command, None)?;
    let mut command = world.command(product::agent_bash()?);
    command.args(["run", &script]);
    ensure!(product::run(command, None)?.code == 3);
    for (words, shown) in [
        ("jobs list", "shown"),
        ("jobs show 1", "shown"),
        ("jobs output 1", "shown"),
        ("jobs output 1 --follow", "shown"),
        ("jobs output 1 --tail 20", "shown"),
        ("artifact list", "seq"),
        ("artifact show 0", "shown"),
        ("artifact show 0 --tail 1", "shown"),
        ("artifact grep shown 0", "shown"),
        ("run 'cat hostile'", "shown"),
        ("run --stream 'cat hostile'", "shown"),
        ("run --stream 'cat hostile >&2'", "shown"),
        ("run --json 'cat hostile'", "shown"),
        ("run --json --stream 'cat hostile'", "shown"),
        ("check \"$(cat hostile)\"", "allowed"),
        ("explain \"$(cat hostile)\"", "shown"),
        ("run --cwd \"$(cat hostile)\" true", "shown"),
        ("artifact show \"$(cat hostile)\"", "shown"),
    ] {
        let ran = on_terminal(&world, words)?;
        ensure!(ran.stdout.contains(shown), "{words}: {:?}", ran.stdout);
        ensure!(is_harmless(&ran.stdout), "{words}: {:?}", ran.stdout);
    }
    std::fs::write(
        world.cwd().join(".agent-bash.toml"),
        format!("\"{HOSTILE}\" = 1"),
    )?;
    for words in ["run true", "settings"] {
        let ran = on_terminal(&world, words)?;
        ensure!(
            ran.stdout.contains(".agent-bash.toml: "),
            "{words}: {ran:?}"
        );
        ensure!(is_harmless(&ran.stdout), "{words}: {:?}", ran.stdout);
    }
    Ok(())
}

/// Control: elsewhere the bytes are passed on unchanged.
#[test]
fn pipe_receives_every_byte() -> anyhow::Result<()> {
    let world = World::new()?;
    std::fs::write(world.cwd().join("hostile"), HOSTILE)?;
    let mut command = world.command(product::agent_bash()?);
    command.args(["run", "--stream", "cat hostile"]);
    let ran = product::run(command, None)?;
    ensure!(ran.stdout == HOSTILE, "{ran:?}");
    Ok(())
}

/// Settings paths must be regular files; anything else is named in an error.
#[test]
fn settings_path_must_be_a_regular_file() -> anyhow::Result<()> {
    let world = World::new()?;
    symlink("/dev/zero", world.cwd().join(".agent-bash.toml"))?;
    let mut command = world.command(product::agent_bash()?);
    command.args(["run", "true"]);
    let ran = product::run(command, None)?;
    ensure!(ran.code == 2, "{ran:?}");
    ensure!(ran.stderr.contains("not a regular file"), "{ran:?}");
    Ok(())
}

#[test]
fn log_is_fitted_on_a_terminal_and_whole_in_a_pipe() -> anyhow::Result<()> {
    const COLUMNS: usize = 60;
    let world = World::new()?;
    let long = format!("echo {}", "word ".repeat(40));
    let mut command = world.command(product::agent_bash()?);
    command
        .env("AGENT_BASH_JOURNAL_LEVEL", "metadata")
        .args(["run", &long]);
    ensure!(product::run(command, None)?.code == 0);
    let mut piped = world.command(product::agent_bash()?);
    piped.arg("log");
    let piped = product::run(piped, None)?.stdout;
    ensure!(piped.contains(long.trim_end()), "{piped}");
    let mut command = world.command("script");
    let program = product::agent_bash()?;
    let words = format!("stty cols {COLUMNS}; {} log", program.display());
    command.args(["-qec", &words, "/dev/null"]);
    let shown = product::run(command, None)?.stdout;
    let rows: Vec<&str> = shown
        .lines()
        .map(|row| row.trim_end_matches('\r'))
        .collect();
    // A line above the table names the session.
    ensure!(rows.len() == 4 && rows[3].ends_with('…'), "{shown}");
    ensure!(rows[3].chars().count() == COLUMNS, "{shown}");
    Ok(())
}

/// A process that keeps the terminal could read what the user types there later.
#[test]
fn program_in_a_sandbox_leaves_no_process_on_the_terminal() -> anyhow::Result<()> {
    let world = World::new()?;
    let script = "trap '' HUP TERM\nsetsid sleep 300 >/dev/null 2>&1 &\necho $! >pid\n";
    std::fs::write(world.cwd().join("leave.sh"), script)?;
    let remaining = || -> anyhow::Result<Option<String>> {
        let pid = std::fs::read_to_string(world.cwd().join("pid"))?;
        let pid = pid.trim().to_owned();
        Ok(Path::new("/proc").join(&pid).exists().then_some(pid))
    };
    let ran = on_terminal(&world, "sandbox run -- bash leave.sh")?;
    ensure!(remaining()?.is_none(), "{ran:?}");
    // The control: without a terminal, the process stays, in the sandbox.
    let mut command = world.command(product::agent_bash()?);
    command.args(["sandbox", "run", "--", "bash", "leave.sh"]);
    let ran = product::run(command, Some(""))?;
    let pid = remaining()?;
    ensure!(pid.is_some(), "{ran:?}");
    let mut kill = world.command("kill");
    kill.arg("-9").args(pid);
    product::run(kill, None)?;
    Ok(())
}

/// A process of the program can join the process group of the user's shell. The supervisor ends the
/// process, and not the group.
#[test]
fn program_in_a_sandbox_joins_the_group_of_the_shell_without_ending_it() -> anyhow::Result<()> {
    let world = World::new()?;
    // With `-m`, the program has another process group than the shell.
    let shell = "set -m\nread -r _ _ _ _ group _ </proc/$$/stat\n\
                 \"$1\" sandbox run -- perl join.pl $group\necho shell continues\n";
    let join = "my $group = shift;\n\
                unless (fork) {\n\
                    setpgrp(0, $group);\n\
                    open(my $file, '>', 'joining');\n\
                    print $file \"$$ \" . ($group == getpgrp);\n\
                    close $file;\n\
                    rename 'joining', 'joined';\n\
                    sleep 300;\n\
                }\n\
                select(undef, undef, undef, 0.01) until -e 'joined';\n";
    for (name, text) in [("shell.sh", shell), ("join.pl", join)] {
        std::fs::write(world.cwd().join(name), text)?;
    }
    let mut command = world.command("script");
    let words = format!("bash shell.sh {}", product::agent_bash()?.display());
    command.args(["-qec", &words, "/dev/null"]);
    let ran = product::run(command, None)?;
    let joined = std::fs::read_to_string(world.cwd().join("joined"))?;
    let (pid, is_in_group) = joined.split_once(' ').unwrap_or_default();
    ensure!(is_in_group == "1", "{joined} {ran:?}");
    ensure!(ran.stdout.contains("shell continues"), "{ran:?}");
    ensure!(!Path::new("/proc").join(pid).exists(), "{ran:?}");
    Ok(())
}
