//! An orphan without mark, place or session is found by the process that adopts orphans. Alone in its program: adopting
//! is a state of the whole process.

use agent_bash_tests::census::{Census, adopt_orphans};
use agent_bash_tests::poll;
use agent_bash_tests::world::World;
use std::time::Duration;

#[test]
fn an_orphan_without_any_mark_is_found() {
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
