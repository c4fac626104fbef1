//! Scarce resources: process and thread limits, an unresponsive file system, a directory without a
//! path. The product neither hangs nor panics, and answers every request.
//!
//! Process limits do not apply to root: a test run as root switches to another user.

use agent_bash_tests::product::report_left_out;
use agent_bash_tests::server_client::ServerClient;
use agent_bash_tests::world::World;
use agent_bash_tests::{poll, product};
use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Time limit on a slow machine.
const SOON: Duration = Duration::from_secs(60);

/// The program, in a directory that any user can reach.
fn program(world: &World) -> Result<PathBuf> {
    let program = world.cwd().join("agent-bash");
    fs::copy(product::agent_bash()?, &program)?;
    fs::set_permissions(&program, Permissions::from_mode(0o755))?;
    Ok(program)
}

/// A bash that runs `script` as a user to whom limits apply: `uid` if the test runs as root.
fn bash(world: &World, uid: u32, script: &str) -> Result<Command> {
    if !rustix::process::geteuid().is_root() {
        let mut bash = world.command("bash");
        bash.args(["-c", script]);
        return Ok(bash);
    }
    let (home, work, temp) = (world.home(), world.cwd(), world.temp());
    let root = work.parent().context("a world has a root")?;
    for directory in [root, &home, &work, &temp] {
        fs::set_permissions(directory, Permissions::from_mode(0o777))?;
    }
    let mut setpriv = world.command("setpriv");
    let (user, group) = (format!("--reuid={uid}"), format!("--regid={uid}"));
    setpriv.args([&user, &group, "--clear-groups", "bash", "-c", script]);
    Ok(setpriv)
}

#[test]
fn run_at_process_limit_ends_and_names_the_limit() -> Result<()> {
    let world = World::new()?;
    let program = program(&world)?;
    for limit in 1..8 {
        // `timeout` is itself a process, so it is started outside of the limit.
        let script = format!(
            "ulimit -u {limit}; exec {} run 'echo hi'",
            program.display()
        );
        let mut limited = world.command("timeout");
        let inner = bash(&world, 54331, &script)?;
        limited.args(["-k", "1", "30"]).arg(inner.get_program());
        limited.args(inner.get_args());
        let ran = product::run(limited, None)?;
        let expected_text = format!("{limit}: {ran:?}");
        match ran.code {
            0 => assert_eq!(ran.stdout, "hi\n", "{expected_text}"),
            125 => assert!(
                format!("{}{}", ran.stdout, ran.stderr).contains("started"),
                "{expected_text}"
            ),
            // 124 means that the program hung, 101 that it panicked.
            _ => anyhow::bail!(expected_text),
        }
        if limit == 1 {
            assert_eq!(ran.code, 125, "{expected_text}");
            assert!(
                ran.stderr.contains("no thread can be started"),
                "a limit of one process holds: {expected_text}"
            );
        }
    }
    world.assert_nothing_left(SOON);
    Ok(())
}

#[test]
fn server_at_process_limit_answers_every_request() -> Result<()> {
    let world = World::new()?;
    let program = program(&world)?;
    // The program cannot reopen these pipes, like those of another user.
    let script = format!(
        "chmod 0 /proc/self/fd/0 /proc/self/fd/1 2> /dev/null; exec {} rpc",
        program.display()
    );
    let mut server = ServerClient::start(bash(&world, 54332, &script)?)?;
    server.send(&json!({"id": "first", "type": "tool_call", "request": "echo"}))?;
    let first = server.next(SOON)?;
    ensure!(first["data"]["status"]["code"] == 0, "{first}");
    // Answers must not depend on threads started on demand.
    let pid = server.pid();
    let most = std::thread::available_parallelism()?.get() + 1;
    let settled = poll::until(SOON, || (runtime_threads(pid) <= most).then_some(()));
    settled.context("its threads stay")?;
    let prlimit = bash(&world, 54332, &format!("prlimit --pid={pid} --nproc=1:1"))?;
    let limited = product::run(prlimit, None)?;
    ensure!(limited.code == 0, "{limited:?}");

    let requests = [
        json!({"type": "artifact.list"}),
        json!({"type": "check", "command": "ls"}),
        json!({"type": "tool_call", "request": {"command": "echo", "cwd": "/usr/share"}}),
        json!({"type": "tool_call", "request": {"command": "echo", "env": {"A": "another kind of shell"}}}),
        json!({"type": "tool_call", "request": {"command": "echo", "session": "s"}}),
        json!({"type": "tool_call", "request": {"command": "echo", "mode": "background"}}),
        json!({"type": "bash", "command": "echo"}),
        json!({"type": "adapter_call", "adapter": "codex", "tool": "exec_command", "input": {"cmd": "echo"}}),
        json!({"type": "jobs.list"}),
        json!({"type": "ping"}),
    ];
    let mut lines = String::new();
    for (id, mut request) in requests.iter().cloned().enumerate() {
        request["id"] = json!(id);
        lines += &request.to_string();
        lines.push('\n');
    }
    server.send_bytes(lines.as_bytes())?;
    let mut answered = vec![false; requests.len()];
    // No further requests are sent meanwhile.
    while answered.contains(&false) {
        let next = server
            .next(SOON)
            .with_context(|| format!("answered are {answered:?}"))?;
        let id = next["id"].as_u64().context("an id")?;
        answered[usize::try_from(id)?] = true;
        // The result reports everything that was unavailable.
        let is_plain = |status: &Value| status["kind"] == "exited" && status["code"] == 0;
        if id < 2 {
            let error = next["error"].as_str().unwrap_or_default();
            let wanted = "(`ulimit -u`) is probably reached: end some processes, and try again";
            ensure!(error.ends_with(wanted), "{next}");
        }
        let status = &next["data"]["status"];
        let reason = next["error"].as_str().or(status["reason"].as_str());
        ensure!(
            next["success"] == true && (status.is_null() || !is_plain(status))
                || is_plain(status)
                || reason.is_some_and(|reason| !reason.is_empty()),
            "{next}"
        );
    }
    server.end()?;
    world.assert_nothing_left(SOON);
    Ok(())
}

