//! The script that finds our program or takes it, and what is said when it cannot.

use crate::world::World;
use agent_bash_core::Cancel;
use agent_bash_remote::{NotReached, Obstacle, Remote};
use serde_json::json;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

async fn obstacle(remote: Remote) -> NotReached {
    match remote.connected().await {
        Ok(_) => panic!("it was reached"),
        Err(error) => error,
    }
}

async fn ping(remote: &Remote) -> bool {
    let answer = remote
        .ask("ping", &json!({}), &mut |_| {}, &Cancel::new())
        .await;
    answer.is_ok()
}

/// The shells that read it.
const SHELLS: [&[&str]; 4] = [
    &["dash"],
    &["bash"],
    &["bash", "--posix"],
    &["busybox", "ash"],
];

#[tokio::test]
async fn program_is_uploaded_once_with_any_login_shell() {
    for shell in SHELLS {
        let words = [shell, &["-c", "{script}"]].concat();
        let world = World::behind(&words);
        for uploaded in [true, false] {
            let remote = world.remote();
            let connection = remote
                .connected()
                .await
                .unwrap_or_else(|error| panic!("{words:?}: {error}"));
            assert_eq!(connection.uploaded, uploaded, "{words:?}");
            drop(connection);
            assert!(ping(&remote).await);
            remote.close(Duration::from_secs(5)).await;
        }
        let installed = world.installed();
        assert_eq!(
            fs::metadata(&installed).unwrap().permissions().mode() & 0o777,
            0o700
        );
        let directory = installed.parent().unwrap();
        assert_eq!(
            fs::metadata(directory).unwrap().permissions().mode() & 0o777,
            0o700
        );
        assert_eq!(
            fs::read_dir(directory).unwrap().count(),
            1,
            "nothing else is left"
        );
    }
}

/// busybox brings its own `head`, `wc`, `sha256sum`: nothing else may be on the machine.
#[tokio::test]
async fn boot_needs_only_busybox() {
    let found = ["/bin/busybox", "/usr/bin/busybox"];
    let busybox = found.into_iter().find(|path| Path::new(path).exists());
    let busybox = busybox.expect("no busybox; install the package busybox-static");
    let mut world = World::behind(&[busybox, "ash", "-c", "{script}"]);
    let bin = world.home().join("bin");
    fs::create_dir(&bin).unwrap();
    for name in [
        "id", "uname", "head", "wc", "sha256sum", "chmod", "mv", "rm", "mkdir",
    ] {
        std::os::unix::fs::symlink(busybox, bin.join(name)).unwrap();
    }
    world.env.insert("PATH".into(), bin.into());
    assert!(ping(&world.remote()).await);
}

#[tokio::test]
async fn banner_is_skipped_up_to_a_limit() {
    let noisy = |bytes: usize| {
        let script =
            format!("yes welcome | head -c {bytes}; printf 'no newline'; exec sh -c \"$1\"");
        World::behind(&["sh", "-c", &script, "sh", "{script}"])
    };
    assert!(ping(&noisy(60_000).remote()).await);
    let error = obstacle(noisy(70_000).remote()).await;
    assert_eq!(error.what, Obstacle::TooMuchOutput(64 * 1024));
    // A server that shows what it is asked to run.
    let shows = World::behind(&[
        "sh",
        "-c",
        "echo \"$1\"; exec sh -c \"$1\"",
        "sh",
        "{script}",
    ]);
    assert!(ping(&shows.remote()).await);
}

#[tokio::test]
async fn upload_with_another_hash_is_refused() {
    let mut world = World::new();
    world.program = world.program.with_hash(&"0".repeat(64));
    let error = obstacle(world.remote()).await;
    assert_eq!(error.what, Obstacle::Damaged);
    assert!(!world.installed().exists());
    let directory = world.home().join(".cache/agent-bash");
    assert_eq!(fs::read_dir(directory).unwrap().count(), 0);
}

