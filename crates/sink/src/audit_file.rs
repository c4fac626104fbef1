//! [`AuditFile`]: a record of calls, one line of JSON each.

use agent_bash_core::{AuditEntry, AuditLog};
use std::fs::{DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::PathBuf;

/// Appends to a file with mode 0600, which any number of processes may share. It is opened for each line, so whoever
/// rotates logs may rename it at any time.
#[derive(Debug, Clone)]
pub struct AuditFile {
    path: PathBuf,
}

impl AuditFile {
    /// The log at `path`, absolute. Touches nothing yet.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
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
        let mut file = OpenOptions::new()
            .append(true)
            .create(true)
            .mode(0o600)
            .open(&self.path)?;
        // In one piece: lines of other processes stand before or after it.
        file.write_all(&line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use agent_bash_core::{AuditVerdict, Caller, ProfileName, Status, Timestamp};
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_line_is_added_for_each_call() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("logs/audit.jsonl");
        let log = AuditFile::new(&path);
        let entry = AuditEntry {
            time: Timestamp(0),
            profile: ProfileName::Standard,
            by: Caller::Model,
            command_sha256: "00".to_owned(),
            command_bytes: 2,
            command: None,
            verdict: AuditVerdict::Allowed,
            rule: None,
            status: Status::Exited { code: 0 },
            duration_ms: 1.5,
        };
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
