//! The census finds leftovers. Every kind of search has its negative control here: a census that
//! misses something would make every other test worthless.

use agent_bash_tests::census::Census;
use agent_bash_tests::poll;
use agent_bash_tests::world::World;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How long a process may take to appear.
const SOON: Duration = Duration::from_secs(20);
/// A short time: the first check finds processes that keep running.
const NOW: Duration = Duration::ZERO;

/// Makes a shell leave a sleeping process in `world`; the arguments determine the marks that it
/// keeps.
fn leave_behind(world: &World, words: &str) {
    let script = format!("{words} sleep 300 </dev/null >/dev/null 2>&1 &");
    let status = world.command("bash").args(["-c", &script]).status();
    assert!(status.is_ok_and(|status| status.success()));
}

#[test]
fn empty_world_has_no_leftovers() {
    let world = World::new().unwrap();
    assert!(world.command("true").status().unwrap().success());
    let left = world.end(SOON);
    assert!(left.is_empty(), "{left}");
}

#[test]
fn leftover_process_is_found_whatever_marks_it_removed() {
    for words in ["", "setsid", "env -i", "env -i setsid", "cd / &&"] {
        let world = World::new().unwrap();
        leave_behind(&world, words);
        let seen = poll::until(SOON, || {
            let left = world.leftovers(NOW);
            let is_sleeper = |command: &str| command == "sleep 300";
            left.processes
                .iter()
                .any(|process| is_sleeper(&process.command))
                .then_some(())
        });
        assert!(seen.is_some(), "`{words} sleep` was not found");
        assert!(world.sweep() >= 1);
        let left = world.end(NOW);
        assert!(left.processes.is_empty(), "`{words}` was not ended: {left}");
    }
}

#[test]
fn process_of_another_world_is_no_leftover() {
    let (ours, neighbours) = (World::new().unwrap(), World::new().unwrap());
    leave_behind(&neighbours, "");
    assert!(ours.leftovers(NOW).is_empty());
    assert_eq!(ours.sweep(), 0);
    assert!(!neighbours.leftovers(NOW).is_empty());
}

#[test]
fn leftover_temporary_file_is_found() {
    let world = World::new().unwrap();
    let script = "mkdir $TMPDIR/a && touch $TMPDIR/a/b";
    assert!(
        world
            .command("bash")
            .args(["-c", script])
            .status()
            .unwrap()
            .success()
    );
    let left = world.end(NOW);
    assert_eq!(left.files.len(), 1);
    assert!(left.files[0].ends_with("a/b"), "{left}");
}

#[test]
fn leftover_descriptor_is_found() {
    let world = World::new().unwrap();
    let mut census = Census::new();
    census.watch_descriptors();
    let path = world.cwd().join("open");
    let file = std::fs::File::create(&path).unwrap();
    let is_ours = |left: &agent_bash_tests::census::Leftovers| {
        let end = path.display().to_string();
        left.descriptors.iter().any(|open| open.ends_with(&end))
    };
    // Other tests of this program open and close descriptors, too, so only this one is checked.
    assert!(is_ours(&census.end(NOW)));
    drop(file);
    assert!(!is_ours(&census.end(NOW)));
}

#[test]
fn child_between_fork_and_exec_is_no_leftover() {
    let world = World::new().unwrap();
    // Between `fork` and `exec`, children of other tests also have this descriptor open.
    let _open = std::fs::File::create(world.cwd().join("open")).unwrap();
    let neighbours = World::new().unwrap();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                world.sweep();
            }
        });
        let killed = (0..500).filter(|_| {
            let status = neighbours.command("true").status();
            !status.is_ok_and(|status| status.success())
        });
        let killed = killed.count();
        done.store(true, Ordering::Relaxed);
        assert_eq!(killed, 0, "programs were ended while they were started");
    });
}
