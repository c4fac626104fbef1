//! `agent-bash changes`, on change sets in the store.

#![expect(clippy::expect_used, reason = "a test fails by panicking")]

use crate::support::{Home, Run};
use agent_bash::change_sets::{Recorder, Store, Touch, TurnSign};
use agent_bash::core::changes::ChangesLevel;
use serde_json::Value;
use std::fs;
use std::path::PathBuf;

/// Returns a home with a project, and the project's path. The store holds a trial with the changes
/// that an overlay would have written.
fn home_with_held_trial() -> (Home, PathBuf) {
    let home = Home::new();
    home.write("project/src/a.rs", "one\n");
    home.write("project/old.rs", "two\n");
    let project = home.path().join("project").canonicalize().expect("a path");
    let store = Store::open(&home.path().join("state")).expect("a store");
    let set = store.begin_trial("cli", &project).expect("a set");
    fs::create_dir(set.upper().join("src")).expect("a directory");
    fs::write(set.upper().join("src/a.rs"), "one\nmore\n").expect("a file");
    fs::write(set.upper().join("new\u{1b}[2J"), "three\n").expect("a file");
    store.hold(set).expect("its changes");
    (home, project)
}

fn stdout_of_success(run: &Run) -> &str {
    assert_eq!(run.code, Some(0), "{}{}", run.stdout, run.stderr);
    &run.stdout
}

fn json_of_success(run: &Run) -> Value {
    serde_json::from_str(stdout_of_success(run)).expect("JSON")
}

#[test]
fn trial_can_be_shown_committed_undone_and_redone() {
    let (home, project) = home_with_held_trial();
    let changes = |words: &[&str]| home.run(&[&["changes"], words].concat());
    let list = changes(&["list"]);
    assert!(stdout_of_success(&list).contains("held"), "{}", list.stdout);
    let show = changes(&["show", "1"]);
    assert!(
        stdout_of_success(&show).starts_with("Trial 1, held: 1 created, 1 changed in "),
        "{}",
        show.stdout
    );
    assert!(show.stdout.contains("src/a.rs  (4 → 9 bytes)"));
    assert!(show.stdout.contains("new<U+001B>[2J"), "{}", show.stdout);
    let json = json_of_success(&changes(&["show", "1", "--json"]));
    assert_eq!(json["counts"]["created"], 1);
    let names = changes(&["show", "1", "-z"]);
    assert_eq!(stdout_of_success(&names), "new\u{1b}[2J\0src/a.rs\0");
    let diff = changes(&["diff", "1", "project/src"]);
    assert_eq!(diff.code, Some(1), "{}", diff.stdout);
    let diff = changes(&["diff", "changes://1", "src"]);
    assert_eq!(
        stdout_of_success(&diff),
        "--- a/src/a.rs\n+++ b/src/a.rs\n@@ -1 +1,2 @@\n one\n+more\n"
    );

    let text = || fs::read_to_string(project.join("src/a.rs")).expect("a file");
    assert_eq!(text(), "one\n");
    assert_eq!(
        stdout_of_success(&changes(&["commit", "1"])),
        "[Trial 1 applied: 1 created, 1 changed.]\n"
    );
    assert_eq!(text(), "one\nmore\n");
    let again = changes(&["commit", "1"]);
    assert_eq!(again.code, Some(1));
    assert!(
        again.stderr.contains("they were committed before"),
        "{}",
        again.stderr
    );
    assert_eq!(
        stdout_of_success(&changes(&["undo", "1"])),
        "[Undone: 2 files as before call 1.]\n"
    );
    assert_eq!(text(), "one\n");
    assert_eq!(
        stdout_of_success(&changes(&["redo", "1"])),
        "[Done again: 2 files as after call 1.]\n"
    );
    assert_eq!(text(), "one\nmore\n");

    // An editor saves the file after the commit.
    fs::write(project.join("src/a.rs"), "editor\n").expect("a file");
    let undo = changes(&["undo", "1"]);
    assert_eq!(undo.code, Some(1));
    assert_eq!(
        undo.stderr,
        "[Not undone: src/a.rs was changed since. The other one can be undone alone.]\n"
    );
    let partly = changes(&["undo", "1", "--partial"]);
    assert_eq!(
        stdout_of_success(&partly),
        "[Undone: 1 file as before call 1.]\nleft as it is, as it was changed since: src/a.rs\n"
    );
    assert_eq!(text(), "editor\n");
    let list = changes(&["list"]);
    assert!(
        stdout_of_success(&list).contains("committed, undone in part"),
        "{}",
        list.stdout
    );
    let show = changes(&["show", "1"]);
    let first = "Changes 1, committed, undone in part: 1 created, 1 changed in ";
    assert!(
        stdout_of_success(&show).starts_with(first),
        "{}",
        show.stdout
    );
    let json = json_of_success(&changes(&["show", "1", "--json"]));
    assert_eq!(
        (&json["state"], &json["undone_in_part"]),
        (&"done".into(), &true.into())
    );
}

