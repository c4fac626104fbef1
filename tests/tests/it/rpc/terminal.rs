//! Requests about terminals.

use super::{SOON, ask, data, server, world};
use anyhow::Result;
use serde_json::{Value, json};

#[test]
fn terminal_is_started_typed_into_read_and_ended() -> Result<()> {
    let world = world()?;
    let mut server = server(&world)?;
    let script = "read -rp 'Name: ' name; echo \"Hello $name\"; stty size; sleep 600";
    let start = json!({"type": "terminal.start", "request": script, "size": "60x12"});
    let started = data(&mut server, start)?;
    let terminal = &started["terminal"];
    assert_eq!(terminal, "1");
    let mut wait = |until: Value| {
        let screen =
            json!({"type": "terminal.screen", "terminal": terminal, "until": until, "timeout": 50});
        data(&mut server, screen)
    };
    let prompt = wait(json!({"line": "^Name:"}))?;
    assert_eq!(prompt["screen"]["text"], "Name:");
    assert_eq!(
        (
            &prompt["screen"]["cursor_row"],
            &prompt["screen"]["cursor_col"]
        ),
        (&json!(1), &json!(7))
    );
    assert_eq!(prompt["met"]["kind"], "line");
    let input = json!({"type": "terminal.input", "terminal": terminal, "text": "Ann", "keys": ["Enter"],
                       "until": {"line": "^12 60$"}, "timeout": 50});
    let typed = data(&mut server, input)?;
    assert_eq!(typed["screen"]["text"], "Name: Ann\nHello Ann\n12 60");
    let quiet =
        json!({"type": "terminal.screen", "terminal": terminal, "until": {"quiet_ms": 100}});
    let quiet = data(&mut server, quiet)?;
    assert_eq!(quiet["met"], json!({"kind": "quiet", "ms": 100}));
    assert!(quiet.get("result").is_none(), "{quiet}");
    let ended = json!({"type": "terminal.end", "terminal": terminal});
    let ended = data(&mut server, ended)?;
    assert_eq!(ended["result"]["status"]["kind"], "cancelled");
    assert_eq!(ended["screen"]["text"], "Name: Ann\nHello Ann\n12 60");
    let unknown = ask(
        &mut server,
        json!({"type": "terminal.screen", "terminal": "7"}),
    )?;
    assert_eq!(
        unknown["error"],
        "there is no terminal 7; start one with `terminal.start`"
    );
    drop(server);
    world.assert_nothing_left(SOON);
    Ok(())
}

/// A command that still runs ends with the server.
#[test]
fn command_that_ends_at_once_has_its_result() -> Result<()> {
    let world = world()?;
    let mut server = server(&world)?;
    let start = json!({"type": "terminal.start", "request": {"command": "echo hi; exit 3"}});
    let ended = data(&mut server, start)?;
    assert!(ended.get("terminal").is_none(), "{ended}");
    assert_eq!(
        ended["result"]["status"],
        json!({"kind": "exited", "code": 3})
    );
    let start = json!({"type": "terminal.start", "request": {"command": "rm -rf /"}});
    let blocked = data(&mut server, start)?;
    assert_eq!(blocked["result"]["status"]["kind"], "blocked");
    let start = json!({"type": "terminal.start", "request": "trap '' HUP; sleep 600"});
    let running = data(&mut server, start)?;
    assert_eq!(running["terminal"], "1", "{running}");
    drop(server);
    world.assert_nothing_left(SOON);
    Ok(())
}

#[test]
fn job_is_awaited_until_it_is_quiet() -> Result<()> {
    let world = world()?;
    let mut server = server(&world)?;
    let call = json!({"command": "echo one; sleep 600", "mode": "background"});
    let started = data(&mut server, json!({"type": "tool_call", "request": call}))?;
    let job = &started["status"]["job"];
    let printed =
        json!({"type": "jobs.wait", "job": job, "until": {"line": "^one$"}, "timeout": 50});
    data(&mut server, printed)?;
    let wait = json!({"type": "jobs.wait", "job": job, "until": {"quiet_ms": 300}, "timeout": 50});
    let waited = data(&mut server, wait)?;
    assert_eq!(
        waited["met"],
        json!({"kind": "quiet", "ms": 300}),
        "{waited}"
    );
    assert_eq!(
        (&waited["over"], &waited["output"]),
        (&json!(false), &json!("one\n"))
    );
    data(&mut server, json!({"type": "jobs.kill", "job": job}))?;
    drop(server);
    world.assert_nothing_left(SOON);
    Ok(())
}
