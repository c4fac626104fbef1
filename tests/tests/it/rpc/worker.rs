//! `agent-bash rpc --worker` as a host sees it: the handshake, and leftovers after either side
//! disconnects.
//!
//! Over pipes. The engines' own tests cover the transports.

use super::{SOON, answer, ask, data, world};
use agent_bash_tests::server_client::ServerClient;
use agent_bash_tests::world::World;
use agent_bash_tests::{poll, procfs, product};
use anyhow::{Context, Result, ensure};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::fs::{self, File};
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::Duration;

/// The time that a call may take to end on SIGTERM, and the worker after it: the grace period and 2
/// s.
const ENDING: Duration = Duration::from_secs(2 + 2);

/// Additional time for a busy machine.
const SLACK: Duration = Duration::from_secs(10);

fn worker(world: &World) -> Result<ServerClient> {
    let mut command = world.command(product::agent_bash()?);
    command.args(["rpc", "--worker"]);
    ServerClient::start(command)
}

fn hello(more: &Value) -> Value {
    let mut hello = json!({"type": "hello", "protocol": 1, "session": "s", "token": "t0ken"});
    let more = more.as_object().cloned().unwrap_or_default();
    hello
        .as_object_mut()
        .into_iter()
        .for_each(|hello| hello.extend(more.clone()));
    hello
}

fn call(script: &str) -> Value {
    json!({"type": "tool_call", "request": {"command": script}, "findings": {}})
}

/// A worker after the handshake.
fn start_worker(world: &World, more: &Value) -> Result<(ServerClient, Value)> {
    let mut worker = worker(world)?;
    let printed = data(&mut worker, hello(more))?;
    Ok((worker, printed))
}

#[test]
fn worker_requires_a_handshake_of_its_own_version() -> Result<()> {
    let world = world()?;
    for (first, error) in [
        (json!({"type": "ping"}), "must be `hello`"),
        (json!({"type": "hello"}), "`protocol` is missing"),
        (
            json!({"type": "hello", "protocol": 7}),
            "version 1 of the protocol, and not 7",
        ),
    ] {
        let mut worker = worker(&world)?;
        let answer = ask(&mut worker, first)?;
        assert_eq!(answer["code"], "protocol", "{answer}");
        assert!(
            answer["error"]
                .as_str()
                .is_some_and(|printed| printed.contains(error)),
            "{answer}"
        );
        let ended = worker.end()?;
        assert_eq!(ended.status.code(), Some(1));
    }
    for (wrong, error) in [
        (json!({"settings": {"profil": "paged"}}), "`profile`"),
        (json!({"session": "../x"}), "../x"),
        (json!({"lease": "soon"}), "`lease`"),
    ] {
        let mut worker = worker(&world)?;
        let answer = ask(&mut worker, hello(&wrong))?;
        assert!(
            answer["error"]
                .as_str()
                .is_some_and(|printed| printed.contains(error)),
            "{answer}"
        );
        assert_eq!(worker.end()?.status.code(), Some(1));
    }
    world.assert_nothing_left(SOON);
    Ok(())
}

#[test]
fn settings_of_hello_apply_and_appear_in_no_listing() -> Result<()> {
    let world = world()?;
    fs::create_dir(world.home().join("work"))?;
    let config = world.home().join(".config/agent-bash");
    fs::create_dir_all(&config)?;
    fs::write(config.join("config.toml"), "profile = \"modes\"\n")?;
    let mut command = world.command(product::agent_bash()?);
    command
        .args(["rpc", "--worker"])
        .env("AGENT_BASH_LOG", "trace");
    let mut worker = ServerClient::start(command)?;
    let printed = data(
        &mut worker,
        hello(&json!({
            "settings": {"profile": "paged", "environment.set": {"SET": "s3cret-set"}},
            "cwd": "~/work",
            "env": {"ADDED": "s3cret-env"},
        })),
    )?;
    let work = world.home().join("work").display().to_string();
    assert_eq!(printed["profile"], "paged", "not this machine's");
    assert_eq!(printed["cwd"], json!(work));
    assert_eq!(printed["home"], json!(world.home()));
    assert_eq!(printed["uid"], rustix::process::geteuid().as_raw());
    assert_eq!(printed["pid"], worker.pid());
    assert!(
        printed["bash"]
            .as_str()
            .is_some_and(|bash| Path::new(bash).exists()),
        "{printed}"
    );
    assert_eq!(
        (&printed["os"], &printed["known"]),
        (&json!("linux"), &json!(false))
    );
    let result = data(&mut worker, call("echo $ADDED $SET; pwd"))?;
    assert_eq!(
        result["text"],
        format!("s3cret-env s3cret-set\n{work}\n"),
        "{result}"
    );
    for process in procfs::processes() {
        assert!(!process.command.contains("s3cret"), "{process}");
    }
    let ended = worker.end()?;
    assert!(!ended.stderr.is_empty(), "there is a log");
    for secret in ["s3cret", "t0ken"] {
        assert!(!ended.stderr.contains(secret), "{}", ended.stderr);
    }
    world.assert_nothing_left(SOON);
    Ok(())
}

