//! Safe mode: the kernel confines the commands that the list allows. The corpora have commands that
//! change files, read secrets or run a repository's programs. Those that the list does not refuse
//! run in a throwaway home.

use agent_bash_tests::product::{self, CommandResult};
use agent_bash_tests::server_client::ServerClient;
use agent_bash_tests::world::World;
use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::Duration;

/// Time limit on a slow machine.
const SOON: Duration = Duration::from_secs(60);

/// Texts that only the home's secret files and the server's environment contain. (Each line of
/// `/etc/shadow` has `:99999:`.)
const SECRET: &str = "correct-horse-battery-staple";

/// The commands: how each is confined, and the script as a JSON string.
const ROWS: &str = include_str!("../../../crates/policy/tests/data/refused_by_sandbox.tsv");

/// A repository in which most of the commands change something, another one with a configuration
/// that runs a program, and a home with secrets.
const SETUP: &str = r#"
set -e
for dir in .ssh .aws .config/gh .config/gcloud .docker .kube .gnupg .azure .cargo; do mkdir -p ~/"$dir"; done
for file in .ssh/id_rsa .ssh/id_ed25519 .ssh/config .ssh/known_hosts .ssh/authorized_keys .aws/credentials .aws/config \
    .config/gh/hosts.yml .config/gcloud/credentials.db .docker/config.json .kube/config .gnupg/x .netrc \
    .git-credentials .npmrc .pypirc .my.cnf .azure/accessTokens.json .cargo/credentials.toml; do
    echo "x key token foo AKIA $SECRET" > ~/"$file"
done
git config --global user.name x; git config --global user.email x@example.org; git config --global init.defaultBranch main
printf '#!/bin/sh\ntouch "%s/ran"; cat\n' "$HOME" > ../evil; chmod +x ../evil
git init -q; echo a > a; mkdir src; echo b > src/b; git add a src; git commit -qm one; echo c >> a; git commit -qam two
git clone -q --bare . ../r.git; git remote add origin ../r.git; git fetch -q; git branch -q -u origin/main
git branch b0; git branch x; git branch v2 HEAD~1; git tag t0; git tag v1; git tag x HEAD~1; git notes add -m n
echo d >> a; git stash -q; echo e >> src/b; echo new > b; echo f > f
git init -q ../evilrepo; git -C ../evilrepo config core.fsmonitor ../evil; cp -r ../evilrepo/.git ../evilgit
git init -q sub; git -C sub config core.fsmonitor "$PWD/../evil"
git config diff.external "$PWD/../evil"; git config core.fsmonitor "$PWD/../evil"; git config core.sshCommand ../evil
"#;

fn rows(how: &str) -> Result<Vec<String>> {
    let rows = ROWS.lines().filter_map(|line| line.split_once('\t'));
    let wanted = rows.filter(|(held, _)| *held == how);
    wanted
        .map(|(_, script)| Ok(serde_json::from_str(script)?))
        .collect()
}

fn world() -> Result<World> {
    let world = World::new()?;
    let mut setup = world.command("bash");
    setup.args(["-c", SETUP]).env("SECRET", SECRET);
    let ran = product::run(setup, None)?;
    ensure!(ran.code == 0, "{}", ran.stderr);
    Ok(world)
}

/// One call by the binary.
fn run(world: &World, options: &[&str], script: &str) -> Result<CommandResult> {
    let mut command = world.command(product::agent_bash()?);
    command.env("GITHUB_TOKEN", SECRET);
    command.arg("run").args(options).arg(script);
    product::run(command, None)
}

/// Kind, mode, change time and content of files, by their paths.
type Files = BTreeMap<String, (u32, i64, Vec<u8>)>;

/// The files of the home, of the repositories and around them.
fn files(world: &World) -> Result<Files> {
    let cwd = world.cwd();
    let root = cwd.parent().context("a world has a root")?;
    let mut found = Files::new();
    // The product's own files, and the private files of a call.
    for entry in std::fs::read_dir(root)?.flatten() {
        if ![world.state(), world.temp()].contains(&entry.path()) {
            look(&entry.path(), &mut found)?;
        }
    }
    Ok(found)
}

fn look(path: &Path, found: &mut Files) -> Result<()> {
    let about = path.symlink_metadata()?;
    let content = if about.is_file() {
        std::fs::read(path)?
    } else {
        Vec::new()
    };
    let time = about.mtime() * 1_000_000_000 + about.mtime_nsec();
    found.insert(path.display().to_string(), (about.mode(), time, content));
    if about.is_dir() {
        for entry in std::fs::read_dir(path)?.flatten() {
            look(&entry.path(), found)?;
        }
    }
    Ok(())
}

/// The paths that differ.
fn changed(world: &World, was: &Files) -> Result<Vec<String>> {
    let now = files(world)?;
    let paths = was.keys().chain(now.keys());
    Ok(paths
        .filter(|path| was.get(*path) != now.get(*path))
        .cloned()
        .collect())
}