#[test]
fn diff_resolves_paths_from_the_current_directory() {
    let (home, _) = home_with_held_trial();
    let text = home
        .run_in("project/src", &["changes", "diff", "1", "a.rs"])
        .stdout;
    assert!(text.contains("+++ b/src/a.rs"), "{text}");
}

#[test]
fn missing_change_sets_are_reported() {
    let home = Home::new();
    let none = home.run(&["changes", "list"]);
    assert_eq!(
        (none.code, &none.stderr[..]),
        (
            Some(0),
            "session cli has no change sets: shell, rpc, mcp and tui record changes; `run` does with --changes=undo\n"
        )
    );
    let unknown = home.run(&["changes", "undo", "7"]);
    assert_eq!(unknown.code, Some(1));
    assert!(
        unknown.stderr.contains("changes 7 do not exist") && unknown.stderr.contains("log --list"),
        "{}",
        unknown.stderr
    );
    let usage = home.run(&["changes", "undo", "../7"]);
    assert_eq!(usage.code, Some(2));
    assert!(
        usage.stderr.contains("is named by its number"),
        "{}",
        usage.stderr
    );
}

/// Covers change sets of a running interface, which has a session of its own.
#[test]
fn missing_set_names_other_sessions_of_this_directory() {
    let home = Home::new();
    home.write("project/sub/a", "a\n");
    home.write("other/a", "a\n");
    let store = Store::open(&home.path().join("state")).expect("a store");
    let hold = |session: &str, directory: &str| {
        let root = home.path().join(directory).canonicalize().expect("a path");
        let set = store.begin_trial(session, &root).expect("a set");
        fs::write(set.upper().join("new"), "x\n").expect("a file");
        store.hold(set).expect("its changes");
    };
    hold("older", "project");
    hold("newer", "project");
    hold("newer", "project");
    hold("not-here", "other");
    let changes = |words: &[&str]| {
        let run = home.run_in("project/sub", &[&["changes"], words].concat());
        (run.code, run.stderr)
    };
    let others = "other sessions have change sets of this directory:\n  --state newer  2 sets, the last just now\n  --state older  1 set just now\n";
    let nothing = format!("session cli has no change sets\n{others}");
    assert_eq!(changes(&["list"]), (Some(0), nothing));
    for words in [["undo", "3"], ["show", "2"], ["commit", "1"]] {
        let (code, stderr) = changes(&words);
        assert_eq!(code, Some(1), "{stderr}");
        assert!(
            stderr.contains("do not exist in this state directory"),
            "{stderr}"
        );
        assert!(stderr.ends_with(others), "{stderr}");
    }
    let (_, stderr) = changes(&["undo", "7", "--state", "newer"]);
    assert!(stderr.contains("--state older") && !stderr.contains("--state newer"));
    let (code, stderr) = changes(&["list", "--state", "newer"]);
    assert_eq!((code, &stderr[..]), (Some(0), ""));
}

#[test]
fn commit_names_the_conflict_and_discard_removes_the_trial() {
    let (home, project) = home_with_held_trial();
    fs::write(project.join("src/a.rs"), "editor\n").expect("a file");
    let commit = home.run(&["changes", "commit", "1"]);
    assert_eq!(commit.code, Some(1));
    assert_eq!(
        commit.stderr,
        "[Trial 1 not applied: src/a.rs was changed by another process meanwhile.]\n"
    );
    let json = home.run(&["changes", "commit", "1", "--json"]);
    let json: Value = serde_json::from_str(&json.stdout).expect("JSON");
    assert_eq!(json["conflicts"][0]["path"], "src/a.rs");
    let discarded = home.run(&["changes", "discard", "1"]);
    assert!(stdout_of_success(&discarded).contains("its changes are discarded"));
    assert!(!project.join("new\u{1b}[2J").exists());
}

