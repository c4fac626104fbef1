//! Fault injection into the file system: no panic, no partial file, no link to an incomplete
//! artifact, and the run goes on.

use super::fixtures::{ROOMY, artifacts, end, keep, limited, meta, session, tree};
use agent_bash_core::{ArtifactStore, OutputConsumer, OutputLimits, StreamId, Streams, Truncation};
use agent_bash_sink::{
    ArtifactDir, CallOptions, CallOutput, CarriageReturn, OutputSink, SinkOptions, SinkReport,
};
use std::fs;
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

/// Pushes `lines` lines of 100 bytes through a sink with the store `dir`.
fn flood(dir: ArtifactDir, lines: usize) -> SinkReport {
    let line = format!("{}\n", "x".repeat(99));
    let mut sink = sink(Arc::new(dir));
    for _ in 0..lines {
        sink.push(line.as_bytes());
    }
    sink.finish(&end())
}

fn sink(store: Arc<dyn ArtifactStore>) -> OutputSink {
    let options = SinkOptions {
        limits: OutputLimits {
            truncation: Truncation::Tail { bytes: 1000 },
            max_line_chars: None,
        },
        head: None,
        tail: None,
        carriage_return: CarriageReturn::Overwrite,
        stream: StreamId::Merged,
    };
    OutputSink::new(options, Some(store), meta())
}

fn assert_no_artifact(report: &SinkReport, why: &str) {
    assert!(report.summary.truncated);
    assert_eq!(report.summary.shown_lines, 10);
    assert_eq!(report.artifact, None);
    let failed = report.artifact_error.as_deref().unwrap();
    assert!(failed.contains(why), "{failed}");
}

#[test]
fn working_store_keeps_an_artifact() {
    // Control: without a fault, the store has what the other tests find missing.
    let root = tempfile::tempdir().unwrap();
    for lines in [20, 20_000] {
        let dir = session(root.path());
        let report = flood(dir, lines);
        assert_eq!(report.artifact_error, None);
        assert_eq!(report.artifact.unwrap().bytes, lines as u64 * 100);
    }
}

#[test]
fn artifact_has_the_raw_bytes() {
    let root = tempfile::tempdir().unwrap();
    let dir = Arc::new(session(root.path()));
    // Below and above the in-memory limit; all byte values, and no two chunks alike.
    for len in [5_000, 900_000] {
        let raw: Vec<u8> = (0..len)
            .map(|n: u32| ((n % 251) ^ (n >> 8)) as u8)
            .collect();
        let mut sink = sink(dir.clone());
        let mut rest = raw.as_slice();
        let mut chunk = 1;
        while !rest.is_empty() {
            let (now, later) = rest.split_at(chunk.min(rest.len()));
            sink.push(now);
            rest = later;
            chunk = chunk * 7 % 4099 + 1;
        }
        let kept = sink.finish(&end()).artifact.unwrap();
        assert!(fs::read(&kept.path).unwrap() == raw, "{len}");
        assert_eq!(kept.bytes, u64::from(len));
    }
}

#[test]
fn file_for_survivors_exists_if_all_is_shown() {
    let root = tempfile::tempdir().unwrap();
    let dir = Arc::new(session(root.path()));
    for printed in [&b""[..], b"shown\n"] {
        let mut sink = sink(dir.clone());
        sink.push(printed);
        let mut file = sink.take_file_for_survivors().unwrap();
        let kept = sink.finish(&end()).artifact.unwrap();
        file.write_all(b"later\n").unwrap();
        assert_eq!(
            fs::read(&kept.path).unwrap(),
            [printed, b"later\n"].concat()
        );
    }
    // If nothing can be stored, the run continues.
    let mut sink = sink(Arc::new(session(Path::new("/proc/nowhere"))));
    assert!(sink.take_file_for_survivors().is_none());
    assert!(sink.finish(&end()).artifact_error.is_some());
}