#[test]
fn allowed_commands_change_nothing_and_read_no_secret() -> Result<()> {
    let world = world()?;
    let was = files(&world)?;
    let mut command = world.command(product::agent_bash()?);
    command.args(["rpc", "--safe-mode"]);
    command.env("GITHUB_TOKEN", SECRET);
    // Only safe mode is tested: a rule would refuse some of the commands first.
    command.env("AGENT_BASH_SAFETY_GROUPS", "services");
    let mut server = ServerClient::start(command)?;
    let rows = rows("sandbox")?;
    ensure!(rows.len() > 300, "{} rows", rows.len());
    for script in rows {
        let id = server.new_id();
        let request = json!({"command": script, "timeout": 20});
        server.send(&json!({"id": id, "type": "tool_call", "request": request}))?;
        let answer =
            server.next_where(SOON, |line| line["id"] == id && line["type"] == "response")?;
        let result = &answer["data"];
        // Without the sandbox, the commands must have effects; otherwise this test proves nothing.
        assert_eq!(
            result["sandbox"]["level"], "read_only",
            "{script}: {answer}"
        );
        assert_ne!(result["status"]["kind"], "timed_out", "{script}");
        let text = answer.to_string();
        assert!(
            !text.contains(SECRET) && !text.contains(":99999:"),
            "{script}: {answer}"
        );
        assert_eq!(
            changed(&world, &was)?,
            Vec::<String>::new(),
            "{script}: {answer}"
        );
    }
    server.end()?;
    Ok(())
}

#[test]
fn same_commands_have_effects_without_the_sandbox() -> Result<()> {
    for script in [
        "git commit -am x", "git tag t1", "git branch newb", "git stash", "git clean -fd",
        "git add a", "git hash-object -w a", "git init ../newrepo", "git clone ../r.git ../clone",
        "git push origin b0", "git remote add y z", "git checkout b0", "git -C ../evilrepo status",
        "git -C sub status", "git diff",
    ] {
        let world = world()?;
        let was = files(&world)?;
        let ran = run(&world, &["--safe-mode=listed"], script)?;
        assert!(!changed(&world, &was)?.is_empty(), "{script}: {ran:?}");
    }
    let world = world()?;
    for script in [
        "cat ~/.ssh/id_rsa", "grep -r key ~", "cat < ~/.netrc", "cat ../home/.s*/id_rsa",
    ] {
        let ran = run(&world, &["--safe-mode=listed"], script)?;
        assert!(ran.stdout.contains(SECRET), "{script}: {ran:?}");
    }
    Ok(())
}

#[test]
fn following_a_file_ends_at_the_time_limit() -> Result<()> {
    let world = world()?;
    let ran = run(
        &world,
        &["--safe-mode", "--timeout", "1s"],
        &rows("time")?[0],
    )?;
    assert_eq!(ran.code, 124, "{ran:?}");
    Ok(())
}

#[test]
fn safe_mode_stays_read_only_under_any_settings() -> Result<()> {
    let world = world()?;
    let config = world.home().join(".config/agent-bash");
    std::fs::create_dir_all(&config)?;
    let outside = world.cwd().join("src");
    let settings = format!(
        "[sandbox]\nlevel = \"workspace_write\"\nnetwork = \"on\"\nwritable = [\"{}\"]\nescalation = \"ask\"\n",
        outside.display()
    );
    std::fs::write(config.join("config.toml"), settings)?;
    let printed = run(
        &world,
        &["--safe-mode", "--json", "--sandbox", "workspace_write"],
        "git tag t1",
    )?;
    let printed: Value = serde_json::from_str(&printed.stdout)?;
    assert_eq!(printed["sandbox"]["level"], "read_only", "{printed}");
    assert_eq!(printed["sandbox"]["network"], "off", "{printed}");
    assert_ne!(printed["status"]["code"], 0, "{printed}");
    // Control: the settings would have allowed the write.
    let printed = run(&world, &["--safe-mode=listed"], "git tag t1")?;
    assert_eq!(printed.code, 0, "{printed:?}");
    Ok(())
}

#[test]
fn user_programs_run_in_safe_mode_with_a_temporary_directory() -> Result<()> {
    let world = world()?;
    // As a program of a virtual environment: only PATH finds it.
    world.script(
        "pytest",
        "echo ok > \"$TMPDIR/file\" && cat \"$TMPDIR/file\"; echo no > made; ls made\n",
    )?;
    world.script(
        "npm",
        "test \"$GIT_OPTIONAL_LOCKS\" = 0 && mktemp -d > /dev/null && echo \"npm $1\"\n",
    )?;
    let ran = run(&world, &["--safe-mode"], "pytest -q tests/; npm test")?;
    assert!(
        ran.stdout.starts_with("ok\n") && ran.stdout.contains("npm test"),
        "{ran:?}"
    );
    assert!(!world.cwd().join("made").exists(), "{ran:?}");
    let without = run(
        &world,
        &["--sandbox", "read_only"],
        "echo anything; touch made",
    )?;
    assert!(without.stdout.starts_with("anything\n"), "{without:?}");
    assert!(!world.cwd().join("made").exists(), "{without:?}");
    Ok(())
}

#[test]
fn call_cannot_set_variables_in_safe_mode() -> Result<()> {
    let world = world()?;
    for options in [&["--safe-mode"][..], &["--safe-mode=listed"]] {
        let evil = world.cwd().join("../evil").display().to_string();
        let variable = format!("GIT_EXTERNAL_DIFF={evil}");
        let ran = run(
            &world,
            &[options, &["--env", &variable]].concat(),
            "git status",
        )?;
        assert_eq!(ran.code, 125, "{ran:?}");
        assert!(ran.stdout.contains("`GIT_EXTERNAL_DIFF`"), "{ran:?}");
    }
    Ok(())
}
