//! Starting a launcher: the descriptors it is handed, the words of its command line, and what it says.

use crate::error::BoxError;
use crate::launcher::NAME;
use crate::plan::Order;
use crate::report::Message;
use agent_bash_core::sandbox::Report;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::FdFlags;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::time::Duration;

/// How many bytes of what a launcher says are read.
const MOST: usize = 64 * 1024;

/// A launcher that is about to be started: its command line, and the descriptors that it must inherit.
#[derive(Debug)]
pub struct Start {
    order: OwnedFd,
    said: OwnedFd,
    report: OwnedFd,
}

impl Start {
    /// Writes the order down for the launcher. Its descriptors are marked to be inherited: no other thread may start a
    /// process until [`Self::report`] was called.
    pub fn new(order: &Order) -> Result<Self, BoxError> {
        let mut file = unnamed_file()?;
        let text = serde_json::to_vec(order).map_err(BoxError::step("writing the order"))?;
        file.write_all(&text)
            .map_err(BoxError::step::<io::Error>("writing the order"))?;
        // Close-on-exec, both of them.
        let (said, report) =
            io::pipe().map_err(BoxError::step::<io::Error>("opening the report pipe"))?;
        let (said, report) = (OwnedFd::from(said), OwnedFd::from(report));
        rustix::io::fcntl_setfd(&report, FdFlags::empty())
            .map_err(BoxError::step("opening the report pipe"))?;
        Ok(Self {
            order: file.into(),
            said,
            report,
        })
    }

    /// The `argv[0]` of the launcher. Its program is the one that calls [`crate::init`].
    pub fn name() -> &'static OsStr {
        OsStr::new(NAME)
    }

    /// The other words of its command line, for the program that it becomes.
    pub fn words(&self, program: &OsStr, arg0: &OsStr) -> [OsString; 4] {
        let number = |fd: &OwnedFd| fd.as_raw_fd().to_string().into();
        [
            number(&self.order),
            number(&self.report),
            program.to_owned(),
            arg0.to_owned(),
        ]
    }

    /// What the launcher says, once it was started: what is enforced by the program's box, if it is in one. The program
    /// runs when this returns.
    ///
    /// `patience` bounds each wait for it.
    pub fn report(self, patience: Duration) -> Result<Option<Report>, BoxError> {
        drop((self.order, self.report));
        let patience = Timespec {
            tv_sec: i64::try_from(patience.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: i64::from(patience.subsec_nanos()),
        };
        let text = read_to_end(&self.said, &patience)
            .map_err(BoxError::step("waiting for the launcher"))?;
        judged(&text)
    }
}

#[cfg(target_os = "linux")]
fn unnamed_file() -> Result<File, BoxError> {
    use rustix::fs::{MemfdFlags, memfd_create};
    memfd_create("agent-bash-box", MemfdFlags::empty())
        .map(File::from)
        .map_err(BoxError::step("writing the order"))
}

#[cfg(not(target_os = "linux"))]
fn unnamed_file() -> Result<File, BoxError> {
    Err(BoxError::Lacks { what: "Linux" })
}

fn read_to_end(pipe: &OwnedFd, patience: &Timespec) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    let mut buffer = [0; 4096];
    while text.len() < MOST {
        let mut ready = [PollFd::new(pipe, PollFlags::IN)];
        match poll(&mut ready, Some(patience)) {
            Ok(0) => return Err(io::ErrorKind::TimedOut.into()),
            Err(rustix::io::Errno::INTR) => continue,
            other => other?,
        };
        let count = rustix::io::read(pipe, &mut buffer)?;
        if count == 0 {
            break;
        }
        text.extend_from_slice(&buffer[..count]);
    }
    Ok(text)
}

/// What is meant by all that was said until the end of the file.
fn judged(text: &[u8]) -> Result<Option<Report>, BoxError> {
    let mut ready = Err(BoxError::Silent);
    for line in text.split(|byte| *byte == b'\n').filter(|l| !l.is_empty()) {
        let message = serde_json::from_slice(line)
            .map_err(BoxError::step("reading what the launcher said"))?;
        ready = match message {
            Message::Ready(report) => Ok(report),
            Message::NoTrial(reason) => return Err(BoxError::NoTrial(reason)),
            Message::Failed(reason) => return Err(BoxError::Said(reason)),
        };
    }
    ready
}

#[cfg(test)]
mod tests {
    use super::*;
    use agent_bash_core::sandbox::Tier;

    #[test]
    fn only_a_report_without_a_failure_means_that_the_program_runs() {
        let enforced = r#"{"ready":{"tier":"base","missing":["ipc"]}}"#;
        let failed = r#"{"failed":"no such file"}"#;
        let report = judged(enforced.as_bytes()).unwrap();
        assert_eq!(report.map(|report| report.tier), Some(Tier::Base));
        let both = format!("{enforced}\n{failed}\n");
        assert_eq!(
            judged(both.as_bytes()).unwrap_err().to_string(),
            "no such file"
        );
        assert!(matches!(judged(b"").unwrap_err(), BoxError::Silent));
        assert!(judged(b"{}").is_err());
    }
}