#[tokio::test]
async fn obstacle_is_named() {
    let world = World::behind(&["/nonexistent/ssh", "{script}"]);
    let error = obstacle(world.remote()).await.to_string();
    assert!(
        error.contains("`/nonexistent/ssh` could not be started"),
        "{error}"
    );

    let refuses = "echo 'Permission denied (\u{1b}[1mpublickey).' >&2; exit 255";
    let error = obstacle(World::behind(&["sh", "-c", refuses, "{script}"]).remote()).await;
    assert_eq!(error.what, Obstacle::Ended);
    assert_eq!(error.stderr, "Permission denied (<U+001B>[1mpublickey).");
    assert!(error.to_string().ends_with(&error.stderr));

    let mut world = World::new();
    world.target.install = false;
    assert_eq!(obstacle(world.remote()).await.what, Obstacle::Missing);

    let tools = tempfile::tempdir().unwrap();
    let uname = tools.path().join("uname");
    fs::write(&uname, "#!/bin/sh\necho sparc64\n").unwrap();
    fs::set_permissions(&uname, Permissions::from_mode(0o755)).unwrap();
    let mut world = World::new();
    let path = world.env[std::ffi::OsStr::new("PATH")]
        .to_string_lossy()
        .into_owned();
    let path = format!("{}:{path}", tools.path().display());
    world.env.insert("PATH".into(), path.into());
    let error = obstacle(world.remote()).await;
    assert!(
        matches!(&error.what, Obstacle::OtherArchitecture { machine, .. } if machine == "sparc64"),
        "{error}"
    );

    let mut world = World::new();
    world.target.directory = Some("/proc/nothing".to_owned());
    assert_eq!(obstacle(world.remote()).await.what, Obstacle::NoDirectory);

    let error = obstacle(World::new().with("PLAY", "dies").remote()).await;
    assert!(matches!(error.what, Obstacle::NotStarted { .. }), "{error}");
    assert_eq!(error.stderr, "cannot load libfoo.so");

    let error = obstacle(World::new().with("PLAY", "refuses").remote()).await;
    assert_eq!(
        error.what,
        Obstacle::Unsuitable("no <U+001B>[31m here".to_owned())
    );
}

#[tokio::test]
async fn full_disk_and_noexec_mount_have_different_obstacles() {
    // `head` meets it as it would on a full disk; without limits on files there is none.
    let full = World::behind(&[
        "sh",
        "-c",
        "ulimit -f 8; trap '' XFSZ; exec sh -c \"$1\"",
        "sh",
        "{script}",
    ]);
    let error = obstacle(full.remote()).await;
    let is_told = matches!(
        error.what,
        Obstacle::Unwritten(_) | Obstacle::Incomplete { .. }
    );
    assert!(is_told, "{error}");
    assert!(!full.installed().exists());

    // An unusable directory is not changed.
    let shared = tempfile::tempdir().unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode();
    fs::set_permissions(shared.path(), Permissions::from_mode(0o770)).unwrap();
    for directory in [Path::new("/proc"), shared.path()] {
        let before = mode(directory);
        let mut target = World::new();
        target.target.directory = Some(directory.display().to_string());
        let error = obstacle(target.remote()).await;
        assert_eq!(error.what, Obstacle::NoDirectory, "{}", directory.display());
        assert_eq!(mode(directory), before, "{}", directory.display());
    }
    assert_eq!(fs::read_dir(shared.path()).unwrap().count(), 0);
}

/// Another user could replace the program.
#[tokio::test]
async fn symlink_is_refused_as_program_directory() {
    let world = World::new();
    let elsewhere = tempfile::tempdir().unwrap();
    let link = world.home().join("link");
    std::os::unix::fs::symlink(elsewhere.path(), &link).unwrap();
    let mut world = world;
    world.target.directory = Some("~/link".to_owned());
    assert_eq!(obstacle(world.remote()).await.what, Obstacle::NoDirectory);
    // The control: without the link it is.
    fs::remove_file(&link).unwrap();
    fs::create_dir(&link).unwrap();
    assert!(ping(&world.remote()).await);
}
