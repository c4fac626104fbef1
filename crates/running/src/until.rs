//! Waits for a job until a line of its output matches, a port answers, a file appears, or the job
//! ends.
//!
//! The job's supervisor reports the job's end. This module polls the other conditions.

use agent_bash::core::{Cancel, JobId, MetCondition, Until};
use agent_bash::exec::{Job, JobError, Jobs, OutputRange, WaitOutcome};
use agent_bash::process::{addresses_in_network_of, listening_addresses};
use agent_bash::run_blocking;
use agent_bash::sink::{LineMatcher, SearchError};
use agent_bash::tools::clean;
use agent_bash_os::{exists_in_root, open_regular};
use std::mem;
use std::net::SocketAddr;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Polling interval of the conditions.
pub const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Maximum bytes of output that are read at once, and of a line that is not complete yet.
const MAX_PART_BYTES: usize = 256 * 1024;

/// The output that is shown after a wait.
pub const LAST_OUTPUT: OutputRange = OutputRange::Tail {
    lines: u64::MAX,
    max_bytes: 16 * 1024,
};

/// Maximum number of parts ([`MAX_PART_BYTES`]) that are searched in one poll.
const PARTS_PER_POLL: usize = 16;

/// The result of a wait.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waited {
    /// The job after the wait.
    pub job: Job,
    /// The condition that was met; `None` if the time limit passed or the wait was cancelled.
    pub met: Option<MetCondition>,
}

/// Why a wait failed.
#[derive(Debug, thiserror::Error)]
pub enum WaitError {
    /// The regular expression is invalid.
    #[error(transparent)]
    Pattern(#[from] SearchError),
    /// The job cannot be read.
    #[error(transparent)]
    Job(#[from] JobError),
}

/// Waits for a job until one of the conditions `until` is met, for at most `limit` (`None`: without
/// a limit). Searches the output from byte `from` on. Does not end the job. A line is returned as
/// printed; [`agent_bash::mask_condition`] masks secrets in the line.
///
/// # Errors
/// [`WaitError`].
pub async fn wait_until(
    jobs: &Jobs,
    id: &JobId,
    (until, from): (&Until, u64),
    limit: Option<Duration>,
    cancel: &Cancel,
) -> Result<Waited, WaitError> {
    let mut watch = ConditionWatch::new(until, from)?;
    let job = jobs.show(id)?;
    let process = WatchedProcess::of_job(&job);
    let check = async |watch: &mut ConditionWatch| {
        let path = job.output.as_deref();
        if let Some(met) = watch.check_output(path, PARTS_PER_POLL).await {
            return Some(met);
        }
        let pids = pids(jobs, &job, until).await;
        let met = watch.check(&process, &pids).await;
        met.or_else(|| watch.check_quiet(path, jobs.clock().now()))
    };
    let ended = jobs.wait(id, limit, cancel);
    tokio::pin!(ended);
    loop {
        let polled = async {
            let met = check(&mut watch).await;
            if met.is_none() {
                jobs.clock().sleep(POLL_INTERVAL).await;
            }
            met
        };
        let waited = tokio::select! {
            biased;
            met = polled => match met {
                Some(_) => return Ok(Waited { job: jobs.show(id)?, met }),
                None => continue,
            },
            waited = &mut ended => waited?,
        };
        return Ok(match waited {
            WaitOutcome::Over(job) => {
                // The job may have met a condition just before its end.
                let output = job.output.as_deref();
                let mut met = watch.check_output(output, usize::MAX).await;
                met = met.or_else(|| watch.output(&[]));
                Waited {
                    met: Some(met.unwrap_or(MetCondition::End)),
                    job,
                }
            }
            WaitOutcome::StillRunning(job) | WaitOutcome::Cancelled(job) => {
                Waited { job, met: None }
            }
        });
    }
}

/// Returns the pids of the job's processes, if a condition needs them.
async fn pids(jobs: &Jobs, job: &Job, until: &Until) -> Vec<u32> {
    if until.port.is_none() {
        return Vec::new();
    }
    let processes = jobs.living_processes(job).await;
    processes.iter().map(|process| process.pid).collect()
}

/// The process in whose directory and network the conditions are checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WatchedProcess {
    /// The process's pid. The port is searched in the network namespace of the process.
    pub pid: Option<u32>,
    /// The directory that relative paths start from.
    pub cwd: PathBuf,
    /// True if the watched process may see other files than agent-bash at the same path.
    pub is_sandboxed: bool,
}

impl WatchedProcess {
    fn of_job(job: &Job) -> Self {
        Self {
            pid: Some(job.pid),
            cwd: PathBuf::from(&job.cwd),
            is_sandboxed: job.sandbox.is_some(),
        }
    }
}

/// Conditions, and how much of the output has been searched.
#[derive(Debug)]
pub struct ConditionWatch {
    until: Until,
    matcher: Option<LineMatcher>,
    /// Offset of the first byte of output that was not searched.
    next: u64,
    /// The last line, if it is not complete.
    pending: Vec<u8>,
    /// True if the pending line was searched.
    is_searched: bool,
    /// The last value of `activity` in [`Self::quiet`], and the time at which it was first seen.
    activity: Option<(u64, Duration)>,
}

impl ConditionWatch {
    /// Returns a watch that searches the output from byte `from` on.
    ///
    /// # Errors
    /// The regular expression is invalid.
    pub fn new(until: &Until, from: u64) -> Result<Self, SearchError> {
        let matcher = until.line.as_deref().map(LineMatcher::new).transpose()?;
        Ok(Self {
            until: until.clone(),
            matcher,
            next: from,
            pending: Vec::new(),
            is_searched: false,
            activity: None,
        })
    }

