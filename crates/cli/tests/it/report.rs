//! `agent-bash log` and `report`, on what `run` recorded.

use crate::support::{Home, Run};

/// Runs a recorded command in the project of a new home. Returns the home and the outcome.
fn record_in_project(words: &[&str]) -> (Home, Run) {
    let home = Home::new();
    home.write("project/a", "one\n");
    let mut command = home.command(&[&["run"], words].concat());
    command
        .env("AGENT_BASH_JOURNAL_LEVEL", "full")
        .current_dir(home.path().join("project"));
    (home, Run::of(&mut command))
}

fn page(home: &Home) -> String {
    let made = home.run(&["report", "-o", "-"]);
    assert_eq!(made.code, Some(0), "{}", made.stderr);
    made.stdout
}

#[test]
fn report_explains_missing_diffs_and_marks_writes_outside() {
    let script = "mkdir d; printf 'a\\0b' > blob; chmod +x a; echo x > ../beyond";
    let (home, run) = record_in_project(&["--changes=undo", script]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let log = home.run(&["log"]).stdout;
    assert!(log.starts_with("CALL  AT (UTC)  TOOK"), "{log}");
    let html = page(&home);
    for part in [
        " d<span class=\"note\"> · directory</span>",
        " blob<span class=\"note\"> · not text, 0 B → 3 B</span>",
        "mode 100644 → 100755",
    ] {
        assert!(html.contains(part), "{part}: {html}");
    }
    // Without a trace, writes outside are unknown.
    let set = home.run(&["changes", "show", "1", "--json"]).stdout;
    if set.contains("\"by\":\"trace\"") {
        assert!(log.contains("1 outside"), "{log}");
        assert!(
            html.contains("Files outside of this directory: 1 below "),
            "{html}"
        );
    }
}

#[test]
fn report_marks_a_job_that_failed_later() {
    // A command that ends at once would not become a job.
    let script = "until [ -e ../go ]; do sleep 0.01; done; exit 4";
    let (home, run) = record_in_project(&["--mode", "background", script]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(page(&home).contains("<span class=\"outcome ok\">background, running</span>"));
    home.write("go", "");
    let ended = home.run(&["jobs", "wait", "1"]).stdout;
    assert_eq!(ended, "exited with code 4\n");
    let html = page(&home);
    let wanted = "<span class=\"outcome warn\">background, exited with code 4</span>";
    assert!(html.contains(wanted), "{html}");
}

#[test]
fn report_shows_later_changes_with_their_call() {
    let waits = "until [ -e ../go ]; do sleep 0.01; done; echo tick > made-late";
    let background = format!("({waits}) > /dev/null 2>&1 &");
    for words in [
        &["--changes=undo", "--mode", "background", waits][..],
        &["--changes=undo", &background],
    ] {
        let (home, run) = record_in_project(words);
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        assert!(
            !page(&home).contains("</span> made-late<"),
            "nothing was written yet"
        );
        home.write("go", "");
        let ended = home.run(&["jobs", "wait", "1"]);
        assert_eq!(ended.code, Some(0), "{words:?}: {}", ended.stderr);
        let sets = home.run(&["changes", "list", "--json"]).stdout;
        if !sets.contains("\"by\":\"trace\"") {
            // Changes of background processes cannot be traced on this system.
            return;
        }
        let log = home.run(&["log"]).stdout;
        assert!(log.contains("+1"), "{words:?}: {log}");
        let html = page(&home);
        for part in ["</span> made-late<", "+tick", "data-kind=\"files\""] {
            assert!(html.contains(part), "{words:?}: {part}: {html}");
        }
        assert!(!html.contains("still running"), "{html}");
    }
}