#[test]
fn survivors_write_both_streams_to_one_file() {
    let root = tempfile::tempdir().unwrap();
    let options = CallOptions {
        streams: Streams::Split,
        limits: OutputLimits {
            truncation: Truncation::Tail { bytes: 1000 },
            max_line_chars: None,
        },
        head: None,
        tail: None,
        carriage_return: CarriageReturn::Overwrite,
        share_window: false,
    };
    let mut output = CallOutput::new(options, Some(Arc::new(session(root.path()))), meta());
    output.chunk(StreamId::Stdout, b"out\n");
    output.chunk(StreamId::Stderr, b"err\n");
    let streams = [StreamId::Stdout, StreamId::Stderr];
    let files = streams.map(|stream| output.take_file_for_survivors(stream).unwrap());
    let report = output.finish(&end());
    for (mut file, text) in files.into_iter().zip(["later\n", "late error\n"]) {
        file.write_all(text.as_bytes()).unwrap();
    }
    let kept = report.first.artifact.unwrap();
    assert_eq!(
        fs::read_to_string(&kept.path).unwrap(),
        "out\nlater\nlate error\n"
    );
    assert_eq!(report.stderr.unwrap().artifact, None);
}

#[test]
fn link_at_the_directorys_path_is_not_followed() {
    for link_at in ["s", "s/artifacts"] {
        let root = tempfile::tempdir().unwrap();
        let target = tempfile::tempdir().unwrap();
        fs::create_dir_all(target.path().join("artifacts")).unwrap();
        let link = root.path().join(link_at);
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        symlink(target.path(), &link).unwrap();
        assert_no_artifact(&flood(session(root.path()), 20), "it is a link");
        assert_eq!(tree(target.path()), ["artifacts"], "{link_at}");
    }
}

#[test]
fn link_at_a_files_path_is_not_followed() {
    for name in ["0.log", "0.json", ".0.json.new", ".next"] {
        let root = tempfile::tempdir().unwrap();
        let victim = root.path().join("victim");
        fs::write(&victim, "precious").unwrap();
        let directory = root.path().join("s/artifacts");
        fs::create_dir_all(&directory).unwrap();
        symlink(&victim, directory.join(name)).unwrap();
        let report = flood(session(root.path()), 20);
        assert_eq!(fs::read(&victim).unwrap(), b"precious", "{name}");
        let kept_elsewhere = report
            .artifact
            .is_some_and(|kept| !kept.path.ends_with(name));
        assert!(kept_elsewhere || report.artifact_error.is_some(), "{name}");
    }
}

#[test]
fn pipe_at_a_files_path_does_not_block() {
    let root = tempfile::tempdir().unwrap();
    let dir = session(root.path());
    keep(&dir, b"x").unwrap();
    let directory = root.path().join("s/artifacts");
    fs::remove_file(directory.join("0.log")).unwrap();
    let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    rustix::fs::mknodat(
        rustix::fs::CWD,
        directory.join("0.log"),
        rustix::fs::FileType::Fifo,
        mode,
        0,
    )
    .unwrap();
    assert!(dir.open(agent_bash_core::ArtifactId(0)).is_err());
}

#[test]
fn directory_of_another_user_is_refused() {
    if !rustix::process::geteuid().is_root() {
        // Not root: the owner of a directory cannot be changed. The check itself is the same for
        // every owner.
        return;
    }
    for at in ["s", "s/artifacts"] {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir_all(root.path().join(at)).unwrap();
        std::os::unix::fs::chown(root.path().join(at), Some(12345), None).unwrap();
        assert_no_artifact(&flood(session(root.path()), 20), "another user");
    }
}

#[test]
fn root_that_is_no_directory_is_an_error() {
    let root = tempfile::tempdir().unwrap();
    fs::write(root.path().join("file"), "").unwrap();
    assert_no_artifact(&flood(session(&root.path().join("file")), 20), "");
    assert_no_artifact(&flood(session(Path::new("/proc/nowhere")), 20), "");
}

#[test]
fn failing_store_is_not_reported_if_all_is_shown() {
    let report = flood(session(Path::new("/proc/nowhere")), 10);
    assert_eq!((report.artifact, report.artifact_error), (None, None));
    assert!(!report.summary.truncated);
}

