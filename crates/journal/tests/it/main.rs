//! The journal on disk: written, read, damaged, full, swept; private, without secrets.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "what a test needs beside what it tests"
)]

mod no_room;

use agent_bash_core::{Caller, ProfileName, Status, Timestamp, ToolResult};
use agent_bash_journal::{
    FULL_REASON, Journal, JournalEntry, JournalLevel, JournalOptions, MaskSecrets, PrintedOutput,
    RefusalEntry, RetentionLimits, recordings, sweep, sweep_when_due,
};
use std::borrow::Cow;
use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

const HOUR: u64 = 3600;
const SESSION: &str = "chat";

fn masks_nothing() -> MaskSecrets {
    Arc::new(|text| Cow::Borrowed(text))
}

fn options(state: &Path, level: JournalLevel) -> JournalOptions {
    JournalOptions {
        is_shared: false,
        state: state.to_owned(),
        session: SESSION.to_owned(),
        level,
        max_bytes: 1 << 20,
        mask_secrets: masks_nothing(),
    }
}

fn entry(command: &str) -> JournalEntry {
    let started = Timestamp(1_700_000_000_000);
    let result = ToolResult::new(Status::Exited { code: 0 }, "what the model read", started);
    let mut entry = JournalEntry::new(Caller::Model, ProfileName::Standard, command, result);
    entry.printed = Some(PrintedOutput {
        head: "\u{1b}[31mred\u{1b}[0m".to_owned(),
        ..PrintedOutput::default()
    });
    entry
}

fn only_file(state: &Path) -> PathBuf {
    let mut files = fs::read_dir(state.join("journal").join(SESSION)).unwrap();
    let file = files.next().unwrap().unwrap().path();
    assert!(files.next().is_none());
    file
}

fn read(state: &Path) -> agent_bash_journal::JournalContents {
    recordings(state, Some(SESSION))
        .last()
        .unwrap()
        .read()
        .unwrap()
}

#[test]
fn recorded_journal_is_private_and_readable() {
    let state = tempfile::tempdir().unwrap();
    let journal = Journal::new(options(state.path(), JournalLevel::Full));
    let entries = [entry("one"), entry("two")];
    for entry in &entries {
        journal.record(entry).unwrap();
    }
    assert_eq!(read(state.path()).entries, entries);
    let file = only_file(state.path());
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&file), 0o600);
    assert_eq!(mode(file.parent().unwrap()), 0o700);
}

#[test]
fn last_entry_is_found_behind_long_entries_and_damaged_lines() {
    let state = tempfile::tempdir().unwrap();
    let last = || recordings(state.path(), Some(SESSION))[0].last().unwrap();
    let journal = Journal::new(options(state.path(), JournalLevel::Full));
    journal.record(&entry("one")).unwrap();
    assert_eq!(last(), Some(entry("one")));
    // This entry is longer than the first bytes that are read.
    let mut long = entry("two");
    long.result.text = "x".repeat(200_000);
    journal.record(&long).unwrap();
    assert_eq!(last(), Some(long.clone()));
    journal.record(&entry("three")).unwrap();
    assert_eq!(last(), Some(entry("three")));
    let append = |text: &str| {
        let mut file = fs::File::options();
        let mut file = file.append(true).open(only_file(state.path())).unwrap();
        file.write_all(text.as_bytes()).unwrap();
    };
    append(&format!(
        "{{\"full\": true}}\n{{\"by\": \"{}",
        "x".repeat(100_000)
    ));
    assert_eq!(last(), Some(entry("three")));
    // Control: a file without entries.
    fs::write(only_file(state.path()), "{\"full\": true}\nhalf").unwrap();
    assert_eq!(last(), None);
}

#[test]
fn level_metadata_records_no_output() {
    let state = tempfile::tempdir().unwrap();
    Journal::new(options(state.path(), JournalLevel::Metadata))
        .record(&entry("x"))
        .unwrap();
    let kept = &read(state.path()).entries[0];
    assert_eq!(
        (
            kept.command.as_str(),
            kept.result.text.as_str(),
            &kept.printed
        ),
        ("x", "", &None)
    );
    let bytes = fs::read_to_string(only_file(state.path())).unwrap();
    assert!(
        !bytes.contains("red") && !bytes.contains("what the model read"),
        "{bytes}"
    );
}

#[test]
fn level_off_writes_nothing() {
    let state = tempfile::tempdir().unwrap();
    Journal::new(options(state.path(), JournalLevel::Off))
        .record(&entry("x"))
        .unwrap();
    assert_eq!(fs::read_dir(state.path()).unwrap().count(), 0);
}

