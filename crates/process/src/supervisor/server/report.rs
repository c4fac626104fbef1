//! The pipe in which a shell reports about itself when it has run its script.

use crate::platform::{pipe, shows_descriptors};
use crate::supervisor::shell_directory::ShellDirectory;
use rustix::fs::{Mode, OFlags};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

/// Capacity of a pipe.
const PIPE_BYTES: usize = 64 * 1024;

/// A pipe that a shell opens by path, because it has closed all descriptors of the supervisor when
/// it writes. The resource limit for file sizes does not apply to a pipe.
#[derive(Debug)]
pub(super) struct ReportPipe {
    read: OwnedFd,
    /// Kept open so that the path remains valid; never written to.
    write: OwnedFd,
    /// The path of a FIFO; `None` for a pipe, which is opened through `/proc`.
    fifo: Option<PathBuf>,
    /// The directory of a FIFO that only this report uses.
    _directory: Option<ShellDirectory>,
}

impl ReportPipe {
    /// Opens the FIFO at this path, or creates a pipe without a name.
    pub(super) fn of(fifo: Option<PathBuf>) -> io::Result<Self> {
        let Some(path) = fifo else {
            let (read, write) = pipe()?;
            rustix::io::ioctl_fionbio(&read, true)?;
            return Ok(Self {
                read,
                write,
                fifo: None,
                _directory: None,
            });
        };
        let open = |access| {
            let flags = access | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOFOLLOW;
            rustix::fs::open(&path, flags, Mode::empty())
        };
        let (read, write) = (open(OFlags::RDONLY)?, open(OFlags::WRONLY)?);
        // Otherwise a call in another sandbox could read the report, which would then be lost.
        rustix::fs::fchmod(&read, Mode::WUSR)?;
        Ok(Self {
            read,
            write,
            fifo: Some(path),
            _directory: None,
        })
    }

    /// Creates a pipe that a shell of this user can open. Where the kernel does not let the shell
    /// open a descriptor of this process, the pipe is a FIFO in a private directory below `tmpdir`
    /// (`$TMPDIR`); if that cannot be created, the shell's report is lost.
    pub(super) fn for_child(tmpdir: &Path) -> io::Result<Self> {
        if shows_descriptors() {
            return Self::of(None);
        }
        let Ok(directory) = ShellDirectory::create(tmpdir, None) else {
            return Self::of(None);
        };
        let report = Self::of(Some(directory.report()))?;
        Ok(Self {
            _directory: Some(directory),
            ..report
        })
    }

    pub(super) fn path(&self) -> String {
        if let Some(fifo) = &self.fifo {
            // The shell's startup text contains the path without quotes.
            let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+".contains(c);
            let path = fifo.to_str().filter(|path| path.chars().all(plain));
            return path.unwrap_or("/dev/null").to_owned();
        }
        format!("/proc/{}/fd/{}", std::process::id(), self.write.as_raw_fd())
    }

    /// Reads the report, at most the capacity of a pipe. The text is not validated.
    pub(super) fn take(&self) -> String {
        let mut text = Vec::new();
        let mut buffer = [0; 4096];
        while let Ok(count) = rustix::io::read(&self.read, &mut buffer)
            && count > 0
            && text.len() < PIPE_BYTES
        {
            text.extend_from_slice(&buffer[..count]);
        }
        String::from_utf8(text).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::make_fifo;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn fifo_can_only_be_written_by_other_processes() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("report");
        make_fifo(&path).unwrap();
        let report = ReportPipe::of(Some(path.clone())).unwrap();
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o200);
        std::fs::write(report.path(), "0").unwrap();
        assert_eq!(report.take(), "0");
    }

    #[test]
    fn report_written_by_path_is_read_once() {
        let report = ReportPipe::of(None).unwrap();
        assert_eq!(report.take(), "");
        std::fs::write(report.path(), "0 1 0 /tmp").unwrap();
        assert_eq!(
            (report.take(), report.take()),
            ("0 1 0 /tmp".into(), String::new())
        );
    }
}
