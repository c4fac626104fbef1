//! [`AuditFile`]: an audit log, one JSON line per call.

use agent_bash_core::{AuditEntry, AuditLog};
use rustix::fs::OFlags;
use std::fmt;
use std::fs::{DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::PathBuf;

/// Appends to a file with mode 0600 that any number of processes may share. The file is opened for
/// each line, so log rotation may rename it at any time.
#[derive(Debug, Clone)]
pub struct AuditFile {
    path: PathBuf,
}

impl AuditFile {
    /// Returns an audit log at `path`, which must be absolute. Does no I/O yet.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }
}

impl AuditFile {
    fn unusable(&self, reason: &dyn fmt::Display) -> io::Error {
        io::Error::other(format!("{}: {reason}", self.path.display()))
    }
}

impl AuditLog for AuditFile {
    fn record(&self, entry: &AuditEntry) -> io::Result<()> {
        let mut line = serde_json::to_vec(entry)?;
        line.push(b'\n');
        if let Some(directory) = self.path.parent() {
            DirBuilder::new()
                .recursive(true)
                .mode(0o700)
                .create(directory)?;
        }
        // Without O_NONBLOCK, opening a FIFO would block until it has a reader.
        let nonblock = (OFlags::NONBLOCK | OFlags::NOCTTY).bits();
        let mut file = OpenOptions::new()
            .append(true)
            .create(true)
            .mode(0o600)
            .custom_flags(nonblock.cast_signed())
            .open(&self.path)
            .map_err(|error| self.unusable(&error))?;
        if !file.metadata()?.is_file() {
            return Err(self.unusable(&"it is not a regular file"));
        }
        // A single write, so that lines of other processes cannot interleave.
        file.write_all(&line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use agent_bash_core::{AuditVerdict, Caller, ProfileName, Status, Timestamp};
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    use std::os::unix::fs::PermissionsExt;

    fn entry() -> AuditEntry {
        AuditEntry {
            time: Timestamp(0),
            profile: ProfileName::Standard,
            by: Caller::Model,
            command_sha256: "00".to_owned(),
            command_bytes: 2,
            command: None,
            verdict: AuditVerdict::Allowed,
            rule: None,
            sandbox: None,
            status: Status::Exited { code: 0 },
            duration_ms: 1.5,
        }
    }

    /// Tests a FIFO with a reader and one without.
    #[test]
    fn audit_log_must_be_a_regular_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("fifo");
        mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        let log = AuditFile::new(&path);
        let alone = log.record(&entry()).unwrap_err().to_string();
        assert!(alone.contains("fifo"), "{alone}");
        let flags = OFlags::RDONLY | OFlags::NONBLOCK;
        let reader = rustix::fs::open(&path, flags, Mode::empty()).unwrap();
        let read = log.record(&entry()).unwrap_err().to_string();
        assert!(read.contains("not a regular file"), "{read}");
        drop(reader);
        let device = AuditFile::new("/dev/full").record(&entry());
        assert!(
            device
                .unwrap_err()
                .to_string()
                .contains("not a regular file")
        );
    }

    #[test]
    fn audit_log_has_a_line_for_each_call() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("logs/audit.jsonl");
        let log = AuditFile::new(&path);
        let entry = entry();
        log.record(&entry).unwrap();
        std::fs::rename(&path, dir.path().join("rotated")).unwrap();
        log.record(&entry).unwrap();
        log.record(&entry).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        let read: Vec<AuditEntry> = text
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert_eq!(read, [entry.clone(), entry]);
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}