#[test]
fn secrets_are_masked_and_a_moved_span_is_dropped() {
    let state = tempfile::tempdir().unwrap();
    let mask_secrets: MaskSecrets =
        Arc::new(|text| Cow::Owned(text.replace("hunter2", "[hidden]")));
    let journal = Journal::new(JournalOptions {
        mask_secrets,
        ..options(state.path(), JournalLevel::Full)
    });
    for command in ["login hunter2 && rm -rf /", "rm -rf /"] {
        let mut entry = entry(command);
        entry.result.text = "hunter2 it was, and given-by-the-call".to_owned();
        entry.secrets = vec!["given-by-the-call".to_owned()];
        entry.printed.as_mut().unwrap().head = "a hunter2 b".to_owned();
        entry.objection = Some(RefusalEntry {
            message: "no".to_owned(),
            instead: None,
            span: Some([0, 5]),
        });
        journal.record(&entry).unwrap();
    }
    let bytes = fs::read_to_string(only_file(state.path())).unwrap();
    assert!(
        !bytes.contains("hunter2") && !bytes.contains("given-by"),
        "{bytes}"
    );
    let spans = read(state.path())
        .entries
        .into_iter()
        .map(|entry| entry.objection.unwrap().span);
    assert_eq!(spans.collect::<Vec<_>>(), [None, Some([0, 5])]);
}

#[test]
fn full_journal_refuses_calls_and_is_marked() {
    let state = tempfile::tempdir().unwrap();
    let mut options = options(state.path(), JournalLevel::Full);
    options.max_bytes = 4000;
    let journal = Journal::new(options);
    let results = (0..100).map(|_| journal.record(&entry("x")));
    let refused = results.filter_map(Result::err);
    let refused: Vec<String> = refused.map(|error| error.to_string()).collect();
    let recorded = read(state.path());
    // Each missing call is reported.
    assert_eq!(refused.len(), 100 - recorded.entries.len());
    assert!(refused.iter().all(|why| why == FULL_REASON), "{refused:?}");
    assert!(
        recorded.full && (1..8).contains(&recorded.entries.len()),
        "{recorded:?}"
    );
    assert!(fs::metadata(only_file(state.path())).unwrap().len() < 4100);
}

#[test]
fn damaged_lines_are_counted_and_skipped() {
    let state = tempfile::tempdir().unwrap();
    let journal = Journal::new(options(state.path(), JournalLevel::Full));
    journal.record(&entry("before")).unwrap();
    let mut file = fs::OpenOptions::new()
        .append(true)
        .open(only_file(state.path()))
        .unwrap();
    file.write_all(b"{\"command\":\"half\n\xff\xfe\n{\"by\":\"robot\",\"command\":\"x\"}\n")
        .unwrap();
    journal.record(&entry("after")).unwrap();
    file.write_all(b"{\"by\":\"model\",").unwrap();
    let recorded = read(state.path());
    let commands: Vec<_> = recorded
        .entries
        .iter()
        .map(|entry| entry.command.as_str())
        .collect();
    assert_eq!(
        (commands.as_slice(), recorded.damaged, recorded.newer),
        (&["before", "after"][..], 3, 1)
    );
}

#[test]
fn sweep_removes_old_and_excess_journals_but_not_live_ones() {
    let state = tempfile::tempdir().unwrap();
    let dir = state.path().join("journal").join(SESSION);
    let journal = Journal::new(options(state.path(), JournalLevel::Full));
    journal.record(&entry("x")).unwrap();
    let mine = only_file(state.path());
    let now = std::time::SystemTime::now();
    let aged = |name: &str, hours: u64| {
        let path = dir.join(name);
        fs::write(&path, vec![b'\n'; 1000]).unwrap();
        let file = fs::File::options().write(true).open(&path).unwrap();
        file.set_modified(now - Duration::from_secs(hours * HOUR))
            .unwrap();
        path
    };
    let (old, big, young) = (
        aged("00000000000001-1.jsonl", 200),
        aged("00000000000002-1.jsonl", 3),
        aged("00000000000003-1.jsonl", 2),
    );
    let own = fs::metadata(&mine).unwrap().len();
    let keep = RetentionLimits {
        time: Duration::from_secs(168 * HOUR),
        bytes: own + 1500,
    };
    let swept = sweep(state.path(), keep, now.into());
    assert_eq!((swept.files, swept.bytes), (2, 2000));
    assert!(!old.exists() && !big.exists() && young.exists() && mine.exists());
    // The live journal exceeds both limits and stays.
    let none = RetentionLimits {
        time: Duration::ZERO,
        bytes: 0,
    };
    let later = Timestamp::from(now + Duration::from_secs(HOUR));
    sweep(state.path(), none, later);
    assert!(!young.exists() && mine.exists());
    assert!(recordings(state.path(), None)[0].is_live());
    drop(journal);
    sweep(state.path(), none, later);
    assert!(!mine.exists());
}

