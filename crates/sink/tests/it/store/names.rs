//! Names, numbers, modes, sidecars.

use super::fixtures::{ONLY_THE_NUMBER, artifacts, end, keep, meta, now, options, session, tree};
use agent_bash_core::{ArtifactStore, StreamId, Timestamp};
use agent_bash_sink::{ArtifactDir, ArtifactDirOptions, Naming, open_artifact};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

#[test]
fn no_directory_is_created_before_the_first_artifact() {
    let root = tempfile::tempdir().unwrap();
    let dir = session(&root.path().join("state"));
    assert!(dir.list().is_empty());
    assert_eq!(tree(root.path()), Vec::<String>::new());
    keep(&dir, b"x").unwrap();
    assert_eq!(artifacts(&root.path().join("state")), ["0.json", "0.log"]);
}

#[test]
fn directories_are_0700_and_files_0600() {
    let root = tempfile::tempdir().unwrap();
    let state = root.path().join("state");
    let dir = session(&state);
    keep(&dir, b"x").unwrap();
    fs::set_permissions(state.join("s"), fs::Permissions::from_mode(0o755)).unwrap();
    let again = session(&state);
    keep(&again, b"y").unwrap();
    for name in [
        "s", "s/artifacts", "s/artifacts/0.log", "s/artifacts/0.json", "s/artifacts/.next",
    ] {
        let metadata = fs::metadata(state.join(name)).unwrap();
        let want = if metadata.is_dir() { 0o700 } else { 0o600 };
        assert_eq!(metadata.permissions().mode() & 0o777, want, "{name}");
    }
}

#[test]
fn artifact_numbers_are_never_reused() {
    let root = tempfile::tempdir().unwrap();
    let dir = session(root.path());
    assert_eq!(keep(&dir, b"a").unwrap().uri, "artifact://0");
    drop(dir.create(&meta(), StreamId::Stdout).unwrap());
    assert_eq!(keep(&dir, b"b").unwrap().id.0, 2);
    fs::remove_file(root.path().join("s/artifacts/2.log")).unwrap();
    fs::remove_file(root.path().join("s/artifacts/2.json")).unwrap();
    let another = session(root.path());
    assert_eq!(keep(&another, b"c").unwrap().id.0, 3);
    // Even if the counter is lost, the number of an existing artifact is not reused.
    fs::write(root.path().join("s/artifacts/.next"), "nonsense").unwrap();
    assert_eq!(keep(&dir, b"d").unwrap().id.0, 4);
}

#[test]
fn reference_and_list_agree() {
    let root = tempfile::tempdir().unwrap();
    let dir = session(root.path());
    let kept = keep(&dir, b"one\ntwo").unwrap();
    assert_eq!((kept.bytes, kept.lines, kept.complete), (7, 2, true));
    assert_eq!(fs::read(&kept.path).unwrap(), b"one\ntwo");
    let info = dir.list().remove(0);
    assert_eq!(info.artifact, kept);
    assert_eq!((info.command, info.cwd), (meta().command, meta().cwd));
    assert_eq!((info.status, info.duration), (end().status, end().duration));
    assert_eq!(dir.find(kept.path.as_ref()).unwrap().artifact, kept);
    assert_eq!(dir.find("/etc/passwd".as_ref()), None);
}

#[test]
fn lookup_errors_have_the_texts_of_the_contract() {
    let root = tempfile::tempdir().unwrap();
    let dir = session(root.path());
    let error =
        |dir: Option<&ArtifactDir>, uri: &str| open_artifact(dir, uri).unwrap_err().to_string();
    assert_eq!(
        error(Some(&dir), "artifact://x"),
        "artifact:// ID must be numeric, got: x"
    );
    assert_eq!(
        error(Some(&dir), "artifact://7"),
        "Artifact 7 not found. Available: none"
    );
    assert_eq!(error(None, "0"), "No session - artifacts unavailable");
    keep(&dir, b"a").unwrap();
    keep(&dir, b"b").unwrap();
    let writing = dir.create(&meta(), StreamId::Merged).unwrap();
    assert_eq!(
        error(Some(&dir), "7"),
        "Artifact 7 not found. Available: 0, 1"
    );
    assert_eq!(
        error(Some(&dir), "2"),
        "Artifact 2 not found. Available: 0, 1",
        "not whole yet"
    );
    drop(writing);
    assert!(open_artifact(Some(&dir), "artifact://1").is_ok());
}

#[test]
fn paged_profile_has_its_own_file_names() {
    let root = tempfile::tempdir().unwrap();
    let dir = ArtifactDir::new(ArtifactDirOptions {
        naming: Naming::Paged,
        ..options(root.path())
    })
    .unwrap();
    for (stream, name) in [
        (StreamId::Stdout, "bash-1700000000123000000-stdout.txt"),
        (StreamId::Stderr, "bash-1700000000123000000-stderr.txt"),
        (StreamId::Stdout, "bash-1700000000123000001-stdout.txt"),
    ] {
        let kept = dir.create(&meta(), stream).unwrap().finish(&end()).unwrap();
        assert_eq!(
            kept.path,
            root.path().join("s/artifacts").join(name).to_str().unwrap()
        );
    }
    drop(dir);
    assert_eq!(tree(root.path()), ONLY_THE_NUMBER);
}

