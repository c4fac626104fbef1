//! Caps, quota, the end of a session, and sweeping.

use super::fixtures::{
    ONLY_THE_NUMBER, ROOMY, artifacts, end, keep, limited, meta, now, options, session, tree,
};
use agent_bash_core::{ArtifactStore, StreamId, Timestamp};
use agent_bash_sink::{ArtifactDir, ArtifactDirOptions, ArtifactLimits, Lifetime, Search};
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

#[test]
fn maximum_size_is_exact() {
    const CAP: usize = 1000;
    let root = tempfile::tempdir().unwrap();
    let limits = ArtifactLimits {
        per_file: CAP as u64,
        ..ROOMY
    };
    let dir = limited(root.path(), limits);
    let bytes: Vec<u8> = (0..=CAP).map(|n| b'a' + (n % 26) as u8).collect();
    for (len, complete) in [(CAP - 1, true), (CAP, true), (CAP + 1, false)] {
        for chunk in [1, 7, 2000] {
            let mut writer = dir.create(&meta(), StreamId::Merged).unwrap();
            for chunk in bytes[..len].chunks(chunk) {
                writer.write(chunk).unwrap();
            }
            let kept = writer.finish(&end()).unwrap();
            assert_eq!(kept.complete, complete, "{len}");
            assert_eq!(kept.bytes, len.min(CAP) as u64);
            assert_eq!(fs::read(&kept.path).unwrap(), bytes[..len.min(CAP)]);
            // At the end of the file, the page says whether the output ends there.
            let view = dir.open(kept.id).unwrap();
            let page = view.tail(1).unwrap();
            assert_eq!(page.capped_at.is_none(), complete);
            let found = view
                .search(&Search {
                    pattern: "a".to_owned(),
                    before: 0,
                    after: 0,
                    from_line: 1,
                    max_matches: 9,
                })
                .unwrap();
            let printed = |hint: Option<String>| {
                hint.is_some_and(|hint| hint.contains("the command printed more"))
            };
            assert_eq!(
                (printed(page.hint()), printed(found.hint())),
                (!complete, !complete)
            );
        }
    }
}

#[test]
fn oldest_artifacts_are_removed_when_the_quota_is_used_up() {
    let root = tempfile::tempdir().unwrap();
    let limits = ArtifactLimits {
        per_session: 2500,
        ..ROOMY
    };
    let dir = limited(root.path(), limits);
    // The unfinished artifact is the oldest, and is kept.
    let mut writing = dir.create(&meta(), StreamId::Merged).unwrap();
    for _ in 0..4 {
        keep(&dir, &[b'x'; 1000]).unwrap();
    }
    let ids = || {
        dir.list()
            .iter()
            .map(|info| info.artifact.id.0)
            .collect::<Vec<_>>()
    };
    assert_eq!(ids(), [3, 4]);
    writing.write(&[b'y'; 1000]).unwrap();
    writing.finish(&end()).unwrap();
    assert_eq!(ids(), [0, 4]);
}

/// A call adds to a sum and reads no other artifact; a sweep corrects the sum.
#[test]
fn only_a_sweep_looks_at_all_artifacts() {
    let root = tempfile::tempdir().unwrap();
    let limits = ArtifactLimits {
        per_session: 2500,
        ..ROOMY
    };
    let dir = limited(root.path(), limits);
    keep(&dir, &[b'x'; 1000]).unwrap();
    let stray = root.path().join("s/artifacts/stray.log");
    fs::write(stray, [b'x'; 2000]).unwrap();
    keep(&dir, &[b'x'; 1000]).unwrap();
    assert_eq!(dir.list().len(), 2, "the stray file was not seen");
    ArtifactDir::sweep(root.path(), now());
    keep(&dir, &[b'x'; 100]).unwrap();
    let ids: Vec<_> = dir.list().iter().map(|info| info.artifact.id.0).collect();
    assert_eq!(ids, [2], "the oldest made room");
}

#[test]
fn no_artifact_is_made_without_space() {
    let root = tempfile::tempdir().unwrap();
    for (limits, want) in [
        (
            ArtifactLimits {
                per_session: 500,
                ..ROOMY
            },
            "have used up their 0 MB",
        ),
        (
            ArtifactLimits {
                free_floor: 1 << 60,
                ..ROOMY
            },
            "MB are free in ",
        ),
    ] {
        let dir = limited(root.path(), limits);
        let writing = limited(root.path(), ROOMY);
        let mut open = writing.create(&meta(), StreamId::Merged).unwrap();
        open.write(&[0; 1000]).unwrap();
        let error = keep(&dir, b"x").unwrap_err().to_string();
        assert!(error.contains(want), "{error}");
        drop(open);
        assert_eq!(artifacts(root.path()), Vec::<String>::new());
    }
}

