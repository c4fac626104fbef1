//! Reads and writes files in pieces, for a client on another machine.
//!
//! A file is written under a temporary name and renamed after its last piece, so that no program
//! sees a partial file. An incomplete upload is removed when the client disconnects.

use crate::rpc::request_error::ErrorReply;
use agent_bash::core::lock;
use agent_bash_protocol::ErrorCode;
use agent_bash_protocol::data::{FilePieceData, FileWrittenData};
use agent_bash_protocol::file::{Base64Bytes, MAX_PIECE};
use rustix::fs::{Mode, OFlags};
use std::collections::BTreeMap;
use std::fs::{self, File, Metadata, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::{FileExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use tempfile::NamedTempFile;

/// Maximum number of concurrent uploads.
const MAX_UPLOADS: usize = 16;

/// The permitted bits of a file's mode: permissions without set-ID bits.
const PERMISSION_BITS: u32 = 0o777;

/// The files that a client is writing.
#[derive(Debug, Default)]
pub(in crate::rpc) struct Uploads(Mutex<UploadTable>);

#[derive(Debug, Default)]
struct UploadTable {
    /// The number of the last upload.
    last: u64,
    open: BTreeMap<u64, FileUpload>,
}

/// An incomplete upload. Dropping it removes the temporary file.
#[derive(Debug)]
struct FileUpload {
    path: PathBuf,
    temporary: NamedTempFile,
    size: u64,
    mode: Option<u32>,
}

/// A piece of a file that is being written: the fields of a `file.write` request, with a resolved
/// path.
#[derive(Debug)]
pub(super) struct UploadPiece {
    pub(super) path: PathBuf,
    pub(super) data: Base64Bytes,
    pub(super) more: bool,
    pub(super) upload: Option<u64>,
    pub(super) mode: Option<u32>,
}

/// Reads the bytes from `offset` on, at most `length` or [`MAX_PIECE`].
pub(super) fn read(
    path: &Path,
    offset: u64,
    length: Option<usize>,
) -> Result<FilePieceData, ErrorReply> {
    let reply = |error: &io::Error| {
        ErrorReply::of_system(error, &format!("{} cannot be read", path.display()))
    };
    // Opening a FIFO must not wait for its other end.
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = rustix::fs::open(path, flags, Mode::empty());
    let file: File = file.map_err(|error| reply(&error.into()))?.into();
    let metadata = file.metadata().map_err(|error| reply(&error))?;
    check_regular(path, &metadata)?;
    let length = length.unwrap_or(MAX_PIECE).min(MAX_PIECE);
    let remaining = usize::try_from(metadata.len().saturating_sub(offset)).unwrap_or(usize::MAX);
    // At least `MIN_BUFFER`, because files of `/proc` report the length 0.
    let mut bytes = vec![0; length.min(remaining.max(MIN_BUFFER))];
    let mut filled = 0;
    while filled < bytes.len() {
        match file.read_at(&mut bytes[filled..], offset + filled as u64) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(reply(&error)),
        }
    }
    let at_end = filled < bytes.len() || offset + filled as u64 == metadata.len();
    bytes.truncate(filled);
    Ok(FilePieceData {
        data: Base64Bytes(bytes),
        size: metadata.len(),
        mode: metadata.mode() & PERMISSION_BITS,
        at_end,
    })
}

/// Minimum buffer size, for files that report the length 0.
const MIN_BUFFER: usize = 64 * 1024;

impl Uploads {
    /// Writes a piece. After the last piece, renames the file to its path.
    pub(super) fn write(&self, piece: UploadPiece) -> Result<FileWrittenData, ErrorReply> {
        let UploadPiece {
            path,
            data,
            more,
            upload,
            mode,
        } = piece;
        let shown_path = path.display().to_string();
        let reply = |error: &io::Error| {
            ErrorReply::of_system(error, &format!("{shown_path} cannot be written"))
        };
        // The upload is removed from the table while a piece is written, so that a failed piece
        // drops the upload.
        let mut current = match upload {
            None => {
                if lock(&self.0).open.len() >= MAX_UPLOADS {
                    let error =
                        format!("{MAX_UPLOADS} files are being written; finish one of them");
                    return Err(error.into());
                }
                begin(&path, mode)?
            }
            Some(number) => {
                let current = lock(&self.0).open.remove(&number);
                current.ok_or_else(|| {
                    let error =
                        format!("there is no upload {number}; begin again without `upload`");
                    ErrorReply::from(error)
                })?
            }
        };
        current
            .temporary
            .write_all(&data.0)
            .map_err(|error| reply(&error))?;
        current.size += data.0.len() as u64;
        let size = current.size;
        if !more {
            finish(current).map_err(|error| reply(&error))?;
            return Ok(FileWrittenData { upload: None, size });
        }
        let mut table = lock(&self.0);
        let number = upload.unwrap_or_else(|| {
            table.last += 1;
            table.last
        });
        table.open.insert(number, current);
        Ok(FileWrittenData {
            upload: Some(number),
            size,
        })
    }
}

/// Starts an upload. An existing file keeps its permissions, unless `mode` is given.
fn begin(path: &Path, mode: Option<u32>) -> Result<FileUpload, ErrorReply> {
    let reply = |error: &io::Error| {
        ErrorReply::of_system(error, &format!("{} cannot be written", path.display()))
    };
    // For a symbolic link, the target is replaced, not the link.
    let target = match fs::symlink_metadata(path) {
        Ok(found) if found.is_symlink() => fs::canonicalize(path).map_err(|error| reply(&error))?,
        _ => path.to_owned(),
    };
    let old = match fs::metadata(&target) {
        Ok(found) => {
            check_regular(&target, &found)?;
            Some(found)
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(reply(&error)),
    };
    let mode = mode.or_else(|| old.as_ref().map(Metadata::mode));
    let directory = target.parent().unwrap_or(Path::new("/"));
    // Without a mode, the umask applies, as for any new file. With a mode, only the user can read
    // the file until it is complete.
    let initial_mode = if mode.is_some() { 0o600 } else { 0o644 };
    let temporary = tempfile::Builder::new()
        .prefix(".agent-bash-")
        .suffix(".part")
        .permissions(Permissions::from_mode(initial_mode))
        .tempfile_in(directory)
        .map_err(|error| reply(&error))?;
    Ok(FileUpload {
        path: target,
        temporary,
        size: 0,
        mode: mode.map(|mode| mode & PERMISSION_BITS),
    })
}

/// Renames the temporary file to its path.
fn finish(upload: FileUpload) -> io::Result<()> {
    if let Some(mode) = upload.mode {
        let file = upload.temporary.as_file();
        file.set_permissions(Permissions::from_mode(mode))?;
    }
    let persisted = upload.temporary.persist(&upload.path);
    persisted.map(drop).map_err(|error| error.error)
}

/// Refuses a path that is not a regular file.
fn check_regular(path: &Path, found: &Metadata) -> Result<(), ErrorReply> {
    if found.is_file() {
        return Ok(());
    }
    let kind = if found.is_dir() {
        "a directory"
    } else {
        "not a regular file"
    };
    let error = format!("{} is {kind}; name a file", path.display());
    Err(ErrorReply::new(ErrorCode::NotAFile, error))
}

#[cfg(test)]
#[path = "files_tests.rs"]
mod tests;
