//! Everyday commands of git that write `.git/config` work in the sandbox. The repository's file
//! gets their harmless keys only; the result names the others.

use agent_bash_tests::product::{self, report_left_out};
use agent_bash_tests::server_client::ServerClient;
use agent_bash_tests::world::World;
use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

const SOON: Duration = Duration::from_secs(60);

/// Makes `up`, `sub`, and `repo`, a clone of `up` whose submodule is not initialised.
const SCENE: &str = "set -e
for name in up sub; do
    git init -q -b main $name
    echo $name > $name/$name.txt
    git -C $name add .
    git -C $name commit -qm a
done
git -C up branch y
git clone -q up repo
cd repo
git -c protocol.file.allow=always submodule --quiet add $PWD/../sub sub
git config -f .gitmodules submodule.sub.url https://sub.example/s
git add .gitmodules
git commit -qm b
git submodule --quiet deinit -f sub
rm -rf .git/modules/sub
git config --remove-section submodule.sub 2> /dev/null || true";

/// Leaves a process behind that changes a dangerous key once the file `go` exists.
const SURVIVOR: &str = "(for _ in {1..3000}; do test -e go && break; sleep 0.02; done
git config core.askPass x; touch gone) > /dev/null 2>&1 & true";

/// Makes the process of [`SURVIVOR`] change the key, and waits for the change.
const RELEASE: &str = "touch go
for _ in {1..3000}; do test -e gone && exit; sleep 0.02; done
exit 1";

struct Scene {
    world: World,
}

impl Scene {
    fn new() -> Result<Self> {
        let world = World::new()?;
        let scene = Self { world };
        scene.outside(&scene.world.cwd(), SCENE)?;
        Ok(scene)
    }

    fn repo(&self) -> PathBuf {
        self.world.cwd().join("repo")
    }

    /// Runs a script of the user, and returns its output.
    fn outside(&self, directory: &Path, script: &str) -> Result<String> {
        let mut command = self.world.command(Path::new("bash"));
        command.args(["-c", script]).current_dir(directory);
        for name in ["GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME", "EMAIL"] {
            command.env(name, "user@example.invalid");
        }
        let ran = product::run(command, None)?;
        ensure!(ran.code == 0, "{script}: {ran:?}");
        Ok(ran.stdout)
    }

    /// The repository's configuration, as git outside of the sandbox reads it.
    fn configuration(&self) -> Result<Vec<String>> {
        let text = self.outside(&self.repo(), "git config --file .git/config --list")?;
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.sort();
        Ok(lines)
    }

    fn call(&self, options: &[&str], script: &str) -> Result<Value> {
        let mut command = self.world.command(product::agent_bash()?);
        command.args(["run", "--json", "--sandbox", "workspace_write"]);
        command.args(options).arg(script).current_dir(self.repo());
        let ran = product::run(command, None)?;
        serde_json::from_str(&ran.stdout).with_context(|| format!("{ran:?}"))
    }
}

/// True if calls can write a copy of the configuration: the sandbox is full. Otherwise the test
/// that asks is reported as left out.
fn has_copy(result: &Value) -> bool {
    let sandbox = &result["sandbox"];
    let is_full = sandbox["enforced"] == "full";
    if !is_full {
        report_left_out(&format!("the sandbox is not full here: {sandbox}"));
    }
    is_full
}

/// The keys that the result names as dropped.
fn dropped(result: &Value) -> Vec<&str> {
    let notices = result["notices"].as_array().into_iter().flatten();
    let dropped = notices.filter(|notice| notice["kind"] == "git_config_dropped");
    let keys = dropped.flat_map(|notice| notice["keys"].as_array().into_iter().flatten());
    keys.filter_map(Value::as_str).collect()
}

#[test]
fn repository_keeps_exactly_the_harmless_keys_of_a_call() -> Result<()> {
    let scene = Scene::new()?;
    let before = scene.configuration()?;
    let sub = scene.world.cwd().join("sub");
    let script = format!(
        "set -e
git switch -q -c x --track origin/y
git switch -q main
git remote add fork https://fork.example/f
git branch -m main trunk
git config user.name Model
git -c protocol.file.allow=always -c url.{}.insteadOf=https://sub.example/s submodule --quiet update --init
test -e sub/sub.txt
git config alias.z '!touch evil'
git config core.hooksPath evil
git config core.fsmonitor './evil'
git config remote.origin.url https://evil.example/
git config core.fsmonitor",
        sub.display()
    );
    let result = scene.call(&[], &script)?;
    if !has_copy(&result) {
        return Ok(());
    }
    ensure!(result["status"]["code"] == 0, "{result}");
    let keys = [
        "alias.z", "core.fsmonitor", "core.hookspath", "remote.origin.url",
    ];
    ensure!(dropped(&result) == keys, "{result}");
    ensure!(
        result["text"]
            .as_str()
            .is_some_and(|text| text.contains("alias.z, core.fsmonitor")),
        "{result}"
    );
    let mut expected = before;
    expected.retain(|line| !line.starts_with("branch.main."));
    expected.extend(
        [
            "branch.trunk.merge=refs/heads/main",
            "branch.trunk.remote=origin",
            "branch.x.merge=refs/heads/y",
            "branch.x.remote=origin",
            "remote.fork.addedinsandbox=true",
            "remote.fork.fetch=+refs/heads/*:refs/remotes/fork/*",
            "remote.fork.url=https://fork.example/f",
            "submodule.sub.active=true",
            "submodule.sub.url=https://sub.example/s",
            "user.name=Model",
        ]
        .map(str::to_owned),
    );
    expected.sort();
    ensure!(
        scene.configuration()? == expected,
        "{:?}",
        scene.configuration()?
    );
    // The next call does not see the dropped keys either, and what the user writes meanwhile.
    scene.outside(&scene.repo(), "git config user.email user@example.invalid")?;
    let next = scene.call(&[], "git config core.fsmonitor; git config user.email")?;
    ensure!(
        next["text"]
            .as_str()
            .is_some_and(|text| text.contains("user@example")),
        "{next}"
    );
    ensure!(
        !next.to_string().contains("evil") && dropped(&next).is_empty(),
        "{next}"
    );
    scene.world.assert_nothing_left(SOON);
    Ok(())
}