/// Records and undoes an ordinary call that creates many files. The package is in a local file, so
/// that nothing is downloaded.
#[test]
fn npm_install_is_recorded_and_undone() {
    let home = Home::new();
    home.write("project/.git/HEAD", "ref: refs/heads/main\n");
    home.write(
        "project/package.json",
        r#"{"name": "p", "version": "1.0.0", "dependencies": {"dep": "file:dep-1.0.0.tgz"}}"#,
    );
    home.write("dep/package.json", r#"{"name": "dep", "version": "1.0.0"}"#);
    home.write("dep/lib/index.js", "module.exports = 1\n");
    let prepare = "npm pack --silent --pack-destination project ./dep >&2 && cd project && npm install --silent --offline --package-lock-only";
    if home.run(&["run", "command -v npm"]).code != Some(0) {
        // npm is not installed on this machine.
        return;
    }
    stdout_of_success(&home.run(&["run", "--timeout", "120s", prepare]));
    let project = home.path().join("project");
    let names = || {
        let entries = fs::read_dir(&project).expect("a directory");
        let names = entries.map(|entry| entry.expect("an entry").file_name());
        names.collect::<std::collections::BTreeSet<_>>()
    };
    let before = names();
    let words = [
        "run", "--json", "--timeout", "120s", "--changes=undo", "--cwd", "project",
    ];
    let ran = home.run(&[&words[..], &["npm ci --silent --offline"]].concat());
    let result = json_of_success(&ran);
    let changes = &result["changes"];
    assert_eq!(changes["counts"]["deleted"], 0, "{changes}");
    assert!(
        changes["counts"]["created"].as_u64() >= Some(3),
        "{changes}"
    );
    assert!(project.join("node_modules/dep/lib/index.js").exists());
    let id = changes["id"].as_str().expect("a number");
    assert!(stdout_of_success(&home.run(&["changes", "undo", id])).contains("[Undone: "));
    assert_eq!(names(), before);
}

/// A process can have only one tracer, so a call within a recorded call is scanned. Every output
/// must say so.
#[test]
fn nested_recorded_call_is_scanned_and_says_so() {
    let home = Home::new();
    for project in ["outer", "inner"] {
        home.write(&format!("{project}/.git/HEAD"), "ref: refs/heads/main\n");
        home.write(&format!("{project}/old"), "old\n");
    }
    let program = env!("CARGO_BIN_EXE_agent-bash");
    let inner = format!(
        "AGENT_BASH_STATE_DIR=$HOME/other {program} run --json --changes=undo --cwd ../inner 'rm old'"
    );
    let changes_of = |script: &str, cwd: &str| {
        let ran = home.run(&["run", "--json", "--changes=undo", "--cwd", cwd, script]);
        let result = json_of_success(&ran);
        let text = result["text"].as_str().expect("a text").to_owned();
        (result["changes"].clone(), text)
    };
    let (_, text) = changes_of(&inner, "outer");
    let line = text.lines().next().expect("the inner result");
    let result: Value = serde_json::from_str(line).expect("JSON");
    let found = &result["changes"];
    assert_eq!(
        [&found["by"], &found["exact"], &found["undo"]],
        [
            &Value::from("scan"),
            &Value::from(false),
            &Value::from("no")
        ],
        "{text}"
    );
    let text = result["text"].as_str().expect("a text");
    assert!(text.contains("old (deleted)") && text.contains("by scan, may be incomplete"));
    let other = home.path().join("other").display().to_string();
    let changes = |words: &[&str]| {
        home.run_with(
            &[&["changes"], words].concat(),
            &[("AGENT_BASH_STATE_DIR", &other)],
        )
    };
    assert!(stdout_of_success(&changes(&["list"])).contains("listed, by scan"));
    assert!(stdout_of_success(&changes(&["show", "1"])).contains("by scan, may be incomplete"));
    let undo = changes(&["undo", "1"]);
    assert_eq!(undo.code, Some(1));
    assert!(
        undo.stderr.contains("they were scanned, not traced"),
        "{}",
        undo.stderr
    );
    // Control: a call that is not nested is traced.
    let (traced, _) = changes_of("rm old", "outer");
    assert_eq!(
        (&traced["by"], &traced["exact"]),
        (&Value::from("trace"), &Value::from(true))
    );
}

#[test]
fn several_change_sets_are_undone_and_redone_as_one() {
    let (home, project) = home_with_recorded_calls();
    let changes = |words: &[&str]| home.run(&[&["changes"], words].concat());
    let list = changes(&["list"]);
    let heading = stdout_of_success(&list).lines().next().unwrap_or_default();
    assert!(heading.contains("TURN  COMMAND"), "{heading}");
    let undone = changes(&["undo", "--turn"]);
    let line = "[Undone: turn 1, 1 file of changes 3, 2.]\n";
    assert_eq!(stdout_of_success(&undone), line);
    let text = || fs::read_to_string(project.join("a")).expect("a text");
    assert_eq!(text(), "1\n");
    stdout_of_success(&changes(&["redo", "--turn=1"]));
    assert_eq!(text(), "1\n2\n3\n");
    let undone = changes(&["undo", "--since", "2", "--json"]);
    let json = json_of_success(&undone);
    assert_eq!(json["sets"], serde_json::json!(["3", "2"]));
    stdout_of_success(&changes(&["redo", "--since=10m"]));
    fs::write(project.join("a"), "theirs\n").expect("a write");
    let refused = changes(&["undo", "--since", "1h"]);
    assert_eq!(refused.code, Some(1));
    assert!(
        refused.stderr.contains("Nothing was undone"),
        "{}",
        refused.stderr
    );
    assert!(
        refused.stderr.contains("changes 3: a was changed since"),
        "{}",
        refused.stderr
    );
    assert_eq!(text(), "theirs\n");
    for usage in [
        &["undo"][..],
        &["undo", "2", "--since", "1"],
        &["undo", "--since", "1", "--turn"],
        &["undo", "--since", "soon"],
        &["redo"],
    ] {
        assert_eq!(changes(usage).code, Some(2), "{usage:?}");
    }
    assert_eq!(changes(&["undo", "--turn=9"]).code, Some(1));
}

/// Returns a home with a project whose file three recorded calls have changed, the last two in a
/// turn.
#[expect(
    clippy::disallowed_methods,
    reason = "the file system's time has to pass"
)]
fn home_with_recorded_calls() -> (Home, PathBuf) {
    let home = Home::new();
    home.write("project/a", "");
    let project = home.path().join("project").canonicalize().expect("a path");
    let store = Store::open(&home.path().join("state")).expect("a store");
    for line in ["1\n", "2\n", "3\n"] {
        if line == "2\n" {
            std::thread::sleep(std::time::Duration::from_millis(20));
            store
                .begin_turn("cli", TurnSign::Prompt(None))
                .expect("a turn");
        }
        let set = store
            .begin_trace("cli", &project, ChangesLevel::Undo)
            .expect("a set");
        let mut recorder = Recorder::open(set.dir()).expect("a recorder");
        let file = project.join("a");
        recorder.before(&file, Touch::Content).expect("a preimage");
        let text = fs::read_to_string(&file).expect("a text");
        fs::write(&file, text + line).expect("a write");
        recorder.finish().expect("an end");
        store.finish(set).expect("a set");
    }
    (home, project)
}

#[test]
fn undo_names_files_that_it_brings_back_and_that_configure_programs() {
    let home = Home::new();
    fs::create_dir(home.path().join("project")).expect("a directory");
    let record = |script: &str| {
        let run = home.run_in("project", &["run", "--changes=undo", script]);
        assert_eq!(run.code, Some(0), "{}", run.stderr);
    };
    let undo = |id: &str| home.run_in("project", &["changes", "undo", id]).stdout;
    record("echo evil >.envrc");
    record("rm .envrc");
    let line = "[These run or configure programs outside of the sandbox: .envrc.]";
    assert!(undo("2").contains(line));
    // Control: the undo that removes the file does not name it.
    let removed = undo("1");
    assert!(removed.contains("Undone: 1 file"), "{removed}");
    assert!(!removed.contains(line), "{removed}");
}
