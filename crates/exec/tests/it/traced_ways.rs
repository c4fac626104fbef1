//! Files that a call reaches by another way than a path below the workspace. Their changes are
//! listed and can be undone, or the record is marked as inexact, with the reason.

#![expect(clippy::unwrap_used, reason = "a test that fails may stop")]

use crate::support::{run, spec};
use crate::test_workspace::{TestWorkspace, names};
use agent_bash_core::ScriptEnding;
use agent_bash_core::changes::Undoable;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::net::UnixListener;
use std::process::Stdio;
use std::thread;

const FILES: &[(&str, &str)] = &[("one", "one\n"), ("two", "two\n"), ("d/six", "six\n")];

const PROGRAM: &str = env!("CARGO_BIN_EXE_exec-test-changing");

/// True if this machine lets a user create namespaces, which some tests need.
async fn has_namespaces(workspace: &TestWorkspace) -> bool {
    let spec = spec("unshare -rm true").cwd(workspace.root.clone());
    run(&spec).await.outcome.ending == ScriptEnding::Exited { code: 0 }
}

#[tokio::test(flavor = "multi_thread")]
async fn file_is_found_as_the_caller_finds_it() {
    let beyond = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink("/proc/self", beyond.path().join("itself")).unwrap();
    std::os::unix::fs::symlink("/proc", beyond.path().join("proc")).unwrap();
    let beyond = beyond.path().display();
    for (script, changed) in [
        ("bash -c 'echo x >/dev/fd/5' 5<one".to_owned(), &["one"][..]),
        (
            format!("exec 5<one; echo x >{beyond}/itself/fd/5"),
            &["one"],
        ),
        (
            format!("cd d; echo x >{beyond}/proc/self/cwd/six"),
            &["d/six"],
        ),
        (
            "cd d; echo x >../one; echo x >/proc/thread-self/cwd/six".to_owned(),
            &["d/six", "one"],
        ),
        (format!("{PROGRAM} in-root"), &["d/six"]),
        (format!("{PROGRAM} other-name"), &["one"]),
    ] {
        let workspace = TestWorkspace::with(FILES);
        let (ran, changes) = workspace.changed_by(&script).await;
        assert_eq!((&*ran.err, ran.incomplete_reason()), ("", None), "{script}");
        assert!(changes.exact, "{script}");
        assert_eq!(names(&changes), changed, "{script}");
        workspace.store().undo("s", changes.id, &[], false).unwrap();
        for (name, text) in FILES {
            assert_eq!(&workspace.text(name), text, "{script}: {name}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn path_starts_at_the_root_of_the_caller() {
    let workspace = TestWorkspace::with(FILES);
    if !has_namespaces(&workspace).await {
        return;
    }
    std::os::unix::fs::symlink("/six", workspace.root.join("d/absolute")).unwrap();
    let script = format!("unshare -r {PROGRAM} changed-root");
    let (ran, changes) = workspace.changed_by(&script).await;
    assert_eq!((&*ran.err, ran.incomplete_reason()), ("", None));
    assert_eq!(names(&changes), ["d/seven", "d/six"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn file_with_a_name_beyond_the_root_is_taken_back() {
    for (script, content, names_changed) in [
        (
            "echo more >>../beyond",
            "one\nmore\n",
            &["d/link", "one"][..],
        ),
        ("chmod 600 ../beyond", "one\n", &["d/link", "one"]),
        (
            "truncate -s 1 ../beyond; echo y >>one",
            "oy\n",
            &["d/link", "one"],
        ),
        // The file is only renamed outside of the root.
        ("mv ../beyond ../other", "one\n", &[]),
    ] {
        let workspace = TestWorkspace::with(FILES);
        let one = workspace.root.join("one");
        fs::hard_link(&one, workspace.root.join("d/link")).unwrap();
        fs::hard_link(&one, workspace.root.join("../beyond")).unwrap();
        let (ran, changes) = workspace.changed_by(script).await;
        assert_eq!((&*ran.err, ran.incomplete_reason()), ("", None), "{script}");
        assert_eq!(names(&changes), names_changed, "{script}");
        assert!(changes.exact, "{script}");
        assert_eq!(workspace.text("one"), content, "{script}");
        if !names_changed.is_empty() {
            assert_eq!(changes.undo, Undoable::Whole, "{script}");
            workspace.store().undo("s", changes.id, &[], false).unwrap();
            assert_eq!(
                (workspace.text("one"), workspace.text("d/link")),
                ("one\n".into(), "one\n".into())
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn file_of_another_mount_is_found_or_named_as_unknown() {
    let beyond = tempfile::tempdir().unwrap();
    let at = beyond.path().display();
    if !has_namespaces(&TestWorkspace::with(FILES)).await {
        return;
    }
    for (script, changed) in [
        (
            format!(
                "unshare -rm sh -c 'mount --bind d {at}; echo x >>{at}/six; echo x >{at}/seven'"
            ),
            Some(&["d/seven", "d/six"][..]),
        ),
        // The first change of the call, below a directory of the kernel's file systems.
        (
            "unshare -rm sh -c 'mount --bind d /dev; echo x >/dev/seven'".to_owned(),
            Some(&["d/seven"]),
        ),
        (
            "unshare -rm sh -c 'mount --bind d/six /proc/version; echo x >>/proc/version'"
                .to_owned(),
            Some(&["d/six"]),
        ),
        (
            format!("unshare -rm {PROGRAM} clone-write"),
            Some(&["d/six"]),
        ),
        (
            format!("unshare -rm sh -c 'mount -t tmpfs none {at}; echo x >{at}/six'"),
            Some(&[]),
        ),
        // The name that the call removes is not known.
        (format!("unshare -rm {PROGRAM} clone-remove"), None),
    ] {
        let workspace = TestWorkspace::with(FILES);
        let (ran, changes) = workspace.changed_by(&script).await;
        assert_eq!(&*ran.err, "", "{script}");
        assert_eq!(
            ran.incomplete_reason().is_none(),
            changed.is_some(),
            "{script}: {ran:?}"
        );
        assert_eq!(changes.exact, changed.is_some(), "{script}");
        if let Some(changed) = changed {
            assert_eq!(names(&changes), changed, "{script}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn result_names_a_change_that_is_not_recorded() {
    let fifo = tempfile::tempdir().unwrap();
    let fifo = fifo.path().join("fifo").display().to_string();
    let mkfifo = spec(&format!("mkfifo {fifo}"));
    run(&mkfifo).await;
    // The memory is only opened.
    let own = std::process::id();
    let device = if rustix::process::geteuid().is_root() {
        // No loop device has this number; opening it fails, once it was inspected.
        Some((
            "mknod device b 7 250; (exec 5<>device) 2>/dev/null; rm device".to_owned(),
            "block device",
        ))
    } else {
        None
    };
    let cases = [
        (format!("{PROGRAM} flags"), "flags"),
        // `file_setattr`: the same for a path. It is inspected even if the kernel lacks it.
        (
            r#"perl -e '($n, $a) = ("one", "\0" x 24); syscall(469, -100, $n, $a, 24, 0)'"#
                .to_owned(),
            "flags",
        ),
        (
            format!("(exec 5<>/proc/{own}/mem) 2>/dev/null; true"),
            "controlled",
        ),
        (
            "cd ..; mv root other; echo x >other/one; mv other root".to_owned(),
            "moved",
        ),
        (format!("exec 5<>{fifo}; echo x >&5"), "FIFO"),
    ];
    for (script, why) in cases.into_iter().chain(device) {
        let workspace = TestWorkspace::with(FILES);
        let (ran, changes) = workspace.changed_by(&script).await;
        assert_eq!(&*ran.err, "", "{script}");
        assert!(
            ran.incomplete_reason().is_some_and(|it| it.contains(why)),
            "{script}: {ran:?}"
        );
        assert!(!changes.exact, "{script}");
    }
    // The negative control: a process of the call itself.
    let workspace = TestWorkspace::with(FILES);
    let (ran, changes) = workspace
        .changed_by("sleep 60 & (exec 5<>/proc/$!/mem) 2>/dev/null; kill $!")
        .await;
    assert_eq!((&*ran.err, ran.incomplete_reason()), ("", None));
    assert!(changes.exact);
}

/// Answers one connection, once it has changed a file.
fn serve<S: Read + Write>(path: std::path::PathBuf, accept: impl FnOnce() -> S + Send + 'static) {
    thread::spawn(move || {
        let mut socket = accept();
        socket.read_exact(&mut [0; 2]).unwrap();
        fs::write(path, "by another process").unwrap();
        socket.write_all(b"done").unwrap();
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn call_that_speaks_to_a_process_outside_is_not_exact() {
    let workspace = TestWorkspace::with(FILES);
    let path = workspace.temp.path().join("socket");
    let local = UnixListener::bind(&path).unwrap();
    serve(workspace.root.join("one"), move || {
        local.accept().unwrap().0
    });
    let script = format!("{PROGRAM} connect {}", path.display());
    let (ran, changes) = workspace.changed_by(&script).await;
    assert!(
        ran.incomplete_reason()
            .is_some_and(|why| why.contains("socket")),
        "{ran:?}"
    );
    assert_eq!(
        (workspace.text("one").as_str(), changes.exact),
        ("by another process", false)
    );
    for (way, file) in [("connect-tcp", "two"), ("connect-by-message", "d/six")] {
        let internet = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = internet.local_addr().unwrap();
        serve(workspace.root.join(file), move || {
            internet.accept().unwrap().0
        });
        let script = format!("{PROGRAM} {way} {address}");
        let (ran, changes) = workspace.changed_by(&script).await;
        assert!(
            ran.incomplete_reason()
                .is_some_and(|why| why.contains(&address.to_string())),
            "{ran:?}"
        );
        assert_eq!(
            (workspace.text(file).as_str(), changes.exact),
            ("by another process", false)
        );
    }
    // The negative control: processes of the call itself.
    let (ran, changes) = workspace
        .changed_by(&format!("{PROGRAM} connect-itself"))
        .await;
    assert_eq!((&*ran.err, ran.incomplete_reason()), ("", None));
    assert_eq!((names(&changes), changes.exact), (vec!["one"], true));
}

/// A process can enter the network of an outside process, so a network of its own proves nothing.
#[tokio::test(flavor = "multi_thread")]
async fn call_that_speaks_to_a_process_in_another_network_is_not_exact() {
    let workspace = TestWorkspace::with(FILES);
    if !has_namespaces(&workspace).await {
        return;
    }
    let mut server = crate::support::command("unshare")
        .args(["-rn", PROGRAM, "serve-name", "served"])
        .current_dir(&workspace.root)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut ready = [0; 6];
    let output = server.stdout.as_mut().unwrap();
    output.read_exact(&mut ready).unwrap();
    let pid = server.id();
    let enter = format!("nsenter -t {pid} -U -n --preserve-credentials");
    let (ran, changes) = workspace
        .changed_by(&format!("{enter} {PROGRAM} connect-name served"))
        .await;
    server.wait().unwrap();
    assert_eq!(workspace.text("one"), "by another process", "{ran:?}");
    assert!(
        ran.incomplete_reason()
            .is_some_and(|why| why.contains("@served")),
        "{ran:?}"
    );
    assert!(!changes.exact);
    // The negative control: a network with processes of the call only.
    let script = format!("unshare -rn {PROGRAM} connect-own-name own");
    let (ran, changes) = workspace.changed_by(&script).await;
    assert_eq!((&*ran.err, ran.incomplete_reason()), ("", None));
    assert_eq!((names(&changes), changes.exact), (vec!["one"], true));
}
