//! Records as the user reads them: `log`, `report`, `clean`.

#![expect(
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "a test fails by panicking, and starts the programs it tests"
)]

use crate::support::{Home, Run};
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

/// Runs a command that is recorded.
fn record(home: &Home, words: &[&str]) -> Run {
    let words = [&["run"], words].concat();
    home.run_with(&words, &[("AGENT_BASH_JOURNAL_LEVEL", "metadata")])
}

/// Runs the program in the directory `work` and records it. The home directory itself would not be
/// recorded.
fn run_in_work(home: &Home, words: &[&str]) {
    let mut command = home.command(words);
    let status = command
        .env("AGENT_BASH_JOURNAL_LEVEL", "metadata")
        .current_dir(home.path().join("work"))
        .stdout(Stdio::null())
        .status();
    assert!(status.expect("it starts").success(), "{words:?}");
}

/// Returns the record files of a session, oldest first.
fn files(home: &Home, session: &str) -> Vec<PathBuf> {
    let directory = home.path().join("state/journal").join(session);
    let entries = fs::read_dir(directory).expect("records");
    let mut files: Vec<_> = entries.map(|entry| entry.expect("one").path()).collect();
    files.sort();
    files
}

/// In the sandbox, the directory of the records looks like this.
#[test]
fn hidden_records_are_named_instead_of_missing_ones() {
    let home = Home::new();
    record(&home, &["echo first"]);
    let directory = home.path().join("state/journal");
    for (mode, is_hidden) in [(0, true), (0o700, false)] {
        fs::set_permissions(&directory, fs::Permissions::from_mode(mode)).expect("a directory");
        for words in [&["log"][..], &["log", "--list"]] {
            let run = home.run(words);
            let is_named = run.stderr.contains("the records cannot be read");
            assert_eq!(is_named, is_hidden, "{words:?}: {}", run.stderr);
        }
    }
}

#[test]
fn log_lists_each_record_by_a_name_that_it_accepts() {
    let home = Home::new();
    fs::create_dir(home.path().join("sub")).expect("a directory");
    record(&home, &["echo first"]);
    record(&home, &["--cwd", "sub", "echo second"]);
    record(&home, &["--state", "other", "echo third"]);
    let list = home.run(&["log", "--list"]).stdout;
    let lines: Vec<&str> = list.lines().collect();
    assert_eq!(lines.len(), 4, "{list}");
    for (line, name, directory) in [(1, "cli@1", ""), (2, "cli@2", "/sub"), (3, "other@1", "")] {
        let words: Vec<&str> = lines[line].split_whitespace().collect();
        assert_eq!(words[0], name, "{list}");
        let directory = format!("{}{directory}", home.path().display());
        assert_eq!(words.last(), Some(&&*directory), "{list}");
    }
    for (name, expected, code) in [
        ("cli@1", "echo first", 0),
        ("cli@2", "echo second", 0),
        ("cli", "echo second", 0),
        ("other", "echo third", 0),
        ("cli@3", "there is no record cli@3", 1),
        ("cli@0", "the number that `log --list` shows", 2),
    ] {
        let run = home.run(&["log", name]);
        assert_eq!(run.code, Some(code), "{name}: {}", run.stderr);
        let all = run.stdout + &run.stderr;
        assert!(all.contains(expected), "{name}: {all}");
    }
    let both = home.run(&["log", "cli", "--all"]).stdout;
    assert!(both.contains("first") && both.contains("second"), "{both}");
    assert_eq!(home.run(&["log", "cli@1", "--all"]).code, Some(2));
}

#[test]
fn log_without_a_name_reads_the_last_written_record() {
    let home = Home::new();
    record(&home, &["echo first"]);
    record(&home, &["echo second"]);
    assert!(home.run(&["log"]).stdout.contains("echo second"));
    let first = File::options().append(true).open(&files(&home, "cli")[0]);
    let later = SystemTime::now() + Duration::from_secs(60);
    first.expect("a file").set_modified(later).expect("a time");
    let log = home.run(&["log"]).stdout;
    assert!(
        log.contains("echo first") && !log.contains("second"),
        "{log}"
    );
}

