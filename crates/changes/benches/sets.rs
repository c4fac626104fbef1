//! Measures the cost per file of commit, undo and list. The benchmark writes into the upper
//! directory itself what an overlay would have written. A plain program, because each measurement
//! needs a new tree.

#![expect(clippy::print_stdout, reason = "a benchmark prints")]
#![expect(clippy::unwrap_used, reason = "a benchmark that fails may stop")]
#![expect(clippy::disallowed_methods, reason = "it measures time")]

use agent_bash_changes::{Recorder, Store, Touch};
use agent_bash_core::changes::ChangesLevel;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

/// Rounds per median.
const ROUNDS: usize = 7;

fn main() {
    // `cargo test --benches` only checks that it runs.
    let measured = std::env::args().any(|argument| argument == "--bench");
    let (files, rounds) = if measured { (1000, ROUNDS) } else { (10, 1) };
    let figures: Vec<Figures> = (0..rounds).map(|_| round(files)).collect();
    let report = |name: &str, of: fn(&Figures) -> Duration, goal: &str| {
        let mut times: Vec<Duration> = figures.iter().map(of).collect();
        times.sort();
        let each = times[times.len() / 2].as_secs_f64() * 1e6 / files as f64;
        println!("{name:42} {each:8.1} µs a file   goal {goal}");
    };
    report("list what is held (scan of the upper)", |it| it.list, "15");
    report(
        "commit of changed files, with its syncs",
        |it| it.commit,
        "50 + sync",
    );
    report("  the syncs alone", |it| it.sync, "-");
    report("undo, with its syncs", |it| it.undo, "30 + sync");
    report("record an append (a copy of 10 bytes)", |it| it.record, "-");
    report("record a deletion (a link)", |it| it.record_name, "-");
    report("list what was traced", |it| it.finish, "15");
    let stored = if measured {
        &[10, 1_000, 10_000][..]
    } else {
        &[10]
    };
    for sets in stored {
        let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let calls = stored_calls(dir.path(), *sets, if measured { 200 } else { 2 });
        for (name, time) in calls {
            let time = time.as_secs_f64() * 1e6;
            println!("{name:32} {sets:6} stored {time:8.1} µs a call");
        }
    }
}

/// Medians of calls that each open the store anew, as processes of a single call do, with a number
/// of stored change sets in this session and in others.
fn stored_calls(dir: &Path, sets: u64, rounds: usize) -> [(&'static str, Duration); 4] {
    const SESSIONS: u64 = 10;
    let (root, state) = (dir.join("root"), dir.join("state"));
    fs::create_dir(&root).unwrap();
    fs::write(root.join("file"), "0123456789").unwrap();
    let call = |session: &str, is_change: bool| {
        let store = Store::open(&state).unwrap();
        let set = store
            .begin_trace(session, &root, ChangesLevel::Undo)
            .unwrap();
        let mut recorder = Recorder::open(set.dir()).unwrap();
        if is_change {
            let file = root.join("file");
            recorder.before(&file, Touch::Content).unwrap();
            fs::write(file, format!("{:?}", set.id())).unwrap();
        }
        recorder.finish().unwrap();
        store.finish(set).unwrap().id
    };
    for session in 0..SESSIONS {
        let session = session.to_string();
        call(&session, true);
        let directory = state.join("changes").join(&session);
        for id in 2..=sets / SESSIONS {
            let copy = directory.join(id.to_string());
            fs::create_dir_all(copy.join("links")).unwrap();
            fs::create_dir(copy.join("gone")).unwrap();
            for entry in fs::read_dir(directory.join("1")).unwrap().flatten() {
                if entry.metadata().unwrap().is_file() {
                    fs::copy(entry.path(), copy.join(entry.file_name())).unwrap();
                }
            }
        }
        let _ = fs::remove_file(directory.join(".next"));
    }
    let median = |act: &mut dyn FnMut()| {
        let mut times: Vec<Duration> = (0..rounds).map(|_| time(&mut *act).0).collect();
        times.sort();
        times[rounds / 2]
    };
    call("0", true);
    let changed = median(&mut || {
        call("0", true);
    });
    let unchanged = median(&mut || {
        call("0", false);
    });
    let last = call("0", true);
    let store = Store::open(&state).unwrap();
    let mut is_undone = false;
    let undo = median(&mut || {
        is_undone = !is_undone;
        if is_undone {
            store.undo("0", last, &[], false).unwrap();
        } else {
            store.redo("0", last).unwrap();
        }
    });
    let (listing, _) = time(|| store.list("0").unwrap());
    [
        ("call with a change", changed),
        ("call without a change", unchanged),
        ("undo or redo of the last call", undo),
        ("list of the session", listing),
    ]
}

struct Figures {
    list: Duration,
    commit: Duration,
    sync: Duration,
    undo: Duration,
    record: Duration,
    record_name: Duration,
    finish: Duration,
}

fn time<T>(act: impl FnOnce() -> T) -> (Duration, T) {
    let begun = Instant::now();
    let value = act();
    (begun.elapsed(), value)
}

fn round(files: usize) -> Figures {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let root = dir.path().join("root");
    fs::create_dir(&root).unwrap();
    let write = |dir: &Path, text: &str| {
        for n in 0..files {
            fs::write(dir.join(n.to_string()), text).unwrap();
        }
    };
    write(&root, "0123456789");
    let store = Store::open(&dir.path().join("state")).unwrap();
    let set = store.begin_trial("bench", &root).unwrap();
    write(&set.upper(), "9876543210");
    let id = set.id();
    let (list, _) = time(|| store.hold(set).unwrap());
    let (sync, ()) = time(|| {
        let open = fs::File::open(dir.path()).unwrap();
        rustix::fs::syncfs(&open).unwrap();
    });
    let (commit, _) = time(|| store.commit("bench", id).unwrap());
    let (undo, _) = time(|| store.undo("bench", id, &[], false).unwrap());

    let set = store
        .begin_trace("bench", &root, ChangesLevel::Undo)
        .unwrap();
    let mut recorder = Recorder::open(set.dir()).unwrap();
    let mut before = |from: usize, to: usize, touch| {
        time(|| {
            for n in from..to {
                recorder.before(&root.join(n.to_string()), touch).unwrap();
            }
        })
        .0
    };
    let record = before(0, files / 2, Touch::Content) * 2;
    let record_name = before(files / 2, files, Touch::Name) * 2;
    for n in 0..files {
        let path = root.join(n.to_string());
        if n < files / 2 {
            fs::write(path, "more").unwrap();
        } else {
            fs::remove_file(path).unwrap();
        }
    }
    recorder.finish().unwrap();
    let (finish, _) = time(|| store.finish(set).unwrap());
    Figures {
        list,
        commit,
        sync,
        undo,
        record,
        record_name,
        finish,
    }
}
