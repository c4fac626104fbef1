//! Cases that need a subreaper: a process without any mark, directory or session, and a supervisor
//! that was not reaped. In their own program and sequentially, as being a subreaper is a property
//! of the whole process.

use agent_bash_tests::census::{Census, adopt_orphans};
use agent_bash_tests::poll;
use agent_bash_tests::procfs;
use agent_bash_tests::product;
use agent_bash_tests::server_client::ServerClient;
use agent_bash_tests::world::World;
use anyhow::Result;
use serde_json::{Value, json};
use std::sync::Mutex;
use std::time::Duration;

static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// Simulates a container whose pid 1 is not an init and reaps no orphans.
#[test]
fn rpc_server_reaps_its_supervisors_before_exit() {
    let _alone = ONE_AT_A_TIME.lock().unwrap();
    adopt_orphans().unwrap();
    let world = World::new().unwrap();
    let mut server = started(&world, "rpc").unwrap();
    for request in [
        json!({"command": "echo hi"}),
        json!({"command": "echo hi", "session": "named"}),
        json!({"command": "exit 3"}),
    ] {
        let call = json!({"type": "tool_call", "request": request});
        let answer = answer_to(&mut server, call).unwrap();
        assert_eq!(answer["success"], true, "{answer}");
    }
    end_without_orphans(server, world).unwrap();
}

#[test]
fn mcp_server_reaps_its_supervisors_before_exit() {
    let _alone = ONE_AT_A_TIME.lock().unwrap();
    adopt_orphans().unwrap();
    let world = World::new().unwrap();
    let mut server = started(&world, "mcp").unwrap();
    let hello = json!({"jsonrpc": "2.0", "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "0"}}});
    let answer = answer_to(&mut server, hello).unwrap();
    assert!(answer["result"].is_object(), "{answer}");
    let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    server.send(&ready).unwrap();
    for request in [
        json!({"command": "echo hi"}),
        json!({"command": "echo hi", "session": "named"}),
    ] {
        let call = json!({"jsonrpc": "2.0", "method": "tools/call",
            "params": {"name": "bash", "arguments": request}});
        let answer = answer_to(&mut server, call).unwrap();
        assert!(answer["result"]["content"].is_array(), "{answer}");
    }
    end_without_orphans(server, world).unwrap();
}

#[test]
fn run_command_reaps_its_supervisor() {
    let _alone = ONE_AT_A_TIME.lock().unwrap();
    adopt_orphans().unwrap();
    let world = World::new().unwrap();
    for (script, code) in [("true", 0), ("exit 3", 3), ("sleep 9 & exec true", 0)] {
        let mut command = world.command(product::agent_bash().unwrap());
        command
            .args(["run", script])
            .env("AGENT_BASH_SURVIVORS", "kill");
        let ended = command.output().unwrap();
        assert_eq!(ended.status.code(), Some(code), "{script}: {ended:?}");
        assert_eq!(children_of(std::process::id()), Vec::<String>::new());
    }
    world.assert_nothing_left(PATIENCE);
}

const PATIENCE: Duration = Duration::from_secs(60);

fn started(world: &World, server: &str) -> Result<ServerClient> {
    let mut command = world.command(product::agent_bash()?);
    command.arg(server);
    ServerClient::start(command)
}

/// Sends a message with a new id, and returns the answer.
fn answer_to(server: &mut ServerClient, mut message: Value) -> Result<Value> {
    let id = server.new_id();
    message["id"] = json!(id);
    server.send(&message)?;
    server.next_where(PATIENCE, |line| line["id"] == json!(id))
}

/// Ends the server. It had supervisors, and none of them has become a child of this process.
fn end_without_orphans(server: ServerClient, world: World) -> Result<()> {
    let supervisors = children_of(server.pid());
    assert!(
        supervisors.len() >= 2,
        "the server has too few supervisors: {supervisors:?}"
    );
    server.end()?;
    assert_eq!(children_of(std::process::id()), Vec::<String>::new());
    world.assert_nothing_left(PATIENCE);
    Ok(())
}

fn children_of(parent: u32) -> Vec<String> {
    procfs::processes()
        .into_iter()
        .filter(|one| one.parent == parent)
        .map(|one| one.to_string())
        .collect()
}

#[test]
fn orphan_without_any_mark_is_found() {
    let _alone = ONE_AT_A_TIME.lock().unwrap();
    let world = World::new().unwrap();
    let script = "cd /; env -i setsid sleep 301 </dev/null >/dev/null 2>&1 &";
    let sleeps = |census: &Census| {
        let left = census.end(Duration::ZERO);
        left.processes
            .iter()
            .any(|process| process.command == "sleep 301")
    };

    adopt_orphans().unwrap();
    let mut census = Census::new();
    census.watch_orphans();
    assert!(!sleeps(&census), "nothing was started yet");
    assert!(
        world
            .command("bash")
            .args(["-c", script])
            .status()
            .unwrap()
            .success()
    );
    let found = poll::until(Duration::from_secs(20), || sleeps(&census).then_some(()));
    assert!(found.is_some());
    assert!(
        world.leftovers(Duration::ZERO).processes.is_empty(),
        "the control is worth nothing: the world's own census sees it too"
    );

    assert!(census.kill_leftovers() >= 1);
    assert!(census.end(Duration::ZERO).processes.is_empty());
}