#[test]
fn recorded_change_of_the_configuration_is_undone() -> Result<()> {
    let scene = Scene::new()?;
    let config = scene.repo().join(".git/config");
    let before = fs::read_to_string(&config)?;
    let result = scene.call(&["--changes=undo"], "git remote add r https://r.example/r")?;
    if !has_copy(&result) {
        return Ok(());
    }
    ensure!(
        fs::read_to_string(&config)?.contains("r.example"),
        "{result}"
    );
    let changes = &result["changes"];
    ensure!(
        changes["counts"]["changed"] == 1 && changes["undo"] == "whole" && changes["exact"] == true,
        "{result}"
    );
    let mut undo = scene.world.command(product::agent_bash()?);
    undo.args(["changes", "undo", "1"])
        .current_dir(scene.repo());
    let undone = product::run(undo, None)?;
    ensure!(fs::read_to_string(&config)? == before, "{undone:?}");
    // A call that only sets dropped keys changes nothing.
    let result = scene.call(&["--changes=undo"], "git config core.pager x")?;
    ensure!(dropped(&result) == ["core.pager"], "{result}");
    ensure!(
        result["changes"]["counts"]["changed"].as_u64().unwrap_or(0) == 0,
        "{result}"
    );
    ensure!(fs::read_to_string(&config)? == before, "{result}");
    Ok(())
}

/// Each call is of a program of its own, which announces the call before it makes the call.
#[test]
fn next_program_names_the_keys_that_a_survivor_has_changed() -> Result<()> {
    let scene = Scene::new()?;
    let first = scene.call(&[], SURVIVOR)?;
    if !has_copy(&first) {
        return Ok(());
    }
    ensure!(dropped(&first).is_empty(), "{first}");
    scene.outside(&scene.repo(), RELEASE)?;
    let next = scene.call(&[], "true")?;
    ensure!(dropped(&next) == ["core.askpass"], "{next}");
    // The control: the keys are named once.
    let last = scene.call(&[], "true")?;
    ensure!(dropped(&last).is_empty(), "{last}");
    Ok(())
}

#[test]
fn calls_of_a_persistent_shell_and_survivors_write_harmless_keys_only() -> Result<()> {
    let scene = Scene::new()?;
    let mut command = scene.world.command(product::agent_bash()?);
    command.arg("rpc").current_dir(scene.repo());
    command.env("AGENT_BASH_SANDBOX_LEVEL", "workspace_write");
    let mut server = ServerClient::start(command)?;
    let mut called = |command: &str| -> Result<Value> {
        let id = server.new_id();
        let request = json!({ "command": command, "session": "s" });
        server.send(&json!({"id": id, "type": "tool_call", "request": request}))?;
        let is_answer = |line: &Value| line["id"] == id && line["type"] == "response";
        Ok(server.next_where(SOON, is_answer)?["data"].clone())
    };
    let config = scene.repo().join(".git/config");
    let first = called("git remote add a https://a.example/a; git config core.pager x")?;
    if !has_copy(&first) {
        return Ok(());
    }
    ensure!(dropped(&first) == ["core.pager"], "{first}");
    ensure!(
        fs::read_to_string(&config)?.contains("a.example"),
        "{first}"
    );
    // The host has written the file in place, so the shell still sees the copy.
    let second =
        called("echo '[core] editor = x' >> .git/config; git remote; git config core.pager")?;
    ensure!(dropped(&second) == ["core.editor"], "{second}");
    ensure!(
        second["text"]
            .as_str()
            .is_some_and(|text| text.contains("origin\n")),
        "{second}"
    );
    ensure!(second["status"]["code"] == 1, "{second}");
    called(SURVIVOR)?;
    scene.outside(&scene.repo(), RELEASE)?;
    ensure!(!fs::read_to_string(&config)?.contains("askPass"));
    let next = called("git config core.askPass")?;
    ensure!(dropped(&next) == ["core.askpass"], "{next}");
    let text = fs::read_to_string(&config)?;
    for key in ["pager", "editor", "askPass"] {
        ensure!(!text.contains(key), "{text}");
    }
    ensure!(server.end()?.status.success(), "its end");
    Ok(())
}