#[test]
fn number_is_not_reused_by_a_later_session_with_the_same_name() {
    let root = tempfile::tempdir().unwrap();
    for number in 0..3 {
        let dir = session(root.path());
        let kept = keep(&dir, b"output\n").unwrap();
        assert_eq!(kept.uri, format!("artifact://{number}"));
        drop(dir);
        // The link now resolves to nothing, and never to another artifact.
        assert!(open_artifact(Some(&session(root.path())), &kept.uri).is_err());
    }
    // Long enough that no link to the artifact is in use.
    let month = 30 * 24 * 60 * 60 * 1000;
    ArtifactDir::sweep(root.path(), Timestamp(now().0 + month));
    assert_eq!(tree(root.path()), ONLY_THE_NUMBER);
    ArtifactDir::sweep(root.path(), Timestamp(now().0 + 13 * month));
    assert_eq!(tree(root.path()), Vec::<String>::new());
}

#[test]
fn session_names_are_one_component() {
    let root = tempfile::tempdir().unwrap();
    for (name, good) in [
        ("cli", true),
        ("a b-ä", true),
        ("", false),
        (".", false),
        ("..", false),
        ("a/b", false),
        ("a\0b", false),
    ] {
        let made = ArtifactDir::new(ArtifactDirOptions {
            session: name.to_owned(),
            ..options(root.path())
        });
        assert_eq!(made.is_ok(), good, "{name:?}");
    }
}

/// Environment variable with which the test binary, as a child process, does the work of
/// [`child_keeps_many`].
const CHILD_ROOT: &str = "AGENT_BASH_SINK_TEST_ROOT";

#[test]
fn concurrent_writers_get_unique_numbers() {
    const PROCESSES: usize = 3;
    let root = tempfile::tempdir().unwrap();
    #[expect(
        clippy::disallowed_methods,
        reason = "the test is about several processes"
    )]
    let mut children: Vec<_> = (0..PROCESSES)
        .map(|_| {
            Command::new(std::env::current_exe().unwrap())
                .args([
                    "--ignored",
                    "--exact",
                    "store::names::child_keeps_many",
                    "--nocapture",
                ])
                .env(CHILD_ROOT, root.path())
                .stdout(std::process::Stdio::null())
                .spawn()
                .unwrap()
        })
        .collect();
    for child in &mut children {
        assert!(child.wait().unwrap().success());
    }
    let dir = session(root.path());
    let list = dir.list();
    assert_eq!(list.len(), PROCESSES * CHILD_THREADS * CHILD_KEEPS);
    for (at, info) in list.iter().enumerate() {
        assert_eq!(info.artifact.id.0, at as u64);
        let own = fs::read_to_string(&info.artifact.path).unwrap();
        assert_eq!(own, info.artifact.uri, "each wrote into its own");
    }
}

const CHILD_THREADS: usize = 4;
const CHILD_KEEPS: usize = 20;

#[test]
#[ignore = "one of the processes that keep at once"]
#[expect(clippy::disallowed_methods, reason = "a switch of the test")]
fn child_keeps_many() {
    let root = std::env::var_os(CHILD_ROOT).expect("it is started with others");
    let dir = ArtifactDir::new(ArtifactDirOptions {
        lifetime: agent_bash_sink::Lifetime::Day,
        ..options(root.as_ref())
    })
    .unwrap();
    std::thread::scope(|scope| {
        for _ in 0..CHILD_THREADS {
            scope.spawn(|| {
                for _ in 0..CHILD_KEEPS {
                    let kept = keep(&dir, b"").unwrap();
                    fs::write(&kept.path, &kept.uri).unwrap();
                }
            });
        }
    });
}

/// A used number refers to its output or to nothing, even if the directory is replaced.
#[test]
fn number_never_refers_to_another_output() {
    let root = tempfile::tempdir().unwrap();
    let state = root.path().join("state");
    let dir = session(&state);
    for bytes in [b"a", b"b"] {
        keep(&dir, bytes).unwrap();
    }
    let old = ["0", "1"].map(|id| id.parse().unwrap());

    fs::remove_dir_all(&state).unwrap();
    assert_eq!(keep(&dir, b"c").unwrap().id.0, 2);
    for id in old {
        assert!(dir.open(id).is_err());
    }

    // The directory is moved away and replaced by one with other outputs under those numbers.
    fs::rename(&state, root.path().join("moved")).unwrap();
    let other = session(&state);
    for bytes in [b"x", b"y", b"z"] {
        keep(&other, bytes).unwrap();
    }
    let kept = keep(&dir, b"d").unwrap();
    assert_eq!(kept.id.0, 3);
    assert_eq!(fs::read(&kept.path).unwrap(), b"d");
    for id in old.into_iter().chain(["2".parse().unwrap()]) {
        assert!(dir.open(id).is_err(), "{id}");
    }
    assert_eq!(dir.list().len(), 1);
    // Dropping the first removes nothing of the second.
    drop(dir);
    assert_eq!(other.list().len(), 3);
}

#[test]
fn removed_counter_does_not_restart_numbering() {
    let root = tempfile::tempdir().unwrap();
    let dir = session(root.path());
    for bytes in [b"a", b"b", b"c"] {
        keep(&dir, bytes).unwrap();
    }
    let artifacts = root.path().join("s/artifacts");
    for name in ["0.log", "0.json", ".next"] {
        fs::remove_file(artifacts.join(name)).unwrap();
    }
    assert_eq!(keep(&session(root.path()), b"d").unwrap().id.0, 3);
}
