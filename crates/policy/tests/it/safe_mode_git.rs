//! Real git in a repository whose own configuration names programs: in safe mode none of them runs.

#![expect(clippy::disallowed_methods, reason = "a test runs real git")]
#![expect(
    clippy::unwrap_used,
    reason = "a repository that cannot be made fails the test"
)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use agent_bash_policy::{Context, SafeMode, Script, safe_run};

fn run(script: &str, cwd: &Path, environment: &[(String, String)]) -> String {
    let output = Command::new("bash")
        .args(["-c", script])
        .current_dir(cwd)
        .env_clear()
        .envs(environment.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// A repository with a modified file, and a program in every setting that makes git run one.
fn repository(root: &Path, environment: &[(String, String)]) {
    let evil = root.join("evil");
    fs::write(
        &evil,
        format!("#!/bin/sh\ntouch '{}'\ncat\n", root.join("ran").display()),
    )
    .unwrap();
    fs::set_permissions(&evil, fs::Permissions::from_mode(0o755)).unwrap();
    let evil = evil.display();
    fs::create_dir(root.join("w")).unwrap();
    let setup = format!(
        "git init -q . && git config user.name x && git config user.email x@x.example\n\
         printf 'a\\n' > a.txt; git add a.txt; git commit -q -m one; printf 'b\\n' > a.txt\n\
         echo '*.txt diff=d filter=f' > .gitattributes\n\
         for key in core.fsmonitor core.pager diff.external diff.d.textconv diff.d.command filter.f.clean core.editor \
         core.sshCommand gpg.program; do git config $key '{evil}'; done\n"
    );
    run(&setup, &root.join("w"), environment);
}

#[test]
fn a_repository_runs_nothing_under_safe_mode() {
    let root = tempfile::tempdir().unwrap();
    let plain: Vec<(String, String)> = [
        ("PATH", "/usr/local/bin:/usr/bin:/bin"),
        ("HOME", "/nonexistent"),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .to_vec();
    repository(root.path(), &plain);
    let (cwd, ran) = (root.path().join("w"), root.path().join("ran"));
    let context = Context::new(cwd.clone());
    for script in [
        "git status", "git diff", "git log -p", "git show", "git blame a.txt", "git grep a",
        "git diff | cat",
    ] {
        // So that git looks at the file again.
        fs::write(cwd.join("a.txt"), format!("{script}\n")).unwrap();
        let safe = safe_run(&Script::read(script, &context), &SafeMode::default()).unwrap();
        run(&safe.script, &cwd, &safe.environment.apply(plain.clone()));
        assert!(!ran.exists(), "{script}, run as {:?}", safe.script);
    }
    let safe = safe_run(&Script::read("git diff", &context), &SafeMode::default()).unwrap();
    let shown = run(&safe.script, &cwd, &safe.environment.apply(plain.clone()));
    assert!(shown.contains("+git diff | cat"), "{shown}");
    // Negative control: without safe mode it does run them.
    run("git diff", &cwd, &plain);
    assert!(ran.exists());
}