    /// Returns the offset of the first byte of output that was not searched.
    pub fn next(&self) -> u64 {
        self.next
    }

    /// Continues the search at `offset`, if the search has not reached it: output before `offset`
    /// is no longer stored.
    pub fn skip_to(&mut self, offset: u64) {
        if offset > self.next {
            self.next = offset;
            self.pending.clear();
        }
    }

    /// Searches further output, which begins at [`Self::next`]. If `bytes` is empty, searches the
    /// last line, although its line end is missing.
    pub fn output(&mut self, bytes: &[u8]) -> Option<MetCondition> {
        let matcher = self.matcher.as_ref()?;
        let text = if bytes.is_empty() {
            if mem::replace(&mut self.is_searched, true) {
                return None;
            }
            clean(&self.pending)
        } else {
            self.is_searched = false;
            self.next += bytes.len() as u64;
            self.pending.extend_from_slice(bytes);
            let end = self.pending.iter().rposition(|byte| *byte == b'\n');
            let complete: Vec<u8> = self.pending.drain(..end.map_or(0, |end| end + 1)).collect();
            let excess = self.pending.len().saturating_sub(MAX_PART_BYTES);
            self.pending.drain(..excess);
            clean(&complete)
        };
        let line = text.lines().find(|line| matcher.matches(line))?;
        let line = line.to_owned();
        Some(MetCondition::Line { line })
    }

    /// Searches the lines of a screen.
    pub fn lines<'a>(&self, lines: impl IntoIterator<Item = &'a str>) -> Option<MetCondition> {
        let matcher = self.matcher.as_ref()?;
        let line = lines.into_iter().find(|line| matcher.matches(line))?;
        let line = line.to_owned();
        Some(MetCondition::Line { line })
    }

    /// Checks for how long the command has printed nothing. `activity` is a number that changes
    /// with every output.
    pub fn quiet(&mut self, activity: u64, now: Duration) -> Option<MetCondition> {
        let ms = self.until.quiet_ms?;
        match self.activity {
            Some((seen, since)) if seen == activity => {
                let is_quiet = now.saturating_sub(since) >= Duration::from_millis(ms);
                is_quiet.then_some(MetCondition::Quiet { ms })
            }
            _ => {
                self.activity = Some((activity, now));
                None
            }
        }
    }

    /// Searches the further output in a file, at most `parts` parts.
    async fn check_output(&mut self, path: Option<&Path>, parts: usize) -> Option<MetCondition> {
        let path = path.filter(|_| self.matcher.is_some())?;
        for part in 0..parts {
            let (path, offset) = (path.to_owned(), self.next);
            let read = run_blocking(move || read_part(&path, offset))
                .await
                .ok()??;
            if read.is_empty() && part > 0 {
                return None;
            }
            let met = self.output(&read);
            if met.is_some() || read.is_empty() {
                return met;
            }
        }
        None
    }

    /// Checks for how long a file of output has not grown.
    fn check_quiet(&mut self, path: Option<&Path>, now: Duration) -> Option<MetCondition> {
        self.until.quiet_ms?;
        let length = path.and_then(|path| path.metadata().ok());
        self.quiet(length.map_or(0, |file| file.len()), now)
    }

