//! Concurrent requests: the order in which they start, and their ids.

use super::checks::answers;
use super::{SOON, answer, data, server, world};
use anyhow::{Context, Result};
use serde_json::{Value, json};

/// Calls sent at once.
const CALLS: usize = 20;

#[test]
fn calls_of_one_session_run_in_sending_order() -> Result<()> {
    let world = world()?;
    let mut server = server(&world)?;
    data(&mut server, json!({"type": "tool_call", "request": "true"}))?;
    let cwd = world.cwd();
    let calls: [(&str, &dyn Fn(usize) -> Value); 3] = [
        (
            "plain",
            &|_| json!({"type": "tool_call", "request": {"command": "echo $((++n))", "session": "plain"}}),
        ),
        // Some take longer to check than others.
        ("mixed", &|at| {
            let mut request = json!({"command": "echo $((++n))", "session": "mixed"});
            if at.is_multiple_of(3) {
                request["cwd"] = json!(cwd);
            }
            if at.is_multiple_of(5) {
                request["command"] = json!(format!("echo $((++n)){}", " # padding".repeat(5000)));
            }
            json!({"type": "tool_call", "request": request})
        }),
        ("adapter", &|_| {
            json!({"type": "adapter_call", "adapter": "anthropic-bash", "tool": "bash",
                   "input": {"command": "echo $((++n))"}})
        }),
    ];
    for (name, call) in calls {
        let mut lines = String::new();
        for at in 1..=CALLS {
            let mut call = call(at);
            call["id"] = json!(format!("{name} {at}"));
            lines += &call.to_string();
            lines.push('\n');
        }
        server.send_bytes(lines.as_bytes())?;
        let mut printed = vec![0; CALLS];
        for _ in 0..CALLS {
            let answer = server.next(SOON)?;
            let id = answer["id"].as_str().context("an id")?;
            let at: usize = id.rsplit(' ').next().unwrap_or_default().parse()?;
            let text = answer["data"]["text"].as_str();
            let text = text.or_else(|| answer["data"]["content"].as_str());
            printed[at - 1] = text
                .with_context(|| answer.to_string())?
                .trim()
                .parse::<usize>()?;
        }
        assert_eq!(printed, (1..=CALLS).collect::<Vec<_>>(), "{name}");
    }
    // A turn begins before the command after it; of two commands the first one runs.
    for id in 0..10 {
        let go = cwd.join(format!("go{id}"));
        let until = format!("until [ -e {} ]; do sleep 0.02; done", go.display());
        let lines = format!(
            "{}\n{}\n{}\n",
            json!({"type": "session.begin_turn"}),
            json!({"id": "first", "type": "bash", "command": format!("{until}; echo first")}),
            json!({"id": "second", "type": "bash", "command": "echo second"}),
        );
        server.send_bytes(lines.as_bytes())?;
        let refused = answer(&server, &json!("second"))?;
        assert_eq!(refused["success"], false, "{id}: {refused}");
        std::fs::write(go, "")?;
        let ran = answer(&server, &json!("first"))?;
        assert_eq!(ran["data"]["output"], "first\n", "{id}: {ran}");
        let held = data(&mut server, json!({"type": "session.end_turn"}))?;
        assert_eq!(held["messages"].as_array().map(Vec::len), Some(1), "{held}");
    }
    assert!(server.end()?.status.success());
    world.assert_nothing_left(SOON);
    Ok(())
}

#[test]
fn reset_abandons_a_stuck_session() -> Result<()> {
    let world = world()?;
    let mut server = server(&world)?;
    let call = |id: &str, command: &str| json!({"id": id, "type": "tool_call", "request": {"command": command, "session": "s"}});
    server.send(&call("stuck", "echo > stuck; sleep 600"))?;
    server.send(&call("behind", "echo behind"))?;
    let is_stuck = || world.cwd().join("stuck").exists().then_some(());
    agent_bash_tests::poll::until(SOON, is_stuck).context("it is not stuck")?;
    server.send(&json!({"id": "reset", "type": "session.reset", "session": "s"}))?;
    server.send(&call("new", "echo new"))?;
    let [reset, behind, new] = answers(&server, ["reset", "behind", "new"])?;
    assert_eq!(reset["data"]["reset"], true, "{reset}");
    assert_eq!(behind["data"]["text"], "behind\n", "{behind}");
    assert_eq!(new["data"]["text"], "new\n", "{new}");
    let cancelled = data(&mut server, json!({"type": "cancel", "target": "stuck"}))?;
    assert_eq!(cancelled["cancelled"], true);
    assert!(server.end()?.status.success());
    world.assert_nothing_left(SOON);
    Ok(())
}

#[test]
fn id_in_flight_cannot_be_reused() -> Result<()> {
    let world = world()?;
    let mut server = server(&world)?;
    for id in [json!(7), json!("seven")] {
        let call = |command: &str| json!({"id": id, "type": "tool_call", "request": command});
        let go = world.cwd().join(id.to_string().replace('"', ""));
        let until = format!("until [ -e {} ]; do sleep 0.02; done", go.display());
        server.send(&call(&format!("{until}; echo first")))?;
        server.send(&call("echo second"))?;
        let refused = server.next(SOON)?;
        assert_eq!(
            (&refused["id"], &refused["success"]),
            (&id, &json!(false)),
            "{refused}"
        );
        let error = refused["error"].as_str().context("an error")?;
        assert!(
            error.contains(&format!("the id {id} is in flight")),
            "{error}"
        );
        std::fs::write(go, "")?;
        let answered = server.next(SOON)?;
        assert_eq!(answered["data"]["text"], "first\n", "{answered}");
        // The id is free again, however quickly it is reused.
        for _ in 0..20 {
            server.send(&call("echo third"))?;
            let answered = server.next(SOON)?;
            assert_eq!(answered["data"]["text"], "third\n", "{answered}");
        }
    }
    assert!(server.end()?.status.success());
    world.assert_nothing_left(SOON);
    Ok(())
}
