//! Which state directory `changes`, `jobs` and `artifact` read without `--state`.

use crate::support::{Home, Run};
use std::path::Path;

/// Runs a script as an agent's call in the conversation `one`, in a directory of the home.
fn agent(home: &Home, directory: &str, script: &str) {
    let run = run_in(home, directory, &["shell", "-c", script], true);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
}

/// Runs the program as a user, in a directory of the home.
fn run(home: &Home, directory: &str, words: &[&str]) -> Run {
    run_in(home, directory, words, false)
}

fn run_in(home: &Home, directory: &str, words: &[&str], is_agent: bool) -> Run {
    let mut command = home.command(words);
    command
        .current_dir(home.path().join(directory))
        .env("AGENT_BASH_CHANGES_LEVEL", "undo");
    if is_agent {
        command.env("CODEX_THREAD_ID", "one");
    }
    Run::of(&mut command)
}

fn files(home: &Home) -> [bool; 3] {
    ["a", "b", "c"].map(|name| home.path().join("project").join(name).exists())
}

#[test]
fn changes_reads_the_state_with_the_newer_set() {
    let home = Home::new();
    for file in ["project/a", "project/b", "project/c", "other/x"] {
        home.write(file, "text\n");
    }
    let changes = |words: &[&str]| run(&home, "project", &[&["changes"], words].concat());
    // Only the agent's conversation has change sets.
    agent(&home, "project", "rm a");
    let listed = changes(&["list"]);
    assert!(listed.stdout.contains("rm a"), "{}", listed.stderr);
    assert!(listed.stderr.contains("codex-one"), "{}", listed.stderr);
    // Control: with `--state`, in another project.
    let named = changes(&["list", "--state", "codex-one"]);
    assert_eq!((named.stdout, named.stderr), (listed.stdout, String::new()));
    let other = run(&home, "other", &["changes", "list"]);
    assert_eq!(other.stdout, "");
    assert!(other.stderr.contains("session cli"), "{}", other.stderr);
    let undone = changes(&["undo", "1"]);
    assert_eq!(undone.code, Some(0), "{}", undone.stderr);
    assert_eq!(files(&home), [true, true, true]);

    // Then the user runs a command; its change set has the same number.
    let own = run(&home, "project", &["run", "--changes", "undo", "rm b"]);
    assert_eq!(own.code, Some(0), "{}", own.stderr);
    assert_eq!(files(&home), [true, false, true]);
    let undone = changes(&["undo", "1"]);
    assert_eq!((undone.code, &*undone.stderr), (Some(0), ""));
    assert_eq!(files(&home), [true, true, true]);

    // The agent changes files again: now both states have the number.
    agent(&home, "project", "rm c");
    let refused = changes(&["redo", "1"]);
    assert_eq!(refused.code, Some(1), "{}", refused.stdout);
    for state in ["--state cli", "--state codex-one"] {
        assert!(refused.stderr.contains(state), "{}", refused.stderr);
    }
    assert_eq!(files(&home), [true, true, false]);
    let redone = changes(&["redo", "1", "--state", "cli"]);
    assert_eq!(redone.code, Some(0), "{}", redone.stderr);
    assert_eq!(files(&home), [true, false, false]);
    // Listing is not refused, and the newest set is again one of `run`.
    assert!(changes(&["list"]).stdout.contains("rm b"));
    agent(&home, "project", "true > d");
    let undone = changes(&["undo", "4"]);
    assert_eq!(undone.code, Some(0), "{}", undone.stderr);
    assert!(!home.path().join("project/d").exists());
}

#[test]
fn command_within_an_agents_call_reads_its_conversation() {
    let home = Home::new();
    home.write("project/a", "text\n");
    home.write("other/b", "text\n");
    agent(&home, "project", "rm a");
    let listed = run_in(&home, "other", &["changes", "list"], true);
    assert!(listed.stdout.contains("rm a"), "{}", listed.stderr);
    // Control: the user in the same directory.
    assert_eq!(run(&home, "other", &["changes", "list"]).stdout, "");
}

#[test]
fn jobs_reads_the_state_with_the_newer_job() {
    let home = Home::new();
    home.write("project/a", "text\n");
    let jobs = |words: &[&str]| run(&home, "project", &[&["jobs"], words].concat());
    agent(&home, "project", "sleep 61 >/dev/null 2>&1 &");
    let listed = jobs(&["list"]);
    assert!(listed.stdout.contains("sleep 61"), "{}", listed.stderr);
    assert!(listed.stderr.contains("codex-one"), "{}", listed.stderr);
    let own = run(
        &home,
        "project",
        &["run", "--mode", "background", "sleep 62"],
    );
    assert_eq!(own.code, Some(0), "{}", own.stderr);
    let listed = jobs(&["list"]);
    assert!(listed.stdout.contains("sleep 62"), "{}", listed.stdout);
    assert_eq!(listed.stderr, "");
    agent(&home, "project", "sleep 63 >/dev/null 2>&1 &");
    let refused = jobs(&["kill", "1"]);
    assert_eq!(refused.code, Some(1), "{}", refused.stdout);
    assert!(refused.stderr.contains("--state cli"), "{}", refused.stderr);
    let is_running = |state: &str| {
        let listed = jobs(&["list", "--state", state]);
        listed.stdout.contains("running")
    };
    assert!(is_running("cli") && is_running("codex-one"));
    assert_eq!(jobs(&["kill", "1", "--state", "cli"]).code, Some(0));
    assert!(!is_running("cli"));
    // Now the number means the agent's job.
    for id in ["1", "2"] {
        let killed = jobs(&["kill", id]);
        assert_eq!(killed.code, Some(0), "{}", killed.stderr);
    }
    assert!(!is_running("codex-one"));
}

#[test]
fn artifact_path_is_found_in_an_older_state() {
    let home = Home::new();
    home.write("project/a", "text\n");
    let long = run(&home, "project", &["run", "--json", "seq 20000"]);
    let result: serde_json::Value = serde_json::from_str(&long.stdout).expect("JSON");
    let path = result["artifacts"][0]["path"]
        .as_str()
        .expect("a path")
        .to_owned();
    agent(&home, "project", "rm a");
    let shown = run(
        &home,
        "project",
        &["artifact", "show", &path, "--tail", "1"],
    );
    assert!(shown.stdout.contains("20000"), "{}", shown.stderr);
    let listed = run(&home, "project", &["artifact", "list"]);
    assert!(listed.stdout.contains("seq 20000"), "{}", listed.stderr);
    assert!(Path::new(&path).exists());
}
