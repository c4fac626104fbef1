//! Functions that the environment exports: scripts find them, and the rules read them.

use agent_bash_tests::poll;
use agent_bash_tests::product::{self, CommandResult};
use agent_bash_tests::server_client::ServerClient;
use agent_bash_tests::world::World;
use anyhow::Result;
use serde_json::{Value, json};
use std::process::Command;
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(60);

/// Functions, as bash exports them.
const FUNCTIONS: [(&str, &str); 3] = [
    ("BASH_FUNC_module%%", "() {  echo \"module $*\"\n}"),
    ("BASH_FUNC_publish%%", "() {  git push \"$@\"\n}"),
    ("BASH_FUNC_ls%%", "() {  echo replaced\n}"),
];

fn agent_bash(world: &World, words: &[&str]) -> Result<Command> {
    let mut command = world.command(product::agent_bash()?);
    command.args(words).envs(FUNCTIONS);
    Ok(command)
}

fn result_of(world: &World, words: &[&str]) -> Result<CommandResult> {
    product::run(agent_bash(world, words)?, None)
}

/// Makes a call of `rpc`.
fn tool_call(server: &mut ServerClient, request: &Value) -> Result<Value> {
    server.send(&json!({"id": "a", "type": "tool_call", "request": request}))?;
    Ok(server.next(PATIENCE)?["data"].take())
}

#[test]
fn scripts_find_functions_that_the_environment_exports() -> Result<()> {
    let world = World::new()?;
    std::fs::write(world.cwd().join("build.sh"), "module load gcc\n")?;
    for script in ["module load gcc", "bash build.sh", "nice bash build.sh"] {
        let ran = result_of(&world, &["run", script])?;
        assert_eq!(ran.stdout, "module load gcc\n", "{script}: {ran:?}");
    }
    // Scripts rely on the meaning of this name.
    let ran = result_of(&world, &["run", "ls"])?;
    assert_eq!(ran.stdout, "build.sh\n", "{ran:?}");
    // Without a configuration file, and with one that does not define the function.
    for rc in [None, Some("alias ll='ls -l'\n")] {
        if let Some(rc) = rc {
            std::fs::write(world.home().join(".bashrc"), rc)?;
        }
        let mut server = ServerClient::start(agent_bash(&world, &["rpc"])?)?;
        // On a busy machine, the first calls run before the file is read.
        let request = json!({"command": "bash build.sh"});
        let found = poll::until(PATIENCE, || {
            let result = tool_call(&mut server, &request).ok()?;
            (result["text"] == "module load gcc\n").then_some(())
        });
        assert!(found.is_some(), "{rc:?}");
        assert!(server.end()?.status.success());
    }
    world.assert_nothing_left(PATIENCE);
    Ok(())
}

#[test]
fn rules_read_functions_that_the_environment_exports() -> Result<()> {
    let world = World::new()?;
    for (words, code) in [
        (["run", "publish --force"], 125),
        (["check", "publish --force"], 1),
        (["check", "publish"], 0),
        (["check", "bash -c 'publish --force'"], 1),
    ] {
        let ran = result_of(&world, &words)?;
        assert_eq!(ran.code, code, "{words:?}: {ran:?}");
    }
    let ran = result_of(&world, &["shell", "-c", "publish --force"])?;
    assert_eq!(ran.code, 126, "{ran:?}");
    let mut server = ServerClient::start(agent_bash(&world, &["rpc"])?)?;
    for session in [Value::Null, json!("s")] {
        let request = json!({
            "command": "release", "session": session,
            "env": {"BASH_FUNC_release%%": "() {  git push --force\n}"},
        });
        let refused = tool_call(&mut server, &request)?;
        assert_eq!(refused["status"]["rule"], "no_force_push", "{refused}");
    }
    for (value, rule) in [
        ("--force", json!("no_force_push")),
        ("--dry-run", Value::Null),
    ] {
        let request = json!({"command": "git push $FLAG", "env": {"FLAG": value}});
        let ran = tool_call(&mut server, &request)?;
        assert_eq!(ran["status"]["rule"], rule, "{ran}");
    }
    assert!(server.end()?.status.success());
    world.assert_nothing_left(PATIENCE);
    Ok(())
}