/// The number of runtime threads, of any kind.
fn runtime_threads(pid: u32) -> usize {
    let tasks = fs::read_dir(format!("/proc/{pid}/task"))
        .into_iter()
        .flatten();
    let names = tasks.filter_map(|task| fs::read_to_string(task.ok()?.path().join("comm")).ok());
    names.filter(|name| name.starts_with("tokio")).count()
}

/// Mounts an unresponsive FUSE file system on `hung`, in its own mount namespace, and runs its
/// arguments.
const HUNG: &str = "exec 9<> /dev/fuse && mount -i -t fuse -o fd=9,rootmode=40000,user_id=0,group_id=0 none hung || exit 77
\"$@\" 9<&-";

fn command_with_hung_mount(world: &World, command: &[&str]) -> Command {
    let mut unshare = world.command("unshare");
    unshare.args(["--user", "--map-root-user", "--mount"]);
    unshare.args(["bash", "-c", HUNG, "bash"]).args(command);
    unshare
}

/// Returns a world; `None` if no file system can be mounted.
fn world_with_a_hung_mount() -> Result<Option<World>> {
    let world = World::new()?;
    fs::create_dir(world.cwd().join("hung"))?;
    let tried = product::run(command_with_hung_mount(&world, &["true"]), None)?;
    if tried.code != 0 {
        report_left_out(&format!("no file system can be mounted here: {tried:?}"));
        return Ok(None);
    }
    Ok(Some(world))
}

#[test]
fn unresponsive_file_system_blocks_only_its_own_calls() -> Result<()> {
    let Some(world) = world_with_a_hung_mount()? else {
        return Ok(());
    };
    let program = product::agent_bash()?.display().to_string();
    let mut server = ServerClient::start(command_with_hung_mount(&world, &[&program, "rpc"]))?;
    // More than there are threads that could block.
    let hung = std::thread::available_parallelism()?.get() + 2;
    for id in 0..hung {
        let cwd = if id == 0 { "hung" } else { "hung/below" };
        let request = json!({"command": "echo hi", "cwd": cwd, "timeout": 1});
        server.send(&json!({"id": id, "type": "tool_call", "request": request}))?;
    }
    server.send(&json!({"id": "ping", "type": "ping"}))?;
    server.send(&json!({"id": "call", "type": "tool_call", "request": "echo beside"}))?;
    let mut answered = Vec::new();
    while answered.len() < hung + 2 {
        let answer = server
            .next(SOON)
            .with_context(|| format!("answered are {answered:?}"))?;
        match answer["id"].as_str() {
            Some("ping") => ensure!(answer["success"] == true, "{answer}"),
            Some(_) => ensure!(answer["data"]["text"] == "beside\n", "{answer}"),
            None => ensure!(answer["data"]["is_error"] == true, "{answer}"),
        }
        answered.push(answer["id"].clone());
    }
    // The server still shuts down.
    ensure!(server.end()?.status.success(), "its end");

    let mut run = command_with_hung_mount(
        &world,
        &[
            "timeout", "-k", "1", "30", &program, "run", "--timeout", "1s", "--cwd", "hung/below",
            "echo hi",
        ],
    );
    run.env("AGENT_BASH_STATE_DIR", world.state().join("run"));
    let ran = product::run(run, None)?;
    ensure!(ran.code == 125, "{ran:?}");
    ensure!(
        format!("{}{}", ran.stdout, ran.stderr).contains("does not answer"),
        "{ran:?}"
    );
    world.assert_nothing_left(SOON);
    Ok(())
}