#[test]
fn worker_runs_only_checked_calls() -> Result<()> {
    let world = world()?;
    let (mut worker, _) = start_worker(&world, &json!({}))?;
    for unjudged in [
        json!({"type": "tool_call", "request": {"command": "touch ran"}}),
        json!({"type": "adapter_call", "adapter": "codex", "tool": "exec_command", "input": {"cmd": "touch ran"}}),
    ] {
        let answer = ask(&mut worker, unjudged)?;
        assert_eq!(answer["code"], "not_judged", "{answer}");
    }
    assert!(!world.cwd().join("ran").exists());
    data(&mut worker, call("touch ran"))?;
    assert!(world.cwd().join("ran").exists());
    let mut plain = super::server(&world)?;
    let answer = ask(&mut plain, call("touch more"))?;
    assert_eq!(answer["success"], false, "{answer}");
    assert!(!world.cwd().join("more").exists());
    drop((worker, plain));
    world.assert_nothing_left(SOON);
    Ok(())
}

#[test]
fn returning_host_finds_its_jobs_and_outputs_and_other_hosts_do_not() -> Result<()> {
    let world = world()?;
    let (mut first, printed) = start_worker(&world, &json!({}))?;
    assert_eq!(printed["known"], false);
    let job = json!({"type": "tool_call", "findings": {}, "request":
        {"command": "while [ ! -e over ]; do sleep 0.05; done; echo done", "mode": "background"}});
    let started = data(&mut first, job)?;
    assert_eq!(
        started["status"]["kind"], "moved_to_background",
        "{started}"
    );
    let long = data(&mut first, call("seq 100000"))?;
    assert_eq!(first.end()?.status.code(), Some(0));

    let mut other = worker(&world)?;
    let answer = ask(&mut other, hello(&json!({"token": "guessed"})))?;
    assert_eq!(answer["code"], "token", "{answer}");

    let (mut second, printed) = start_worker(&world, &json!({}))?;
    assert_eq!(printed["known"], true);
    let jobs = data(&mut second, json!({"type": "jobs.list"}))?;
    assert_eq!(jobs["jobs"][0]["state"]["kind"], "running", "{jobs}");
    let page = data(
        &mut second,
        json!({"type": "artifact.show", "artifact": long["artifacts"][0]["id"], "tail": 1}),
    )?;
    assert_eq!(page["text"], "100000\n");
    File::create(world.cwd().join("over"))?;
    let job = &jobs["jobs"][0]["id"];
    let ended = data(&mut second, json!({"type": "jobs.wait", "job": job}))?;
    assert_eq!(ended["job"]["state"]["ending"]["code"], 0, "{ended}");
    drop((other, second));
    world.assert_nothing_left(SOON);
    Ok(())
}

#[test]
fn host_that_breaks_the_protocol_is_disconnected() -> Result<()> {
    let world = world()?;
    for line in ["{\"id\": 1, \"type\": \"dance\"}\n", "no json\n", "[]\n"] {
        let (mut worker, _) = start_worker(&world, &json!({}))?;
        worker.send(&json!({"id": "c", "type": "tool_call", "request": {"command": "sleep 600"}, "findings": {}}))?;
        worker.send_bytes(line.as_bytes())?;
        // The worker exits although its input is still open.
        let answer = answer(&worker, &json!("c"))?;
        assert_eq!(answer["data"]["status"]["kind"], "cancelled", "{answer}");
        assert!(has_exited(worker.pid(), SOON), "it goes on after {line:?}");
    }
    let (mut worker, _) = start_worker(&world, &json!({}))?;
    // The worker may exit before all input is sent.
    let _ = worker.send_bytes(&vec![b'x'; 9 << 20]);
    let _ = worker.send_bytes(b"\n");
    assert!(
        has_exited(worker.pid(), SOON),
        "it reads on after a line that is too long"
    );
    drop(worker);
    world.assert_nothing_left(SOON);
    Ok(())
}

/// True if a process exits within that time. A zombie counts as exited.
fn has_exited(pid: u32, patience: Duration) -> bool {
    let look = || (!procfs::process(pid).is_some_and(|process| process.is_alive())).then_some(());
    poll::until(patience, look).is_some()
}

/// A host in its own process, and its worker.
struct Pair {
    host: Child,
    worker: Child,
}