#[test]
fn log_without_a_name_prefers_this_project() {
    let home = Home::new();
    for directory in ["one", "two", "three"] {
        fs::create_dir(home.path().join(directory)).expect("a directory");
    }
    record(&home, &["--cwd", "one", "echo first"]);
    record(&home, &["--state", "other", "--cwd", "two", "echo second"]);
    for (directory, expected, is_elsewhere) in [
        ("one", "echo first", false),
        ("two", "echo second", false),
        (".", "echo second", false),
        ("three", "echo second", true),
    ] {
        let log = home.run_in(directory, &["log"]);
        assert!(log.stdout.contains(expected), "{directory}: {}", log.stdout);
        let says_so = log.stderr.contains(
            "This project has no record. This is the last one of another project, session other.",
        );
        assert_eq!(says_so, is_elsewhere, "{directory}: {}", log.stderr);
        assert_eq!(home.run_in(directory, &["log", "cli"]).stderr, "");
    }
}

/// Runs a command of this program on a terminal.
fn on_terminal(home: &Home, command: &str) -> String {
    let command = format!("'{}' {command}", env!("CARGO_BIN_EXE_agent-bash"));
    Run::of(home.program("script").args(["-qec", &command, "/dev/null"])).stdout
}

#[test]
fn log_on_a_terminal_names_the_record() {
    let home = Home::new();
    record(&home, &["echo first"]);
    let piped = home.run(&["log"]).stdout;
    assert!(piped.starts_with("CALL"), "{piped}");
    let shown = on_terminal(&home, "log");
    assert!(shown.contains("cli, since "), "{shown}");
}

#[test]
fn pages_and_interface_name_what_a_terminal_needs() {
    let home = Home::new();
    assert!(on_terminal(&home, "man").contains("agent-bash man | man -l -"));
    assert_eq!(home.run(&["man"]).stderr, "");
    let mut dumb = home.program("script");
    let tui = format!("'{}' tui", env!("CARGO_BIN_EXE_agent-bash"));
    dumb.args(["-qec", &tui, "/dev/null"]).env("TERM", "dumb");
    let run = Run::of(&mut dumb);
    assert!(run.stdout.contains("TERM is dumb"), "{}", run.stdout);
    assert_eq!(run.code, Some(2));
}

#[test]
fn lines_of_a_newer_version_are_counted() {
    let home = Home::new();
    record(&home, &["echo first"]);
    let file = File::options().append(true).open(&files(&home, "cli")[0]);
    let mut file = file.expect("a file");
    file.write_all(b"{\"by\":\"robot\"}\n{\"by\"")
        .expect("room");
    let expected = home.run(&["log"]).stderr;
    assert!(
        expected.contains("[1 line of a newer version is left out.]"),
        "{expected}"
    );
    assert!(
        expected.contains("[1 line could not be read.]"),
        "{expected}"
    );
}

#[test]
fn report_writes_to_pipes_and_follows_links() {
    let home = Home::new();
    record(&home, &["echo first"]);
    let at = |name: &str| home.path().join(name);

    let made = Command::new("mkfifo").arg(at("pipe")).status();
    assert!(made.expect("mkfifo starts").success());
    symlink("pipe", at("to-pipe")).expect("a link");
    for name in ["pipe", "to-pipe"] {
        let reader = Command::new("cat")
            .arg(at("pipe"))
            .stdout(Stdio::piped())
            .spawn()
            .expect("cat starts");
        let run = home.run(&["report", "-o", name]);
        if !at("pipe")
            .symlink_metadata()
            .expect("it")
            .file_type()
            .is_fifo()
        {
            // Without this, `cat` would wait for a writer for ever.
            let mut reader = reader;
            reader.kill().expect("it runs");
            panic!("{name} was replaced");
        }
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        let read = reader.wait_with_output().expect("it ends").stdout;
        assert!(is_page(&String::from_utf8_lossy(&read)), "{name}");
    }
    assert!(at("to-pipe").is_symlink());

    home.write("elsewhere/page.html", "old");
    symlink("elsewhere/page.html", at("link")).expect("a link");
    symlink("elsewhere/new.html", at("dangling")).expect("a link");
    for (link, file) in [("link", "page.html"), ("dangling", "new.html")] {
        assert_eq!(home.run(&["report", "-o", link]).code, Some(0));
        assert!(at(link).is_symlink(), "{link}");
        let text = fs::read_to_string(at("elsewhere").join(file)).expect("a page");
        assert!(is_page(&text), "{link}");
    }

    symlink("/proc/self/fd/1", at("stdout")).expect("a link");
    assert!(is_page(&home.run(&["report", "-o", "stdout"]).stdout));
    assert!(is_page(&home.run(&["report", "-o", "-"]).stdout));
}

