//! Files in pieces.

use super::*;
use std::os::unix::fs::symlink;

fn piece(path: &Path, data: &[u8]) -> UploadPiece {
    UploadPiece {
        path: path.to_owned(),
        data: Base64Bytes(data.to_vec()),
        more: false,
        upload: None,
        mode: None,
    }
}

fn names(directory: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().mode() & 0o7777
}

#[test]
fn file_appears_only_when_it_is_complete() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("file");
    fs::write(&path, "old").unwrap();
    let uploads = Uploads::default();
    let first = UploadPiece {
        more: true,
        ..piece(&path, b"new ")
    };
    let begun = uploads.write(first).unwrap();
    assert_eq!((begun.size, begun.upload), (4, Some(1)));
    assert_eq!(fs::read(&path).unwrap(), b"old", "not yet");
    let last = UploadPiece {
        upload: begun.upload,
        ..piece(&path, b"text")
    };
    let done = uploads.write(last).unwrap();
    assert_eq!((done.size, done.upload), (8, None));
    assert_eq!(fs::read(&path).unwrap(), b"new text");
    assert_eq!(names(dir.path()), ["file"]);
    let again = UploadPiece {
        upload: begun.upload,
        ..piece(&path, b"late")
    };
    let error = uploads.write(again).unwrap_err().error;
    assert!(error.contains("no upload 1"), "{error}");
}

#[test]
fn unfinished_upload_is_removed() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("file");
    let uploads = Uploads::default();
    for _ in 0..MAX_UPLOADS {
        let first = UploadPiece {
            more: true,
            ..piece(&path, b"part")
        };
        uploads.write(first).unwrap();
    }
    let one_more = uploads.write(piece(&path, b"")).unwrap_err().error;
    assert!(one_more.contains("are being written"), "{one_more}");
    assert_eq!(names(dir.path()).len(), MAX_UPLOADS);
    drop(uploads);
    assert!(names(dir.path()).is_empty());
}

#[test]
fn file_keeps_its_mode_unless_another_one_is_requested() {
    let dir = tempfile::tempdir().unwrap();
    let uploads = Uploads::default();
    let script = dir.path().join("script");
    fs::write(&script, "old").unwrap();
    fs::set_permissions(&script, Permissions::from_mode(0o750)).unwrap();
    uploads.write(piece(&script, b"new")).unwrap();
    assert_eq!(mode(&script), 0o750);
    let upload = UploadPiece {
        mode: Some(0o4711),
        ..piece(&script, b"newer")
    };
    uploads.write(upload).unwrap();
    assert_eq!(mode(&script), 0o711, "set-id bits are dropped");
    let ordinary = dir.path().join("ordinary");
    fs::write(&ordinary, "").unwrap();
    let new = dir.path().join("new");
    uploads.write(piece(&new, b"")).unwrap();
    assert_eq!(mode(&new), mode(&ordinary) & 0o644);
}

#[test]
fn write_through_a_link_keeps_the_link() {
    let dir = tempfile::tempdir().unwrap();
    let (file, link) = (dir.path().join("file"), dir.path().join("link"));
    fs::write(&file, "old").unwrap();
    symlink("file", &link).unwrap();
    Uploads::default().write(piece(&link, b"new")).unwrap();
    assert_eq!(fs::read(&file).unwrap(), b"new");
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
}

#[test]
fn other_kinds_of_files_are_refused_with_a_code() {
    let dir = tempfile::tempdir().unwrap();
    let missing = dir.path().join("missing");
    let code = |refused: ErrorReply| refused.code.unwrap();
    assert_eq!(
        code(read(&missing, 0, None).unwrap_err()),
        ErrorCode::NotFound
    );
    let below = piece(&missing.join("file"), b"");
    let uploads = Uploads::default();
    assert_eq!(code(uploads.write(below).unwrap_err()), ErrorCode::NotFound);
    for path in [dir.path(), Path::new("/dev/null")] {
        assert_eq!(code(read(path, 0, None).unwrap_err()), ErrorCode::NotAFile);
        let written = uploads.write(piece(path, b"")).unwrap_err();
        assert_eq!(code(written), ErrorCode::NotAFile);
    }
    let fifo = dir.path().join("fifo");
    agent_bash::process::make_fifo(&fifo).unwrap();
    assert_eq!(code(read(&fifo, 0, None).unwrap_err()), ErrorCode::NotAFile);
}

#[test]
fn file_is_read_in_pieces() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("file");
    fs::write(&path, b"0123456789").unwrap();
    let part = |offset, length| {
        let read = read(&path, offset, length).unwrap();
        assert_eq!(read.size, 10);
        (read.data.0, read.at_end)
    };
    assert_eq!(part(0, Some(4)), (b"0123".to_vec(), false));
    assert_eq!(part(8, Some(4)), (b"89".to_vec(), true));
    assert_eq!(part(6, Some(4)), (b"6789".to_vec(), true));
    assert_eq!(part(99, None), (Vec::new(), true));
    let large = vec![7; MAX_PIECE + 5];
    fs::write(&path, &large).unwrap();
    let first = read(&path, 0, Some(usize::MAX)).unwrap();
    assert_eq!((first.data.0.len(), first.at_end), (MAX_PIECE, false));
    // A file of `/proc` reports the length 0.
    let status = read(Path::new("/proc/self/status"), 0, None).unwrap();
    assert!(!status.data.0.is_empty() && status.at_end);
}
