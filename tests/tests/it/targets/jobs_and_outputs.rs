//! Jobs, outputs and files on a target, seen from the local machine.

use super::{SOON, on};
use agent_bash_tests::product;
use agent_bash_tests::server_client::ServerClient;
use agent_bash_tests::targets::running::signal;
use agent_bash_tests::targets::{NAME, Sshd, command};
use agent_bash_tests::world::World;
use anyhow::{Context, Result, ensure};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::fs::{self, Permissions};
use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::fs::PermissionsExt as _;
use std::process::Stdio;

#[test]
fn jobs_and_outputs_of_target_are_listed_locally() -> Result<()> {
    let world = World::new()?;
    let sshd = Sshd::start(&world, None)?;
    let long = on(&world, &["run", "seq 50000"])?;
    assert_eq!(long.code, 0, "{long:?}");
    let listed = on(&world, &["artifact", "list"])?;
    assert!(listed.stdout.contains("artifact://0"), "{listed:?}");
    let page = on(&world, &["artifact", "show", "0", "--tail", "2"])?;
    assert_eq!(page.stdout, "49999\n50000\n", "{page:?}");
    let page = on(&world, &["artifact", "show", "0", "--limit", "1"])?;
    assert!(
        page.stderr.contains(&format!("--on {NAME}]")),
        "it goes on elsewhere: {page:?}"
    );
    let found = on(&world, &["artifact", "grep", "^4242$", "0"])?;
    assert!(found.stdout.contains("4242"), "{found:?}");

    let started = on(
        &world,
        &["run", "--mode", "background", "echo begun; sleep 600"],
    )?;
    assert_eq!(started.code, 0, "{started:?}");
    let jobs = on(&world, &["jobs", "list"])?;
    assert!(jobs.stdout.contains("running"), "{jobs:?}");
    // Not the local outputs, whose session has another name.
    let mut here = world.command(product::agent_bash()?);
    here.args(["jobs", "list"]);
    assert_eq!(product::run(here, None)?.stderr, "there are no jobs\n");
    let output = on(&world, &["jobs", "output", "1"])?;
    assert_eq!(output.stdout, "begun\n");
    assert_eq!(
        on(&world, &["jobs", "wait", "1", "--timeout", "1"])?.code,
        124
    );
    assert_eq!(on(&world, &["jobs", "kill", "1"])?.code, 0);
    assert_eq!(on(&world, &["jobs", "show", "7"])?.code, 1);
    // An outdated version of the program, and a file that is not one.
    let programs = world.home().join(".cache/agent-bash");
    let old = programs.join(format!("agent-bash-{}", "0".repeat(64)));
    for file in [&old, &programs.join("agent-bash-notes")] {
        fs::write(file, "")?;
    }
    let cleaned = on(&world, &["clean"])?;
    assert!(
        cleaned
            .stdout
            .starts_with("removed 1 artifact, 1 finished job"),
        "{cleaned:?}"
    );
    assert!(!old.exists());
    assert_eq!(
        fs::read_dir(&programs)?.count(),
        2,
        "this version and a file that is not one"
    );
    drop(sshd);
    world.assert_nothing_left(SOON);
    Ok(())
}