    /// Checks the port and the file. `pids` are the processes to which the port should belong.
    pub async fn check(&self, process: &WatchedProcess, pids: &[u32]) -> Option<MetCondition> {
        if self.until.port.is_none() && self.until.file.is_none() {
            return None;
        }
        let (until, process, pids) = (self.until.clone(), process.clone(), pids.to_vec());
        let check =
            move || check_port(&until, &process, &pids).or_else(|| check_file(&until, &process));
        run_blocking(check).await.ok().flatten()
    }
}

/// Checks whether a process of the job, or another process in the same network namespace, listens
/// at the port.
fn check_port(until: &Until, process: &WatchedProcess, pids: &[u32]) -> Option<MetCondition> {
    let port = until.port?;
    let is_port = |address: &SocketAddr| address.port() == port;
    let address_of_job = listening_addresses(pids)
        .into_values()
        .flatten()
        .find(is_port);
    if let Some(address) = address_of_job {
        return Some(MetCondition::Port {
            address,
            of_job: true,
        });
    }
    let pid = process.pid.into_iter().chain(pids.iter().copied());
    let pid = pid
        .map(addresses_in_network_of)
        .find(|addresses| !addresses.is_empty());
    let address = pid?.into_iter().find(is_port)?;
    Some(MetCondition::Port {
        address,
        of_job: false,
    })
}

/// Checks whether the file exists.
fn check_file(until: &Until, process: &WatchedProcess) -> Option<MetCondition> {
    let path = process.cwd.join(until.file.as_ref()?);
    let exists = match process.pid.filter(|_| process.is_sandboxed) {
        // Checks the path as the sandboxed process sees it. A link must not lead out of the
        // sandbox: the answer would tell which secret files exist.
        Some(pid) => exists_in_root(Path::new(&format!("/proc/{pid}/root")), &path),
        None => path.exists(),
    };
    exists.then_some(MetCondition::File { path })
}

/// Reads a part of a file that grows, from `offset` on; `None` if the file cannot be read.
fn read_part(path: &Path, offset: u64) -> Option<Vec<u8>> {
    let mut part = vec![0; MAX_PART_BYTES];
    let length = open_regular(path).ok()?.read_at(&mut part, offset).ok()?;
    part.truncate(length);
    Some(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn watch(pattern: &str) -> ConditionWatch {
        let until = Until {
            line: Some(pattern.to_owned()),
            ..Until::default()
        };
        ConditionWatch::new(&until, 0).unwrap()
    }

    fn line(line: &str) -> MetCondition {
        let line = line.to_owned();
        MetCondition::Line { line }
    }

    #[test]
    fn line_in_parts_with_colours_is_matched_once_complete() {
        let mut watch = watch(r"ready in \d+ ms$");
        assert_eq!(watch.output(b"VITE\n  rea"), None);
        assert_eq!(watch.output(b"dy in \x1b[1m12"), None);
        assert_eq!(
            watch.output(b"0\x1b[22m ms\r\nmore\n"),
            Some(line("  ready in 120 ms"))
        );
        assert_eq!(watch.next(), 10 + 12 + 16);
    }

    #[test]
    fn line_without_newline_is_matched_when_the_output_pauses() {
        let mut watch = watch("^Password:");
        assert_eq!(watch.output(b"a\nPass"), None);
        assert_eq!(watch.output(b""), None);
        assert_eq!(watch.output(b"word: "), None);
        assert_eq!(watch.output(b""), Some(line("Password: ")));
    }

    #[test]
    fn quiet_counts_from_the_last_output() {
        let until = Until {
            quiet_ms: Some(500),
            ..Until::default()
        };
        let mut watch = ConditionWatch::new(&until, 0).unwrap();
        let mut quiet = |activity, ms| watch.quiet(activity, Duration::from_millis(ms)).is_some();
        assert!(!quiet(1, 1000) && !quiet(1, 1499));
        assert!(!quiet(2, 1500) && !quiet(2, 1999));
        assert!(quiet(2, 2000));
    }

    #[test]
    fn screen_is_searched_line_by_line() {
        let watch = watch("^b$");
        assert_eq!(watch.lines(["ab", "b"]), Some(line("b")));
        assert_eq!(watch.lines(["ab", "bc"]), None);
    }

    #[test]
    fn invalid_pattern_is_an_error() {
        let until = Until {
            line: Some("(".to_owned()),
            ..Until::default()
        };
        assert!(ConditionWatch::new(&until, 0).is_err());
    }
}