#[test]
fn end_of_a_session_removes_only_its_own_files() {
    let root = tempfile::tempdir().unwrap();
    let theirs = session(root.path());
    keep(&theirs, b"theirs").unwrap();
    let ours = session(root.path());
    keep(&ours, b"ours").unwrap();
    let removed = ours.close();
    assert_eq!((removed.artifacts, removed.bytes), (1, 4));
    assert_eq!(artifacts(root.path()), ["0.json", "0.log"]);
    // The directory can be used again.
    assert_eq!(keep(&ours, b"more").unwrap().id.0, 2);
    drop(ours);
    drop(theirs);
    assert_eq!(tree(root.path()), ONLY_THE_NUMBER);
}

#[test]
fn artifacts_with_longer_lifetime_outlive_the_session() {
    for (lifetime, stays) in [
        (Lifetime::Session, false),
        (Lifetime::Day, true),
        (Lifetime::Timed, true),
    ] {
        let root = tempfile::tempdir().unwrap();
        let dir = ArtifactDir::new(ArtifactDirOptions {
            lifetime,
            ..options(root.path())
        })
        .unwrap();
        keep(&dir, b"x").unwrap();
        drop(dir);
        assert_eq!(!artifacts(root.path()).is_empty(), stays, "{lifetime:?}");
    }
}

#[test]
fn file_written_by_survivors_outlives_the_session() {
    let root = tempfile::tempdir().unwrap();
    let dir = session(root.path());
    let mut writer = dir.create(&meta(), StreamId::Merged).unwrap();
    writer.write(b"ours\n").unwrap();
    let mut file = writer.file().unwrap();
    let kept = writer.finish(&end()).unwrap();
    file.write_all(b"theirs\n").unwrap();
    let info = dir.list().remove(0);
    assert!(info.shared);
    assert_eq!(info.artifact.bytes, 12);
    let page = dir.open(kept.id).unwrap().lines(1, None).unwrap();
    assert_eq!(
        (page.piece.text.as_str(), page.total_lines),
        ("ours\ntheirs\n", 2)
    );
    drop(dir);
    assert_eq!(fs::read(&kept.path).unwrap(), b"ours\ntheirs\n");
    let sweep = |now| ArtifactDir::sweep(root.path(), now).artifacts;
    assert_eq!(sweep(now()), 0);
    assert_eq!(sweep(tomorrow()), 1);
    assert_eq!(tree(root.path()), ONLY_THE_NUMBER);
}

#[test]
fn unfinished_artifact_leaves_no_file() {
    let root = tempfile::tempdir().unwrap();
    let dir = session(root.path());
    let mut writer = dir.create(&meta(), StreamId::Merged).unwrap();
    writer.write(b"x").unwrap();
    assert_eq!(artifacts(root.path()), ["0.json", "0.log"]);
    drop(writer);
    assert_eq!(artifacts(root.path()), Vec::<String>::new());
}

fn tomorrow() -> Timestamp {
    Timestamp(now().0 + 24 * 60 * 60 * 1000 + 1)
}

const CHILD_ROOT: &str = "AGENT_BASH_SINK_TEST_ROOT";

/// Leaves the artifacts of a killed process: one complete artifact and one unfinished artifact.
fn killed(root: &Path, lifetime: &str) {
    #[expect(
        clippy::disallowed_methods,
        reason = "the test is about a killed process"
    )]
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args([
            "--ignored", "--exact", "store::life::child_is_killed", "--nocapture",
        ])
        .env(CHILD_ROOT, root)
        .env("LIFETIME", lifetime)
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    assert!(!child.wait().unwrap().success());
}

#[test]
#[ignore = "the process that is killed"]
#[expect(clippy::disallowed_methods, reason = "a switch of the test")]
fn child_is_killed() {
    let root = std::env::var_os(CHILD_ROOT).expect("it is started by `killed`");
    let lifetime = match std::env::var("LIFETIME").unwrap().as_str() {
        "session" => Lifetime::Session,
        _ => Lifetime::Day,
    };
    let dir = ArtifactDir::new(ArtifactDirOptions {
        lifetime,
        ..options(root.as_ref())
    })
    .unwrap();
    keep(&dir, b"whole\n").unwrap();
    let mut writer = dir.create(&meta(), StreamId::Merged).unwrap();
    writer.write(b"half").unwrap();
    let me = rustix::process::getpid();
    rustix::process::kill_process(me, rustix::process::Signal::KILL).unwrap();
}