#[test]
fn remote_job_accepts_input_and_is_followed() -> Result<()> {
    let world = World::new()?;
    let sshd = Sshd::start(&world, None)?;
    let script =
        "echo begun; read -r a; echo got $a; read -r b; echo got $b; cat; printf 'end\\377'";
    let words = ["run", "--mode", "background", "--stdin=pipe", script];
    let started = on(&world, &words)?;
    assert_eq!(started.code, 0, "{started:?}");

    let mut following = command(&world, &["jobs", "output", "1", "--follow"])?;
    let mut following = following.stdout(Stdio::piped()).spawn()?;
    let mut printed = BufReader::new(following.stdout.take().context("stdout is piped")?);
    let mut line = String::new();
    printed.read_line(&mut line)?;
    assert_eq!(line, "begun\n");
    // The job is still running and reading.
    assert!(following.try_wait()?.is_none());
    let fed = on(&world, &["jobs", "input", "1", "one"])?;
    assert_eq!(fed.code, 0, "{fed:?}");
    let mut line = String::new();
    printed.read_line(&mut line)?;
    assert_eq!(line, "got one\n");
    let fed = product::run(command(&world, &["jobs", "input", "1"])?, Some("two\n"))?;
    assert_eq!(fed.code, 0, "{fed:?}");
    let closed = on(&world, &["jobs", "input", "1", "--close"])?;
    assert_eq!(closed.code, 0, "{closed:?}");
    let mut rest = Vec::new();
    printed.read_to_end(&mut rest)?;
    assert_eq!(rest, b"got two\nend\xff", "byte for byte");
    assert_eq!(following.wait()?.code(), Some(0));

    let last = on(&world, &["jobs", "output", "1", "--follow", "--tail", "2"])?;
    assert!(last.stdout.starts_with("got two\nend"), "{last:?}");
    let none = on(&world, &["jobs", "output", "7", "--follow"])?;
    assert_eq!(none.code, 1, "{none:?}");
    assert!(none.stderr.contains('7'), "{none:?}");

    // Cancelling ends only the watching.
    let words = ["run", "--mode", "background", "echo here; sleep 600"];
    assert_eq!(on(&world, &words)?.code, 0);
    let mut following = command(&world, &["jobs", "output", "2", "--follow"])?;
    let mut following = following.stdout(Stdio::piped()).spawn()?;
    let printed = following.stdout.take().context("stdout is piped")?;
    BufReader::new(printed).read_line(&mut line)?;
    signal(following.id(), Signal::INT)?;
    assert_eq!(following.wait()?.code(), Some(130));
    let jobs = on(&world, &["jobs", "list"])?;
    assert!(jobs.stdout.contains("running"), "{jobs:?}");
    assert_eq!(on(&world, &["jobs", "kill", "2"])?.code, 0);
    drop(sshd);
    world.assert_nothing_left(SOON);
    Ok(())
}

#[test]
fn clean_all_cleans_every_session_of_a_target() -> Result<()> {
    let world = World::new()?;
    let sshd = Sshd::start(&world, None)?;
    for state in ["one", "two"] {
        let ran = on(&world, &["run", "--state", state, "seq 50000"])?;
        assert_eq!(ran.code, 0, "{ran:?}");
    }
    let kept = |state: &str| on(&world, &["artifact", "list", "--state", state]);
    // Control: without `--all` only one session is cleaned.
    let one = on(&world, &["clean", "--state", "one"])?;
    assert!(one.stdout.starts_with("removed 1 artifact"), "{one:?}");
    assert!(kept("two")?.stdout.contains("artifact://0"));
    let ran = on(&world, &["run", "--state", "one", "seq 50000"])?;
    assert_eq!(ran.code, 0, "{ran:?}");
    let all = on(&world, &["clean", "--all"])?;
    assert!(all.stdout.starts_with("removed 2 artifacts"), "{all:?}");
    for state in ["one", "two"] {
        let kept = kept(state)?;
        assert_eq!(kept.stderr, "no outputs are stored\n", "{kept:?}");
    }
    drop(sshd);
    world.assert_nothing_left(SOON);
    Ok(())
}

#[test]
fn doctor_and_schema_describe_the_target() -> Result<()> {
    let world = World::new()?;
    let sshd = Sshd::start(&world, None)?;
    let doctor = on(&world, &["doctor"])?;
    assert!(doctor.stdout.contains("ok       shell"), "{doctor:?}");
    // The target reads its own settings, not those of local calls, and reports this.
    let first = doctor.stdout.lines().next().unwrap_or_default();
    assert!(first.starts_with("note     target"), "{doctor:?}");
    assert!(first.contains("the target's settings"), "{doctor:?}");
    let schema = on(&world, &["schema"])?;
    let schema: Value = serde_json::from_str(&schema.stdout)?;
    assert_eq!(schema["name"], "bash");
    drop(sshd);
    world.assert_nothing_left(SOON);
    Ok(())
}

