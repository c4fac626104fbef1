//! The sandbox options of the command line. The tests check outside of the sandbox which files
//! exist.

#![expect(clippy::expect_used, reason = "a test fails by panicking")]

use crate::support::{Home, Run};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::MetadataExt;

/// Runs a command in a repository of the home.
fn run(home: &Home, words: &[&str]) -> Run {
    in_repository(home, &[&["run"], words].concat())
}

fn in_repository(home: &Home, words: &[&str]) -> Run {
    home.write("repo/.git/HEAD", "ref: refs/heads/main\n");
    home.write("repo/.git/hooks/sample", "");
    home.run_in("repo", words)
}

const WRITES: &str = "echo x >in; echo x >../out; echo x >.git/hooks/pre-commit; true";

#[test]
fn sandbox_level_limits_the_writable_paths() {
    for (options, want) in [
        (&["--sandbox", "off"][..], [true, true, true]),
        (&[][..], [true, true, true]),
        (&["--sandbox", "read_only"][..], [false, false, false]),
        (&["--sandbox", "workspace_write"][..], [true, false, false]),
    ] {
        let home = Home::new();
        let mut words = options.to_vec();
        words.push(WRITES);
        let ran = run(&home, &words);
        let names = ["repo/in", "out", "repo/.git/hooks/pre-commit"];
        let written = names.map(|name| home.path().join(name).exists());
        assert_eq!(written, want, "{options:?}: {}", ran.stdout);
        assert_eq!(ran.code, Some(0));
    }
}

#[test]
fn refused_change_of_a_protected_file_is_no_change() {
    for (level, text, is_changed) in [("workspace_write", "before", false), ("off", "x", true)] {
        let home = Home::new();
        home.write("repo/.git/config", "before\n");
        let script = "echo x >.git/new; mv -f .git/new .git/config; true";
        let ran = run(&home, &["--sandbox", level, "--changes", "undo", script]);
        let config = home.path().join("repo/.git/config");
        let found = std::fs::read_to_string(&config).expect("the file exists");
        assert_eq!(found.trim(), text, "{}", ran.stdout);
        let names = config.metadata().expect("the file exists").nlink();
        assert_eq!(names, 1, "{}", ran.stdout);
        assert!(!ran.stdout.contains("This call changed"), "{}", ran.stdout);
        let listed = in_repository(&home, &["changes", "show", "1"]);
        let mut changes = listed.stdout.lines().filter(|line| !line.contains(" of: "));
        let is_listed = changes.any(|line| line.contains(".git/config"));
        assert_eq!(is_listed, is_changed, "{}{}", listed.stdout, listed.stderr);
    }
}

#[test]
fn writable_option_adds_a_directory() {
    let home = Home::new();
    home.write("more/old", "");
    let more = home.path().join("more");
    let more = more.to_str().unwrap_or_default();
    let script = "echo x >../more/new";
    let with = ["--sandbox", "workspace_write", "--writable", more, script];
    assert_ne!(
        run(&home, &["--sandbox", "workspace_write", script]).code,
        Some(0)
    );
    assert_eq!(run(&home, &with).code, Some(0));
}

#[test]
fn sandbox_run_refuses_the_directory_of_an_agent_behind_a_link_of_a_call() {
    let home = Home::new();
    home.write("repo/state/codex/file", "");
    home.write("outside/file", "before\n");
    in_repository(&home, &["run", "true"]);
    let directory = home.path().join("repo/state/codex");
    let run_agent = || {
        let script = "echo x >\"$CODEX_HOME/file\"";
        let options = ["sandbox", "run", "--network", "off", "--agent", "codex"];
        let mut command = home.command(&options);
        command.args(["--", "sh", "-c", script]);
        command.env("CODEX_HOME", &directory);
        command.current_dir(home.path().join("repo"));
        Run::of(&mut command)
    };
    let text = |path: &str| std::fs::read_to_string(home.path().join(path));
    assert_eq!(run_agent().code, Some(0));
    assert_eq!(text("repo/state/codex/file").expect("a file"), "x\n");
    let plant = "rm -r state/codex && ln -s ../../outside state/codex";
    assert_eq!(
        run(&home, &["--sandbox", "workspace_write", plant]).code,
        Some(0)
    );
    let ran = run_agent();
    let error = ran.stderr;
    assert_eq!(ran.code, Some(126), "{error}");
    assert!(
        error.contains("is reached through the symbolic link"),
        "{error}"
    );
    assert_eq!(text("outside/file").expect("a file"), "before\n");
}

#[test]
fn sandbox_options_without_a_sandbox_are_refused() {
    let home = Home::new();
    for (words, wanted) in [
        (&["--network", "off", "true"][..], "--network has no effect"),
        (
            &["--sandbox", "read_only", "--writable", "/tmp", "true"][..],
            "--writable has no effect",
        ),
        (&["--sandbox", "none", "true"][..], "workspace_write"),
    ] {
        let ran = run(&home, words);
        assert_eq!(ran.code, Some(2), "{words:?}");
        assert!(ran.stderr.contains(wanted), "{}", ran.stderr);
    }
}