#[test]
fn sandbox_setup_does_not_wait_for_unresponsive_file_systems() -> Result<()> {
    let Some(world) = world_with_a_hung_mount()? else {
        return Ok(());
    };
    let program = product::agent_bash()?.display().to_string();
    let in_time = [
        "timeout", "-k", "1", "60", &program, "run", "--sandbox", "read_only",
    ];
    let expected_text = "echo \"cat: $PWD/hung/file: Permission denied\"";
    let words: Vec<&str> = in_time.iter().copied().chain([expected_text]).collect();
    let ran = product::run(command_with_hung_mount(&world, &words), None)?;
    ensure!(
        ran.code == 0
            && ran
                .stdout
                .contains("it is not known which files this call was denied"),
        "{ran:?}"
    );
    // Paths in an output are not looked up if the lookup could block.
    let below = "echo \"cat: $PWD/hung/below/file: Permission denied\"";
    let words: Vec<&str> = in_time.iter().copied().chain([below]).collect();
    let ran = product::run(command_with_hung_mount(&world, &words), None)?;
    ensure!(
        ran.code == 0 && !ran.stdout.contains("it is not known"),
        "{ran:?}"
    );
    // Control: responsive paths are looked up.
    let expected_text = "echo \"cat: $PWD/file: Permission denied\"";
    let words: Vec<&str> = in_time.iter().copied().chain([expected_text]).collect();
    let ran = product::run(command_with_hung_mount(&world, &words), None)?;
    ensure!(
        ran.code == 0 && ran.stdout.contains("this call may not write there"),
        "{ran:?}"
    );
    // If the sandbox cannot be planned, the command does not run.
    let config = world.home().join(".config/agent-bash");
    fs::create_dir_all(&config)?;
    let hidden = world.cwd().join("hung/secret");
    fs::write(
        config.join("config.toml"),
        format!("[sandbox]\nhidden = [{:?}]\n", hidden.display().to_string()),
    )?;
    let ran = product::run(command_with_hung_mount(&world, &words), None)?;
    ensure!(
        ran.code == 125 && ran.stdout.contains("does not respond"),
        "{ran:?}"
    );
    world.assert_nothing_left(SOON);
    Ok(())
}

/// As [`HUNG`], but mounts over the directory `tree` once it contains a file `go`.
const HUNG_LATER: &str =
    "exec 9<> /dev/fuse; \"$@\" 9<&- & until [ -e tree/go ]; do sleep 0.05; done
mount -i -t fuse -o fd=9,rootmode=40000,user_id=0,group_id=0 none tree; wait $!";

#[test]
fn recording_gives_up_on_an_unresponsive_file_system() -> Result<()> {
    let Some(world) = world_with_a_hung_mount()? else {
        return Ok(());
    };
    // With this file the directory is the workspace.
    fs::create_dir_all(world.cwd().join("tree/.git"))?;
    let program = product::agent_bash()?.display().to_string();
    let run = |around: &str, command: &str| {
        let mut unshare = world.command("unshare");
        unshare.args(["--user", "--map-root-user", "--mount"]);
        unshare.args(["bash", "-c", around, "bash"]);
        let limit = ["timeout", "-k", "1", "60", &program, "run"];
        unshare
            .args(limit)
            .args(["--changes=undo", "--cwd", "tree"]);
        unshare.arg(command);
        product::run(unshare, None)
    };
    let change = "echo x > file; echo done";
    // Control: with a responsive file system.
    let ran = run("\"$@\"", change)?;
    ensure!(ran.code == 0 && !ran.stdout.contains("answer"), "{ran:?}");
    let hang = "> go; until grep -q \"$PWD fuse\" /proc/self/mounts; do sleep 0.05; done";
    let ran = run(HUNG_LATER, &format!("{change}; {hang}"))?;
    let expected_text = format!("{}{}", ran.stdout, ran.stderr);
    ensure!(
        ran.code == 0
            && expected_text.contains("done")
            && expected_text.contains("does not answer"),
        "{ran:?}"
    );
    world.assert_nothing_left(SOON);
    Ok(())
}

