//! After a write that fails for lack of space, the next line is readable. A limit on the file size
//! simulates a full disk, in a separate process.

use super::{entry, options, read};
use agent_bash_journal::{Journal, JournalLevel};
use rustix::process::{Resource, Rlimit, setrlimit};
use std::path::PathBuf;
use std::process::Command;

const STATE: &str = "JOURNAL_TEST_NO_ROOM";

/// The process that the test below starts, in which a write beyond the limit is an error instead of
/// a signal. Does nothing by itself.
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
    // The limit leaves space for a part of the next line.
    setrlimit(Resource::Fsize, limit(1000)).unwrap();
    let error = journal.record(&entry(&"long ".repeat(400))).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::FileTooLarge);
    setrlimit(Resource::Fsize, limit(100_000)).unwrap();
    journal.record(&entry("after")).unwrap();
}

#[test]
fn line_after_a_partial_write_is_readable() {
    let state = tempfile::tempdir().unwrap();
    let script = r#"trap "" XFSZ; exec "$0" --exact no_room::without_room --nocapture"#;
    let output = Command::new("bash")
        .args(["-c", script])
        .arg(std::env::current_exe().unwrap())
        .env(STATE, state.path())
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    let recorded = read(state.path());
    let commands: Vec<_> = recorded.entries.iter().map(|one| &*one.command).collect();
    assert_eq!((commands, recorded.damaged), (vec!["before", "after"], 0));
}