/// Starts a server on loopback that answers any request with `answered`. Returns its address.
fn server() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback");
    let address = listener.local_addr().expect("an address").to_string();
    std::thread::spawn(move || {
        for client in listener.incoming() {
            let _ = client.and_then(|mut client| {
                // The request's end: a server that closes before has reset the connection.
                let mut request = Vec::new();
                while !request.ends_with(b"\r\n\r\n") {
                    let mut byte = [0];
                    client.read_exact(&mut byte)?;
                    request.extend(byte);
                }
                client.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nanswered\n")
            });
        }
    });
    address
}

#[test]
fn network_option_with_a_list_lets_programs_reach_the_listed_hosts_only() {
    let home = Home::new();
    let (listed, other) = (server(), server());
    // The server is on this machine, for which curl would not use the proxy.
    let get = |address: &str| format!("curl -sS --noproxy '' http://{address}/");
    let options = ["--sandbox", "read_only", "--network", &listed];
    let call = |script: &str| run(&home, &[&options[..], &[script]].concat());
    let reached = call(&get(&listed));
    assert_eq!(
        (reached.code, reached.stdout.as_str()),
        (Some(0), "answered\n"),
        "{}",
        reached.stderr
    );
    let refused = call(&get(&other));
    assert!(
        refused
            .stdout
            .contains(&format!("403 Not allowed by sandbox.network: {other}")),
        "{}",
        refused.stdout
    );
    let notice = format!(
        "[The sandbox refused 1 connection to a host that is not listed: {other}; the user can allow them in the list `sandbox.network`: [\"{other}\"].]"
    );
    assert!(refused.stdout.contains(&notice), "{}", refused.stdout);
    assert!(
        !call(&format!("curl -sS --noproxy '*' http://{listed}/"))
            .stdout
            .contains("answered")
    );
    let invalid = run(
        &home,
        &["--sandbox", "read_only", "--network", "ncm", "true"],
    );
    assert_eq!(invalid.code, Some(2));
    assert!(
        invalid.stderr.contains("`ncm` is no host"),
        "{}",
        invalid.stderr
    );
}

#[test]
fn sandboxed_call_is_told_where_changes_and_records_can_be_read() {
    let home = Home::new();
    run(&home, &["--changes", "undo", "echo x >a"]);
    let program = env!("CARGO_BIN_EXE_agent-bash");
    for command in ["changes list", "changes undo 1", "log", "report"] {
        for (level, is_told) in [("workspace_write", true), ("off", false)] {
            let script = format!("{program} {command} 2>&1");
            let ran = run(&home, &["--sandbox", level, &script]);
            let hint = ran.stdout.contains("outside of the sandbox");
            assert_eq!(hint, is_told, "{level} {command}: {}", ran.stdout);
        }
    }
}

#[test]
fn sandbox_command_tries_each_promise() {
    let home = Home::new();
    let tried = in_repository(&home, &["sandbox"]);
    assert_eq!(tried.code, Some(0), "{}{}", tried.stdout, tried.stderr);
    assert!(tried.stdout.contains("A sandbox is"), "{}", tried.stdout);
    let rows = tried.stdout.lines().filter(|line| line.ends_with(" yes"));
    assert!(rows.count() >= 8, "{}", tried.stdout);
}

#[test]
fn schema_mentions_the_sandbox_if_it_is_on() {
    let home = Home::new();
    assert!(!home.run(&["schema"]).stdout.contains("sandbox"));
    home.write(
        ".config/agent-bash/config.toml",
        "[sandbox]\nlevel = \"read_only\"\n",
    );
    let schema = home.run(&["schema"]).stdout;
    assert!(
        schema.contains("Commands run in a sandbox (read_only)"),
        "{schema}"
    );
}

/// Landlock checks the path of the file when a program opens `/dev/stdout`.
#[test]
fn standard_files_can_be_opened_again_by_name() {
    for level in ["read_only", "workspace_write"] {
        let home = Home::new();
        home.write("in", "input");
        home.write("repo/.git/HEAD", "ref: refs/heads/main\n");
        let file = |name: &str| {
            let mut options = std::fs::File::options();
            let opened = options
                .append(true)
                .create(true)
                .open(home.path().join(name));
            opened.expect("a file")
        };
        let input = std::fs::File::open(home.path().join("in")).expect("a file");
        let script = "cat /dev/stdin >>/dev/stdout; echo x >/dev/stderr; echo >>../other";
        let words = ["sandbox", "run", "--level", level, "--", "sh", "-c", script];
        let mut command = home.command(&words);
        command.current_dir(home.path().join("repo"));
        command
            .stdin(input)
            .stdout(file("out"))
            .stderr(file("errors"));
        command.status().expect("the program starts");
        let text = |name: &str| std::fs::read_to_string(home.path().join(name));
        let [out, errors] = ["out", "errors"].map(|name| text(name).expect("a file"));
        assert_eq!(out, "input", "{errors}");
        assert!(errors.starts_with("x\n"), "{errors}");
        assert!(text("other").is_err(), "{errors}");
    }
}