/// Runs `script` in the removed directory `p/x`, with `$ab` for the program and `$here` for the
/// directory.
fn bash_in_removed_directory(world: &World, program: &Path, script: &str) -> Result<Command> {
    let around = format!(
        "umask 022; mkdir -p p/x/sub && here=$PWD/p/x ab={} && cd p/x && chmod 0 .. || exit 77
        ! cd \"$here\" 2> /dev/null || exit 78
        {script}
        chmod 700 \"${{here%/x}}\"",
        program.display()
    );
    bash(world, 54333, &around)
}

#[test]
fn removed_directory_can_be_a_working_directory() -> Result<()> {
    let world = World::new()?;
    let program = program(&world)?;
    let here = world
        .cwd()
        .canonicalize()?
        .join("p/x")
        .display()
        .to_string();
    let missing =
        "Working directory is not accessible: {here}/missing: Permission denied (os error 13)";
    for (arguments, wanted) in [
        ("run pwd", "{here}\n"),
        ("run 'cd -P ./sub; pwd'", "{here}/sub\n"),
        ("run --cwd sub pwd", "{here}/sub\n"),
        ("run --cwd \"$here/sub\" pwd", "{here}/sub\n"),
        ("run --cwd missing pwd", missing),
        ("run --mode background pwd", "{here}\n"),
    ] {
        for shell in ["bash", "dash"] {
            let script = format!("AGENT_BASH_SHELL_PATH=$(type -p {shell}) \"$ab\" {arguments}");
            let ran = product::run(bash_in_removed_directory(&world, &program, &script)?, None)?;
            let wanted = wanted.replace("{here}", &here);
            ensure!(ran.stdout == wanted, "{shell}, {arguments}: {ran:?}");
        }
    }
    for shell in ["bash", "dash"] {
        let script = format!(
            "AGENT_BASH_SHELL_PATH=$(type -p {shell}) script -qec \"$ab run --pty pwd\" /dev/null"
        );
        let ran = product::run(bash_in_removed_directory(&world, &program, &script)?, None)?;
        ensure!(
            // `script` may echo a byte that ends its input.
            ran.stdout.contains(&format!("{here}\r\n")),
            "{shell}: {ran:?}"
        );
    }
    world.assert_nothing_left(SOON);
    Ok(())
}

#[test]
fn session_returns_to_a_removed_directory() -> Result<()> {
    let world = World::new()?;
    let mut server = ServerClient::start(bash_in_removed_directory(
        &world,
        &program(&world)?,
        "\"$ab\" rpc",
    )?)?;
    let here = world
        .cwd()
        .canonicalize()?
        .join("p/x")
        .display()
        .to_string();
    for (command, cwd, wanted) in [
        ("pwd; cd sub", None, "{here}\n"),
        ("pwd", None, "{here}/sub\n"),
        // The command then runs in another shell.
        ("exit", None, ""),
        ("pwd", None, "{here}/sub\n"),
        ("pwd", Some("."), "{here}\n"),
        ("cd /", None, ""),
        ("exit", None, ""),
        ("pwd", None, "/\n"),
        ("pwd", Some("sub"), "{here}/sub\n"),
        (
            "pwd",
            Some("missing"),
            "Working directory is not accessible",
        ),
    ] {
        let request = json!({"command": command, "cwd": cwd, "session": "s"});
        server.send(&json!({"id": command, "type": "tool_call", "request": request}))?;
        let answer = server.next(SOON)?;
        let text = answer["data"]["text"].as_str().context("a text")?;
        ensure!(
            text.starts_with(&wanted.replace("{here}", &here)),
            "{command}: {answer}"
        );
    }
    server.end()?;
    world.assert_nothing_left(SOON);
    Ok(())
}

#[test]
fn rpc_reports_why_the_shell_did_not_start() -> Result<()> {
    let world = World::new()?;
    let mut command = world.command(product::agent_bash()?);
    let missing = world.cwd().join("bash");
    command.arg("rpc").env("AGENT_BASH_SHELL_PATH", &missing);
    let mut server = ServerClient::start(command)?;
    server.send(&json!({"id": 1, "type": "bash", "command": "echo hi"}))?;
    let answer = server.next(SOON)?;
    ensure!(answer["success"] == false, "{answer}");
    let error = answer["error"].as_str().context("an error")?;
    let names = missing.display().to_string();
    ensure!(
        error.starts_with("not started: ") && error.contains(&names),
        "{error}"
    );
    ensure!(server.end()?.status.success(), "its end");
    world.assert_nothing_left(SOON);
    Ok(())
}