#[test]
fn removed_directory_is_created_again() {
    let root = tempfile::tempdir().unwrap();
    let dir = session(root.path());
    keep(&dir, b"x").unwrap();
    fs::remove_dir_all(root.path().join("s")).unwrap();
    let kept = keep(&dir, b"y").unwrap();
    assert_eq!(fs::read(kept.path).unwrap(), b"y");
}

const CHILD_ROOT: &str = "AGENT_BASH_SINK_TEST_ROOT";

/// Runs a test of this file in a child process in new namespaces, after the command `mount`.
/// Returns `None` if the machine does not allow namespaces.
fn in_namespace(test: &str, mount: &str, root: &Path) -> Option<bool> {
    #[expect(
        clippy::disallowed_methods,
        reason = "only another process can have another mount table"
    )]
    let status = Command::new("unshare")
        .args(["-rm", "sh", "-c"])
        .arg(format!(
            "{mount} || exit 77; exec \"$0\" --ignored --exact {test} --nocapture"
        ))
        .arg(std::env::current_exe().unwrap())
        .env(CHILD_ROOT, root)
        .status()
        .ok()?;
    (status.code() != Some(77)).then_some(status.success())
}

#[expect(clippy::disallowed_methods, reason = "how a child learns it")]
fn child_root() -> std::path::PathBuf {
    std::env::var_os(CHILD_ROOT)
        .expect("it is started in a namespace")
        .into()
}

#[expect(clippy::print_stderr, reason = "a test that could not run must say so")]
fn check_in_namespace(test: &str, mount: &str) {
    let root = tempfile::tempdir().unwrap();
    match in_namespace(
        test,
        &mount.replace("ROOT", root.path().to_str().unwrap()),
        root.path(),
    ) {
        Some(success) => assert!(success),
        None => eprintln!("skipped: no unprivileged mounts on this machine"),
    }
}

#[test]
fn full_disk_gives_no_artifact_link() {
    check_in_namespace(
        "store::faults::child_fills_the_disk",
        "mount -t tmpfs -o size=64k none ROOT",
    );
}

#[test]
#[ignore = "runs where a small disk is mounted"]
fn child_fills_the_disk() {
    let root = child_root();
    // The disk is full in the middle of writing, and at the first write.
    for lines in [400, 4000, 20_000] {
        let report = flood(limited(&root, ROOMY), lines);
        if lines * 100 > 64 * 1024 {
            assert_no_artifact(&report, "No space left on device");
        } else {
            assert!(report.artifact.is_some(), "control: this much fits");
        }
        assert_eq!(artifacts(&root), [""; 0], "nothing is left of it");
    }
    fs::write(root.join("ballast"), vec![0; 128 * 1024]).unwrap_err();
    assert_no_artifact(&flood(session(&root), 20), "No space left on device");
}

#[test]
fn read_only_directory_is_an_error() {
    check_in_namespace(
        "store::faults::child_is_read_only",
        "mount -t tmpfs -o ro none ROOT",
    );
}

#[test]
#[ignore = "runs where a disk is mounted read-only"]
fn child_is_read_only() {
    let root = child_root();
    assert_no_artifact(&flood(session(&root), 20), "Read-only file system");
}

#[test]
fn directory_without_permission_is_an_error() {
    let root = tempfile::tempdir().unwrap();
    fs::set_permissions(root.path(), fs::Permissions::from_mode(0o500)).unwrap();
    let report = flood(session(root.path()), 20);
    if rustix::process::geteuid().is_root() {
        assert!(report.artifact.is_some(), "root may write everywhere");
    } else {
        assert_no_artifact(&report, "Permission denied");
    }
}

#[test]
fn dev_full_at_a_files_path_gives_no_artifact_link() {
    // A device is not a regular file, so it is not even considered.
    let root = tempfile::tempdir().unwrap();
    let directory = root.path().join("s/artifacts");
    fs::create_dir_all(&directory).unwrap();
    symlink("/dev/full", directory.join(".next")).unwrap();
    assert_no_artifact(&flood(session(root.path()), 20), "");
}