#[test]
fn leftovers_of_a_killed_process_are_swept() {
    let root = tempfile::tempdir().unwrap();
    let sweep = |now| ArtifactDir::sweep(root.path(), now).artifacts;
    let living = ArtifactDir::new(ArtifactDirOptions {
        session: "t".into(),
        ..options(root.path())
    })
    .unwrap();
    keep(&living, b"x").unwrap();

    killed(root.path(), "session");
    assert_eq!(
        artifacts(root.path()),
        ["0.json", "0.log", "1.json", "1.log"]
    );
    assert_eq!(
        session(root.path()).list().len(),
        1,
        "the half one is not shown"
    );
    assert_eq!(sweep(now()), 2);
    assert_eq!(artifacts(root.path()), [""; 0]);

    killed(root.path(), "day");
    assert_eq!(
        sweep(now()),
        1,
        "the half one goes, the whole one has its day"
    );
    assert_eq!(artifacts(root.path()), ["2.json", "2.log"]);
    assert_eq!(sweep(tomorrow()), 1);
    assert_eq!(living.list().len(), 1, "the living keep theirs");
}

#[test]
fn program_of_one_call_makes_a_step_every_ten_minutes() {
    let root = tempfile::tempdir().unwrap();
    let sweep = |now| ArtifactDir::sweep_when_due(root.path(), now).artifacts;
    let later = |minutes: u64| Timestamp(now().0 + minutes * 60 * 1000);
    // The session's first artifact makes the first step.
    killed(root.path(), "session");
    assert!(!ArtifactDir::is_sweep_due(root.path(), later(9)));
    assert_eq!(sweep(later(9)), 0);
    assert!(ArtifactDir::is_sweep_due(root.path(), later(11)));
    assert_eq!(sweep(later(11)), 2);
    killed(root.path(), "session");
    let before_the_last = Timestamp(now().0 - 60 * 1000);
    assert_eq!(sweep(before_the_last), 2, "the clock was set back");

    let missing = root.path().join("missing");
    assert_eq!(ArtifactDir::sweep_when_due(&missing, now()).artifacts, 0);
    assert!(!missing.exists(), "nothing is made for it");
}

#[test]
fn step_looks_at_some_artifacts_and_the_next_continues() {
    const ARTIFACTS: usize = 600;
    const AT_ONCE: usize = 256;
    let root = tempfile::tempdir().unwrap();
    let dir = ArtifactDir::new(ArtifactDirOptions {
        lifetime: Lifetime::Day,
        ..options(root.path())
    });
    let dir = dir.unwrap();
    for _ in 0..ARTIFACTS {
        keep(&dir, &[b'x'; 10]).unwrap();
    }
    let used = || {
        let counter = fs::read_to_string(root.path().join("s/artifacts/.next")).unwrap();
        counter.lines().last().unwrap().parse::<usize>().unwrap()
    };
    for step in 1..=3 {
        let time = Timestamp(tomorrow().0 + step * 600_000);
        let removed = ArtifactDir::sweep_when_due(root.path(), time).artifacts;
        let left = ARTIFACTS.saturating_sub(step as usize * AT_ONCE);
        let before = ARTIFACTS.saturating_sub((step as usize - 1) * AT_ONCE);
        assert_eq!((removed as usize, dir.list().len()), (before - left, left));
        assert_eq!(used(), left * 10, "what is removed makes room");
        assert_eq!(ArtifactDir::sweep_when_due(root.path(), time).artifacts, 0);
    }
}

#[test]
fn strays_go_by_age_and_strangers_stay() {
    let root = tempfile::tempdir().unwrap();
    let directory = root.path().join("s/artifacts");
    fs::create_dir_all(&directory).unwrap();
    fs::create_dir_all(root.path().join("other/jobs")).unwrap();
    for name in ["9.log", ".9.json.new", "8.json"] {
        fs::write(directory.join(name), "half").unwrap();
    }
    ArtifactDir::sweep(root.path(), now());
    assert_eq!(artifacts(root.path()), ["8.json", "9.log"]);
    ArtifactDir::sweep(root.path(), tomorrow());
    assert_eq!(tree(root.path()), ["other", "other/jobs"]);
}

#[test]
fn sidecar_names_no_other_file() {
    let root = tempfile::tempdir().unwrap();
    let victim = root.path().join("s/victim");
    let dir = ArtifactDir::new(ArtifactDirOptions {
        lifetime: Lifetime::Day,
        ..options(root.path())
    })
    .unwrap();
    let kept = keep(&dir, b"x").unwrap();
    fs::write(&victim, "precious").unwrap();
    let sidecar = root.path().join("s/artifacts/0.json");
    let json = fs::read_to_string(&sidecar).unwrap();
    fs::write(&sidecar, json.replace("0.log", "../victim")).unwrap();
    assert!(dir.open(kept.id).is_err());
    assert!(dir.list().is_empty());
    ArtifactDir::sweep(root.path(), tomorrow());
    assert_eq!(fs::read(&victim).unwrap(), b"precious");
}
