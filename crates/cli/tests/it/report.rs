//! `agent-bash log` and `report`, on what `run` recorded.

#![expect(clippy::expect_used, reason = "a test fails by panicking")]

use crate::support::{Home, Run};

const RECORDED: [(&str, &str); 1] = [("AGENT_BASH_JOURNAL_LEVEL", "full")];

/// A home with a project in it, and what a recorded run there printed.
fn ran(words: &[&str]) -> (Home, Run) {
    let home = Home::new();
    home.write("project/a", "one\n");
    let project = home.path().join("project");
    let run = home
        .command(&[&["run"], words].concat())
        .envs(RECORDED)
        .current_dir(project)
        .output()
        .expect("the binary starts");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    let run = Run {
        code: run.status.code(),
        stdout: text(run.stdout),
        stderr: text(run.stderr),
    };
    (home, run)
}

fn page(home: &Home) -> String {
    let made = home.run(&["report", "-o", "-"]);
    assert_eq!(made.code, Some(0), "{}", made.stderr);
    made.stdout
}

#[test]
fn files_without_a_text_say_so_and_attempts_outside_are_marked() {
    let script = "mkdir d; printf 'a\\0b' > blob; chmod +x a; echo x > ../beyond";
    let (home, run) = ran(&["--changes=undo", script]);
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
        assert!(html.contains("Files outside of it: 1 below "), "{html}");
    }
}

#[test]
fn a_job_that_has_failed_since_is_amber() {
    // One that ends at once is no job.
    let script = "until [ -e ../go ]; do sleep 0.01; done; exit 4";
    let (home, run) = ran(&["--mode", "background", script]);
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
fn what_is_changed_after_a_call_has_ended_is_with_it() {
    let waits = "until [ -e ../go ]; do sleep 0.01; done; echo tick > made-late";
    let left = format!("({waits}) > /dev/null 2>&1 &");
    for words in [
        &["--changes=undo", "--mode", "background", waits][..],
        &["--changes=undo", &left],
    ] {
        let (home, run) = ran(words);
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
            // Later changes cannot be traced here.
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