impl Pair {
    /// A host that sends these lines, then `ping` repeatedly.
    fn start(world: &World, lines: &[Value]) -> Result<Self> {
        let say: Vec<String> = lines
            .iter()
            .map(|line| format!("echo '{line}'; "))
            .collect();
        let say = say.concat();
        let ping = "while sleep 0.1; do echo '{\"type\": \"ping\"}'; done";
        let mut host = world.command("bash");
        host.args(["-c", &format!("{say}{ping}")]);
        let mut host = host.stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
        let printed = host.stdout.take().context("stdout is piped")?;
        let mut worker = world.command(product::agent_bash()?);
        worker.args(["rpc", "--worker"]);
        worker.stdin(printed).stdout(Stdio::null());
        let worker = worker.spawn()?;
        Ok(Self { host, worker })
    }

    fn signal_host(&self, signal: Signal) -> Result<()> {
        let pid = Pid::from_raw(self.host.id().cast_signed()).context("a pid")?;
        Ok(kill_process(pid, signal)?)
    }
}

impl Drop for Pair {
    fn drop(&mut self) {
        // SIGKILL also ends a stopped host. The end of its output then ends the worker.
        let _ = self.host.kill();
        let _ = self.host.wait();
        let _ = self.worker.wait();
    }
}

/// A call that writes its shell's pid into the file `name`, ignores SIGTERM, and keeps running.
fn unending_call(name: &str) -> Value {
    call(&format!(
        "trap \"\" TERM; echo $$ > {name}.part; mv {name}.part {name}; while :; do sleep 1; done"
    ))
}

fn pid_in(path: &Path) -> Result<u32> {
    poll::exists(path, SOON)?;
    Ok(fs::read_to_string(path)?.trim().parse()?)
}

#[test]
fn killed_host_leaves_no_processes() -> Result<()> {
    let world = world()?;
    let lines = [hello(&json!({"lease": "60s"})), unending_call("pid")];
    let mut pair = Pair::start(&world, &lines)?;
    let pid = pid_in(&world.cwd().join("pid"))?;
    pair.signal_host(Signal::KILL)?;
    assert!(
        has_exited(pid, Duration::from_secs(3) + SLACK),
        "the call goes on"
    );
    assert!(pair.worker.wait()?.success());
    drop(pair);
    world.assert_nothing_left(SOON);
    Ok(())
}

#[test]
fn stopped_host_is_lost_after_its_lease_and_never_without_one() -> Result<()> {
    const LEASE: Duration = Duration::from_secs(2);
    let world = world()?;
    let leased = [hello(&json!({"lease": 2})), unending_call("leased")];
    let unleased = [hello(&json!({"session": "u"})), unending_call("unleased")];
    let leased = Pair::start(&world, &leased)?;
    let unleased = Pair::start(&world, &unleased)?;
    let leased_pid = pid_in(&world.cwd().join("leased"))?;
    let unleased_pid = pid_in(&world.cwd().join("unleased"))?;
    // Pings extend the lease.
    assert!(
        !has_exited(leased.worker.id(), LEASE * 2),
        "it ended although its host spoke"
    );
    for pair in [&leased, &unleased] {
        pair.signal_host(Signal::STOP)?;
    }
    assert!(
        has_exited(leased_pid, LEASE + ENDING + SLACK),
        "its call goes on"
    );
    assert!(has_exited(leased.worker.id(), ENDING + SLACK), "it goes on");
    // Control: without a lease.
    assert!(!has_exited(unleased_pid, LEASE + ENDING));
    assert!(!has_exited(unleased.worker.id(), Duration::ZERO));
    drop((leased, unleased));
    world.assert_nothing_left(SOON);
    Ok(())
}

#[test]
fn files_are_uploaded_and_downloaded_in_pieces() -> Result<()> {
    let world = world()?;
    let (mut worker, _) = start_worker(&world, &json!({}))?;
    let write = json!({"type": "file.write", "path": "file", "data": "b25lIA==", "more": true, "mode": 0o640});
    let begun = data(&mut worker, write)?;
    assert!(!world.cwd().join("file").exists());
    let last =
        json!({"type": "file.write", "path": "file", "data": "dHdv", "upload": begun["upload"]});
    assert_eq!(data(&mut worker, last)?, json!({"size": 7}));
    assert_eq!(fs::read_to_string(world.cwd().join("file"))?, "one two");
    let read = data(
        &mut worker,
        json!({"type": "file.read", "path": "file", "offset": 4}),
    )?;
    assert_eq!(
        read,
        json!({"data": "dHdv", "size": 7, "mode": 0o640, "at_end": true})
    );
    let missing = ask(&mut worker, json!({"type": "file.read", "path": "missing"}))?;
    assert_eq!(missing["code"], "not_found", "{missing}");
    // An unfinished upload is removed with its host.
    data(
        &mut worker,
        json!({"type": "file.write", "path": "half", "data": "", "more": true}),
    )?;
    ensure!(worker.end()?.status.success());
    assert_eq!(fs::read_dir(world.cwd())?.count(), 1);
    world.assert_nothing_left(SOON);
    Ok(())
}