#[test]
fn step_looks_at_some_journals_and_the_last_one_enforces_the_size() {
    const SESSIONS: u64 = 400;
    let state = tempfile::tempdir().unwrap();
    let now = std::time::SystemTime::now();
    for number in 0..SESSIONS {
        let dir = state.path().join(format!("journal/{number:04}"));
        fs::create_dir_all(&dir).unwrap();
        let path = dir.join(format!("{number:014}-1.jsonl"));
        fs::write(&path, vec![b'\n'; 10]).unwrap();
        let hours = if number % 2 == 0 { 200 } else { 2 };
        let file = fs::File::options().write(true).open(&path).unwrap();
        file.set_modified(now - Duration::from_secs(hours * HOUR))
            .unwrap();
    }
    let keep = RetentionLimits {
        time: Duration::from_secs(168 * HOUR),
        bytes: 1000,
    };
    let step = |minutes: u64| {
        let now = now + Duration::from_secs(minutes * 60);
        sweep_when_due(state.path(), keep, now.into()).files
    };
    let left = || recordings(state.path(), None).len();
    assert_eq!((step(0), left()), (128, 272), "half of 256 are old");
    assert_eq!((step(9), left()), (0, 272), "the next step is not due");
    // The rest of the old ones; then the size is known.
    assert_eq!((step(10), left()), (72 + 100, 100));
    assert_eq!(recordings(state.path(), None)[0].started_at.0, 201);
}

#[test]
fn shared_journal_has_the_calls_of_several_processes() {
    let state = tempfile::tempdir().unwrap();
    let shared = || {
        Journal::new(JournalOptions {
            is_shared: true,
            ..options(state.path(), JournalLevel::Metadata)
        })
    };
    let (one, other) = (shared(), shared());
    one.record(&entry("first")).unwrap();
    other.record(&entry("second")).unwrap();
    one.record(&entry("third")).unwrap();
    let all = recordings(state.path(), Some(SESSION));
    assert_eq!(all.len(), 1);
    let read = all[0].read().unwrap();
    let commands: Vec<_> = read.entries.iter().map(|it| it.command.as_str()).collect();
    assert_eq!(commands, ["first", "second", "third"]);
    // Between two calls, no process locks the record.
    assert!(!all[0].is_live());
    // A sandboxed call can read the record, so it can hold the lock.
    let held = fs::File::open(only_file(state.path())).unwrap();
    held.lock().unwrap();
    assert!(one.record(&entry("fourth")).is_err());
    held.unlock().unwrap();
    // Control: processes with separate records.
    let own = |first: u64| {
        let journal = Journal::new(options(state.path(), JournalLevel::Metadata));
        let mut entry = entry("own");
        entry.result.started_at = Timestamp(first);
        journal.record(&entry).unwrap();
    };
    own(1);
    own(2);
    assert_eq!(recordings(state.path(), Some(SESSION)).len(), 3);
}

#[test]
fn shared_record_has_one_limit() {
    let state = tempfile::tempdir().unwrap();
    let shared = || {
        Journal::new(JournalOptions {
            is_shared: true,
            max_bytes: 1000,
            ..options(state.path(), JournalLevel::Metadata)
        })
    };
    let written = (0..10).take_while(|_| shared().record(&entry("call")).is_ok());
    let written = written.count();
    assert!((1..10).contains(&written), "{written}");
    let size = || recordings(state.path(), Some(SESSION))[0].bytes;
    let full = size();
    assert!(shared().record(&entry("call")).is_err());
    assert_eq!(size(), full);
    let read = recordings(state.path(), Some(SESSION))[0].read().unwrap();
    assert!(read.full && read.entries.len() == written, "{read:?}");
}

#[test]
fn record_after_the_directory_was_removed_or_moved_is_readable() {
    let state = tempfile::tempdir().unwrap();
    let journal = Journal::new(options(state.path(), JournalLevel::Full));
    journal.record(&entry("one")).unwrap();
    let session = only_file(state.path())
        .ancestors()
        .nth(2)
        .unwrap()
        .to_owned();
    for (command, is_moved) in [("two", true), ("three", false)] {
        if is_moved {
            fs::rename(&session, state.path().join("moved")).unwrap();
        } else {
            fs::remove_dir_all(&session).unwrap();
        }
        journal.record(&entry(command)).unwrap();
        let recorded = read(state.path());
        let commands: Vec<_> = recorded.entries.iter().map(|one| &*one.command).collect();
        assert_eq!(commands, [command]);
    }
}