#[test]
fn files_are_copied_both_ways_unchanged() -> Result<()> {
    let world = World::new()?;
    let sshd = Sshd::start(&world, None)?;
    let cp = |from: &str, to: &str| {
        let mut command = world.command(product::agent_bash()?);
        command.args(["cp", from, to]);
        product::run(command, None)
    };
    // Two and a half pieces.
    let bytes: Vec<u8> = (0..10_u32 << 20)
        .map(|at| (at.wrapping_mul(2_654_435_761) >> 24) as u8)
        .collect();
    let here = world.cwd().join("here");
    fs::write(&here, &bytes)?;
    fs::set_permissions(&here, Permissions::from_mode(0o750))?;
    fs::create_dir(world.cwd().join("there"))?;
    let at = |path: &str| format!("{NAME}:{path}");
    let sent = cp("here", &at("./there/"))?;
    assert_eq!(sent.code, 0, "{sent:?}");
    let there = world.cwd().join("there/here");
    assert!(fs::read(&there)? == bytes, "other bytes");
    let mode = |path: &std::path::Path| {
        fs::metadata(path).map(|found| found.permissions().mode() & 0o7777)
    };
    assert_eq!(mode(&there)?, 0o750);
    let back = cp(&at(&there.display().to_string()), "back")?;
    assert_eq!(back.code, 0, "{back:?}");
    assert!(fs::read(world.cwd().join("back"))? == bytes, "other bytes");
    assert_eq!(mode(&world.cwd().join("back"))?, 0o750);
    let into = cp(&at("./there/here"), "there/..")?;
    assert_eq!(into.code, 0, "{into:?}");
    let unsized_file = cp(&at("/proc/self/status"), "status")?;
    assert_eq!(unsized_file.code, 0, "{unsized_file:?}");
    assert!(fs::read_to_string(world.cwd().join("status"))?.starts_with("Name:"));

    for (from, to, code, printed) in [
        ("here", "there", 2, "neither path is on a target"),
        (&*at("/a"), &*at("/b"), 2, "both paths are on targets"),
        ("missing", &at("/tmp/x"), 125, "missing cannot be read"),
        (&at("./missing"), "x", 125, "missing"),
        (&at("./there"), "x", 125, "is a directory"),
        ("there", &at("./x"), 125, "not a regular file"),
        (&at("./here"), "no/such/place", 125, "cannot be written"),
    ] {
        let ran = cp(from, to)?;
        assert_eq!(ran.code, code, "{from} {to}: {ran:?}");
        assert!(ran.stderr.contains(printed), "{from} {to}: {ran:?}");
    }
    let mut names: Vec<_> = fs::read_dir(world.cwd())?
        .map(|entry| Ok(entry?.file_name()))
        .collect::<Result<_>>()?;
    names.sort();
    assert_eq!(
        names,
        ["back", "here", "status", "there"],
        "a part was left"
    );
    drop(sshd);
    world.assert_nothing_left(SOON);
    Ok(())
}

#[test]
fn turn_of_calls_is_undone_and_redone_on_the_target() -> Result<()> {
    let world = World::new()?;
    let sshd = Sshd::start(&world, None)?;
    let mut rpc = command(&world, &["rpc"])?;
    rpc.env("AGENT_BASH_CHANGES_LEVEL", "undo");
    let mut server = ServerClient::start(rpc)?;
    let mut ask = |mut request: Value| -> Result<Value> {
        let id = json!(server.new_id());
        request["id"] = id.clone();
        server.send(&request)?;
        let mut answer = server.next_where(SOON, |line| line["id"] == id)?;
        ensure!(answer["success"] == true, "{answer}");
        Ok(answer["data"].take())
    };
    for (turn, script) in [
        (json!("first"), "echo 1 > a"),
        (json!("second"), "echo 2 > a; echo 2 > b"),
        (Value::Null, "rm a"),
    ] {
        ask(json!({"type": "tool_call", "request": script, "turn": turn}))?;
    }
    let list = ask(json!({"type": "changes.list"}))?;
    let turns = [0, 1, 2].map(|at| &list["sets"][at]["turn"]);
    assert_eq!(turns, ["first", "second", "second"], "{list}");
    let undone = ask(json!({"type": "changes.undo_all", "turn": "last"}))?;
    assert_eq!(undone["turn"], "second", "{undone}");
    let a = world.cwd().join("a");
    assert_eq!(fs::read_to_string(&a)?, "1\n");
    assert!(!world.cwd().join("b").exists());
    ask(json!({"type": "changes.redo_all", "turn": "second"}))?;
    assert!(!a.exists() && world.cwd().join("b").exists());
    assert!(server.end()?.status.success());
    drop(sshd);
    world.assert_nothing_left(SOON);
    Ok(())
}
