//! `bash_output` with `until`: for a background job, and for a call that continues with a handle.

use super::{SOON, call, server, text, world};
use agent_bash_tests::server_client::ServerClient;
use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

/// Waits for each condition of a job or call that listens on a port, and whose output goes on only
/// when a file exists.
fn conditions(server: &mut ServerClient, name: &str, cwd: &std::path::Path) -> Result<()> {
    let mut read = |until: Value, wait: f64| {
        let arguments = json!({"job": name, "until": until, "wait": wait});
        call(server, "bash_output", &arguments)
    };
    let shown = read(json!({"line": "^rea"}), 50.0)?;
    ensure!(text(&shown).starts_with("ready\n"), "{shown}");
    ensure!(
        text(&shown).contains("Waited until a line matches: ready."),
        "{shown}"
    );
    // Only unread output counts.
    let shown = read(json!({"line": "^rea"}), 0.2)?;
    ensure!(
        text(&shown).contains("No condition was met in time."),
        "{shown}"
    );
    let shown = read(json!({"file": "port"}), 50.0)?;
    ensure!(text(&shown).contains("/port exists."), "{shown}");
    let port: u16 = std::fs::read_to_string(cwd.join("port"))?.parse()?;
    let shown = read(json!({"port": port}), 50.0)?;
    ensure!(
        text(&shown).contains(&format!("127.0.0.1:{port} answers")),
        "{shown}"
    );
    std::fs::write(cwd.join("go"), "")?;
    let shown = read(json!({"line": "none", "port": 1}), 50.0)?;
    ensure!(text(&shown).contains("done"), "{shown}");
    ensure!(!text(&shown).contains("condition"), "{shown}");
    Ok(())
}

const SCRIPT: &str = "echo ready; misbehave listen port & until [ -e go ]; do sleep 0.02; done; \
                      kill $!; echo done";

#[test]
fn output_of_a_job_is_awaited_until_a_condition_is_met() -> Result<()> {
    let world = world()?;
    let mut server = server(&world, "0")?;
    call(
        &mut server,
        "bash",
        &json!({"command": SCRIPT, "mode": "background"}),
    )?;
    conditions(&mut server, "1", &world.cwd())?;
    drop(server);
    world.assert_nothing_left(SOON);
    Ok(())
}

/// A server whose output goes elsewhere is a job without a stored output: the model can wait for
/// its port, and reads whether it runs.
#[test]
fn survivor_without_stored_output_is_awaited_and_described() -> Result<()> {
    let world = world()?;
    let mut server = server(&world, "0")?;
    let script = "misbehave listen port >/dev/null 2>&1 & until [ -s port ]; do sleep 0.02; done";
    call(&mut server, "bash", &json!({"command": script}))?;
    let port: u16 = std::fs::read_to_string(world.cwd().join("port"))?.parse()?;
    let until = json!({"job": "1", "until": {"port": port}, "wait": 50});
    let shown = call(&mut server, "bash_output", &until)?;
    ensure!(
        text(&shown).starts_with("[Job 1 is running")
            && text(&shown).contains(&format!("127.0.0.1:{port} answers"))
            && text(&shown).ends_with(" Its output is not stored.]"),
        "{shown}"
    );
    ensure!(shown["isError"] != true, "{shown}");
    // The output of a background job is stored.
    let background = json!({"command": "echo stored", "mode": "background"});
    call(&mut server, "bash", &background)?;
    let stored = call(&mut server, "bash_output", &json!({"job": "2", "wait": 50}))?;
    ensure!(
        text(&stored).starts_with("stored\n") && !text(&stored).contains("not stored"),
        "{stored}"
    );
    call(&mut server, "bash_kill", &json!({"job": "1"}))?;
    drop(server);
    world.assert_nothing_left(SOON);
    Ok(())
}

#[test]
fn output_of_a_call_with_a_handle_is_awaited_until_a_condition_is_met() -> Result<()> {
    let world = world()?;
    let mut server = server(&world, "50ms")?;
    let answer = call(&mut server, "bash", &json!({"command": SCRIPT}))?;
    let name = text(&answer)
        .split_whitespace()
        .find(|word| word.starts_with("call-"));
    let name = name
        .context("no handle")?
        .trim_end_matches(|c: char| !c.is_ascii_digit());
    // The answer with the handle may have shown the first line.
    let (name, cwd) = (name.to_owned(), world.cwd());
    let all = json!({"job": name, "until": {"line": "^rea"}, "offset": 0, "wait": 50});
    let shown = call(&mut server, "bash_output", &all)?;
    ensure!(
        text(&shown).contains("Waited until a line matches: ready."),
        "{shown}"
    );
    std::fs::write(cwd.join("go"), "")?;
    let last = json!({"job": name, "until": {"line": "none"}});
    let shown = call(&mut server, "bash_output", &last)?;
    ensure!(text(&shown).contains("done"), "{shown}");
    drop(server);
    world.assert_nothing_left(SOON);
    Ok(())
}
