//! The sandbox on the command line, with the kernel's own answer: what was written is looked at
//! from outside.

#![expect(clippy::expect_used, reason = "a test fails by panicking")]

use crate::support::{Home, Run};

/// Runs in a repository of the home.
fn run(home: &Home, words: &[&str]) -> Run {
    home.write("repo/.git/HEAD", "ref: refs/heads/main\n");
    home.write("repo/.git/hooks/sample", "");
    let words = [&["run"], words].concat();
    let output = home
        .command(&words)
        .current_dir(home.path().join("repo"))
        .output()
        .expect("the binary starts");
    Run {
        code: output.status.code(),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

const WRITES: &str = "echo x >in; echo x >../out; echo x >.git/hooks/pre-commit; true";

#[test]
fn a_level_says_what_may_be_written() {
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
fn a_directory_can_be_added() {
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
fn options_of_a_sandbox_without_one_are_refused() {
    let home = Home::new();
    for (words, wanted) in [
        (
            &["--network", "off", "true"][..],
            "--network is of no effect",
        ),
        (
            &["--sandbox", "read_only", "--writable", "/tmp", "true"][..],
            "--writable is of no effect",
        ),
        (&["--sandbox", "none", "true"][..], "workspace_write"),
    ] {
        let ran = run(&home, words);
        assert_eq!(ran.code, Some(2), "{words:?}");
        assert!(ran.stderr.contains(wanted), "{}", ran.stderr);
    }
}

#[test]
fn each_promise_is_tried() {
    let home = Home::new();
    // A home directory as the workspace is refused, so this one is elsewhere.
    let tried = home.run_with(&["sandbox"], &[("HOME", "/nonexistent")]);
    assert_eq!(tried.code, Some(0), "{}{}", tried.stdout, tried.stderr);
    assert!(tried.stdout.contains("A sandbox is"), "{}", tried.stdout);
    let rows = tried.stdout.lines().filter(|line| line.ends_with(" yes"));
    assert!(rows.count() >= 8, "{}", tried.stdout);
}

#[test]
fn the_schema_speaks_of_it_where_it_is_on() {
    let home = Home::new();
    assert!(!home.run(&["schema"]).stdout.contains("sandbox"));
    home.write(
        ".config/agent-bash/config.toml",
        "[sandbox]\nlevel = \"read_only\"\n",
    );
    let told = home.run(&["schema"]).stdout;
    assert!(
        told.contains("Commands run in a sandbox (read_only)"),
        "{told}"
    );
}