#[test]
fn report_follows_only_a_link_that_the_user_names() {
    let home = Home::new();
    record(&home, &["echo first"]);
    home.write("elsewhere/kept", "kept");
    let kept = home.path().join("elsewhere/kept");
    symlink(&kept, home.path().join("report.html")).expect("a link");
    let run = home.run(&["report"]);
    assert_eq!(run.code, Some(125), "{}", run.stderr);
    assert!(
        run.stderr.contains("report.html is a link"),
        "{}",
        run.stderr
    );
    assert_eq!(fs::read_to_string(&kept).expect("the file"), "kept");
    assert_eq!(home.run(&["report", "-o", "report.html"]).code, Some(0));
    assert!(is_page(&fs::read_to_string(&kept).expect("a page")));

    let page = home.path().join("report.html");
    fs::remove_file(&page).expect("the link");
    // A pipe is replaced: its reader may be a sandboxed call.
    let made = Command::new("mkfifo").arg(&page).status();
    assert!(made.expect("mkfifo starts").success());
    for expected in ["new", "replaced"] {
        let run = home.run(&["report"]);
        assert_eq!(run.code, Some(0), "{expected}");
        let is_said = run.stderr.starts_with("report.html: 1 call of ");
        assert!(is_said, "{}", run.stderr);
        assert!(page.metadata().expect("a page").is_file(), "{expected}");
        let text = fs::read_to_string(&page).expect("a page");
        assert!(is_page(&text), "{expected}");
    }
}

#[test]
fn report_error_does_not_name_its_temporary_file() {
    let home = Home::new();
    record(&home, &["echo first"]);
    for file in ["missing/page.html", "/sys/page.html", "."] {
        let run = home.run(&["report", "-o", file]);
        assert_eq!(run.code, Some(125), "{file}: {}", run.stderr);
        assert!(run.stderr.contains("cannot write"), "{}", run.stderr);
        let expected = run.stderr.replace(&*home.path().to_string_lossy(), "");
        assert!(!expected.contains(".tmp"), "{expected}");
    }
}

#[test]
fn report_masks_secrets_in_diffs() {
    let home = Home::new();
    home.write(
        "work/kept",
        "API_TOKEN=hunter22x\nharmless\nvalue-of-mine\n",
    );
    run_in_work(&home, &["run", "--changes=undo", "cp kept made"]);
    let own = [("MY_SECRET", "value-of-mine")];
    let page = home.run_with(&["report", "-o", "-"], &own).stdout;
    assert!(page.contains("harmless"), "the diff is there");
    for secret in ["hunter22x", "value-of-mine"] {
        assert!(!page.contains(secret), "{secret}");
    }
}

#[test]
fn clean_removes_records_of_ended_programs() {
    let home = Home::new();
    record(&home, &["echo first"]);
    record(&home, &["--state", "other", "echo second"]);
    let mut server = home
        .command(&["rpc", "--state", "live"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut input = server.stdin.take().expect("a pipe");
    let call = r#"{"id": 1, "type": "tool_call", "request": {"command": "echo live"}}"#;
    writeln!(input, "{call}").expect("it reads");
    let output = BufReader::new(server.stdout.take().expect("a pipe"));
    let answered = |line: &String| line.contains("\"id\":1");
    let answer = output.lines().map_while(Result::ok).find(answered);
    assert!(answer.is_some());

    let cleaned = home.run(&["clean"]).stdout;
    assert!(cleaned.contains("removed 1 record, "), "{cleaned}");
    let cleaned = home.run(&["clean", "--all"]).stdout;
    assert!(
        cleaned.contains("1 record, ") && cleaned.contains("kept 1 record, still written"),
        "{cleaned}"
    );
    let list = home.run(&["log", "--list"]).stdout;
    assert!(
        list.contains("live@1") && list.lines().count() == 2,
        "{list}"
    );
    drop(input);
    server.wait().expect("it ends");
    let cleaned = home.run(&["clean", "--all"]).stdout;
    assert!(
        cleaned.contains("1 record") && !cleaned.contains("kept"),
        "{cleaned}"
    );
}

#[test]
fn clean_keeps_and_names_what_an_undo_needs() {
    let home = Home::new();
    home.write("work/kept", "x\n");
    for option in ["--changes=undo", "--trial"] {
        run_in_work(&home, &["run", option, "echo y >> kept"]);
    }
    let cleaned = home.run(&["clean", "--all"]).stdout;
    assert!(
        cleaned.contains("kept 1 change set for undo, ") && cleaned.contains("kept 1 trial until"),
        "{cleaned}"
    );
}

/// True if the text is a page with the call of [`record`].
fn is_page(text: &str) -> bool {
    text.contains("</html>") && text.contains("echo first")
}
