//! What only a subreaper can see: a process without any mark, place or session, and a supervisor that was not
//! reaped. In a program of their own and sequentially, as being a subreaper is a state of the whole process.

use agent_bash_tests::census::{Census, adopt_orphans};
use agent_bash_tests::conversation::Conversation;
use agent_bash_tests::poll;
use agent_bash_tests::procfs;
use agent_bash_tests::product;
use agent_bash_tests::world::World;
use serde_json::json;
use std::sync::Mutex;
use std::time::Duration;

static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// Simulates a container whose pid 1 is not an init: nobody else reaps what a server leaves.
#[test]
fn a_server_reaps_its_supervisors_before_it_ends() {
    let _alone = ONE_AT_A_TIME.lock().unwrap();
    adopt_orphans().unwrap();
    let world = World::new().unwrap();
    let mut command = world.command(product::agent_bash().unwrap());
    command.arg("rpc");
    let mut server = Conversation::start(command).unwrap();
    let patience = Duration::from_secs(60);
    for request in [
        json!({"command": "echo hi"}),
        json!({"command": "echo hi", "session": "named"}),
        json!({"command": "exit 3"}),
    ] {
        let id = server.new_id();
        let call = json!({"id": id, "type": "tool_call", "request": request});
        server.send(&call).unwrap();
        let answer = server
            .next_where(patience, |line| line["id"] == id)
            .unwrap();
        assert_eq!(answer["success"], true, "{answer}");
    }
    let pid = server.pid();
    let supervisors = || {
        procfs::processes()
            .into_iter()
            .filter(|one| one.parent == pid)
    };
    assert!(supervisors().count() >= 2, "nobody was there to be reaped");
    server.end().unwrap();
    let me = std::process::id();
    let left = procfs::processes()
        .into_iter()
        .filter(|one| one.parent == me);
    let left: Vec<String> = left.map(|one| one.to_string()).collect();
    assert_eq!(left, Vec::<String>::new());
    world.assert_nothing_left(patience);
}

#[test]
fn an_orphan_without_any_mark_is_found() {
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
        world.left(Duration::ZERO).processes.is_empty(),
        "the control is worth nothing: the world's own census sees it too"
    );

    assert!(census.kill_leftovers() >= 1);
    assert!(census.end(Duration::ZERO).processes.is_empty());
}
