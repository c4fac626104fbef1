//! `--on TARGET` over real engines: the same contract as locally, whatever happens to the
//! connection.

mod cut;
mod hostile;
mod jobs_and_outputs;
mod library;
mod mcp;
mod reaped;

use agent_bash_tests::product;
use agent_bash_tests::server_client::ServerClient;
use agent_bash_tests::targets::running::SOON;
use agent_bash_tests::targets::{NAME, Sshd, on};
use agent_bash_tests::world::World;
use anyhow::Result;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::MetadataExt as _;

#[test]
fn ssh_target_runs_first_and_later_calls() -> Result<()> {
    let world = World::new()?;
    let sshd = Sshd::start(&world, None)?;
    fs::write(
        world.cwd().join("Makefile"),
        "all:\n\t@echo made\n\t@exit 7\n",
    )?;
    let first = on(&world, &["run", "make"])?;
    assert!(first.stdout.starts_with("made\n"), "{first:?}");
    assert_eq!(first.code, 2, "make's own: {first:?}");
    let programs = world.home().join(".cache/agent-bash");
    let uploaded: Vec<_> = fs::read_dir(&programs)?.collect::<Result<_, _>>()?;
    let [program] = &uploaded[..] else {
        panic!("{uploaded:?}");
    };
    let before = program.metadata()?;
    let next = on(&world, &["run", "make"])?;
    assert_eq!((next.code, &next.stdout), (first.code, &first.stdout));
    let after = fs::metadata(program.path())?;
    assert_eq!(
        (after.ino(), after.mtime_nsec()),
        (before.ino(), before.mtime_nsec())
    );
    // The bootstrap script's own variables are not passed on to remote commands.
    let umask = on(&world, &["run", "umask"])?;
    assert_eq!(umask.stdout, sshd.run(&world, "umask")?.stdout);
    // The variables that ssh alone would show for the same account.
    let plain = sshd.run(&world, "echo $SSH_CONNECTION")?;
    assert_eq!(plain.stdout.split_whitespace().count(), 4, "{plain:?}");
    let there = on(&world, &["run", "echo $SSH_CONNECTION; pwd"])?;
    let printed: Vec<&str> = there.stdout.split_whitespace().collect();
    assert_eq!(printed.len(), 5, "it is no child of sshd: {there:?}");
    assert_eq!(printed[4], world.cwd().display().to_string());
    drop(sshd);
    world.assert_nothing_left(SOON);
    Ok(())
}

#[test]
fn remote_endings_have_distinct_exit_codes() -> Result<()> {
    let world = World::new()?;
    let sshd = Sshd::start(&world, None)?;
    for (words, code) in [
        (&["run", "exit 3"][..], 3),
        (&["run", "kill -TERM $$"], 128 + 15),
        (&["run", "--timeout", "1", "sleep 600"], 124),
        (&["run", "--cwd", "/nonexistent", "true"], 125),
    ] {
        let ran = on(&world, words)?;
        assert_eq!(ran.code, code, "{words:?}: {ran:?}");
    }
    let ran = on(&world, &["run", "--json", "echo $HOME; exit 5"])?;
    let result: Value = serde_json::from_str(&ran.stdout)?;
    assert_eq!(result["target"], NAME, "{result}");
    assert_eq!(result["status"]["code"], 5, "{result}");
    drop(sshd);
    world.assert_nothing_left(SOON);
    Ok(())
}

/// Only the target knows what earlier calls in a session's shell have done.
#[test]
fn rules_know_directory_and_functions_of_a_remote_session() -> Result<()> {
    let world = World::new()?;
    let sshd = Sshd::start(&world, None)?;
    fs::create_dir(world.home().join(".gnupg"))?;
    let mut command = world.command(product::agent_bash()?);
    command.args(["rpc", "--on", NAME]);
    let mut server = ServerClient::start(command)?;
    let mut status = |script: &str, session: &str| -> Result<Value> {
        let request = json!({"command": script, "session": session});
        server.send(&json!({"id": "a", "type": "tool_call", "request": request}))?;
        Ok(server.next(SOON)?["data"]["status"].take())
    };
    let defined = status("publish() { git push \"$@\"; }; cd ~", "s")?;
    assert_eq!(defined["code"], 0, "{defined}");
    for script in ["publish --force", "rm -rf .gnupg"] {
        let refused = status(script, "s")?;
        assert_eq!(refused["kind"], "blocked", "{script}: {refused}");
        let allowed = status(script, "another")?;
        assert_eq!(allowed["kind"], "exited", "{script}: {allowed}");
    }
    assert!(world.home().join(".gnupg").exists());
    assert!(server.end()?.status.success());
    drop(sshd);
    world.assert_nothing_left(SOON);
    Ok(())
}

/// Control of all tests over ssh: a damaged remote program is not run.
#[test]
fn damaged_upload_is_not_run() -> Result<()> {
    let world = World::new()?;
    let sshd = Sshd::start(&world, None)?;
    world.script("head", "/usr/bin/head \"$@\" | tr a b\n")?;
    let ran = on(&world, &["run", "touch ran"])?;
    assert_eq!(ran.code, 125, "{ran:?}");
    assert!(
        ran.stdout.contains("another hash than it has here"),
        "{ran:?}"
    );
    assert!(!world.cwd().join("ran").exists());
    let programs = world.home().join(".cache/agent-bash");
    assert_eq!(fs::read_dir(programs)?.count(), 0, "it was left");
    drop(sshd);
    world.assert_nothing_left(SOON);
    Ok(())
}

#[test]
fn unreachable_host_is_named_with_the_message_of_ssh() -> Result<()> {
    let world = World::new()?;
    let sshd = Sshd::start(&world, None)?;
    drop(sshd);
    let ran = on(&world, &["run", "touch ran"])?;
    assert_eq!(ran.code, 125, "{ran:?}");
    assert!(ran.stdout.contains("Connection refused"), "{ran:?}");
    let listed = on(&world, &["jobs", "list"])?;
    assert_eq!(listed.code, 125, "{listed:?}");
    assert!(listed.stderr.contains("Connection refused"), "{listed:?}");
    assert!(!world.cwd().join("ran").exists());
    world.assert_nothing_left(SOON);
    Ok(())
}
