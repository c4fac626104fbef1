//! Where there is no room for a line: the next one can be read. A limit on the size of files does
//! what a full disk does, to a process of its own.

use super::{entry, options, read};
use agent_bash_journal::{Journal, JournalLevel};
use rustix::process::{Resource, Rlimit, setrlimit};
use std::path::PathBuf;
use std::process::Command;

const STATE: &str = "JOURNAL_TEST_NO_ROOM";

/// Not a test: what the test below starts, where a write beyond a limit is an error, not a signal.
/// By itself it does nothing.
#[test]
fn without_room() {
    let Some(state) = std::env::var_os(STATE).map(PathBuf::from) else {
        return;
    };
    let journal = Journal::new(options(&state, JournalLevel::Full));
    journal.record(&entry("before")).unwrap();
    let limit = |bytes| Rlimit {
        current: Some(bytes),
        maximum: None,
    };
    // A part of the next line has room.
    setrlimit(Resource::Fsize, limit(1000)).unwrap();
    let error = journal.record(&entry(&"long ".repeat(400))).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::FileTooLarge);
    setrlimit(Resource::Fsize, limit(100_000)).unwrap();
    journal.record(&entry("after")).unwrap();
}

#[test]
fn after_a_line_that_had_no_room_the_next_one_is_read() {
    let state = tempfile::tempdir().unwrap();
    let script = r#"trap "" XFSZ; exec "$0" --exact no_room::without_room --nocapture"#;
    let output = Command::new("bash")
        .args(["-c", script])
        .arg(std::env::current_exe().unwrap())
        .env(STATE, state.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let recorded = read(state.path());
    let commands: Vec<_> = recorded.entries.iter().map(|one| &*one.command).collect();
    assert_eq!((commands, recorded.damaged), (vec!["before", "after"], 0));
}
