//! Finds the supervisors of jobs by `/proc`, whatever happened to the files of the jobs. A command
//! may have damaged, replaced or removed these files.

use super::PROCESS_NAME;
use super::job_directory::DESCRIPTION_LABEL;
use crate::proc_scan;
use agent_bash_os::{ProcessIdentity, read_proc, status_field};
use std::fs;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Maximum number of bytes read of a description.
const MAX_DESCRIPTION_BYTES: u64 = 64 << 20;

/// The running supervisor of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobSupervisor {
    /// The name of the job's directory.
    pub job: String,
    /// The supervisor.
    pub process: ProcessIdentity,
    /// The job's description, as it was when the supervisor took over the job.
    pub description: Vec<u8>,
}

/// Returns the running supervisors of the jobs in `directory`, which need not exist. Reads the
/// arguments of all processes, and the descriptors of all supervisors. Empty without `/proc`. A
/// process that may be confined does not count: a command in a sandbox can take the name of a
/// supervisor and invent a job.
pub fn job_supervisors(directory: &Path) -> Vec<JobSupervisor> {
    let directory = canonical(directory);
    let Some(own) = Confinement::of(std::process::id().cast_signed()) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for process in proc_scan::processes() {
        let arguments = || proc_scan::arguments(process.pid).into_iter().next();
        if process.zombie || arguments().is_none_or(|name| name != PROCESS_NAME.as_bytes()) {
            continue;
        }
        if !Confinement::of(process.pid).is_some_and(|other| other.is_at_most(&own)) {
            continue;
        }
        for (number, target) in proc_scan::open_files(&process.pid.to_string()) {
            let Some(job) = job_of_copy(&target) else {
                continue;
            };
            let copy = read(process.pid, number).unwrap_or_default();
            let description = description_in(&copy, &directory);
            found.extend(description.map(|description| JobSupervisor {
                job,
                process: ProcessIdentity::new(process.pid, process.start_time),
                description: description.to_vec(),
            }));
        }
    }
    found
}

/// The user of a process, and what confines it. A process cannot get rid of a filter.
#[derive(Debug, PartialEq, Eq)]
struct Confinement {
    /// The effective user.
    user: u32,
    /// True if the process gains no privileges by `exec`; each process in a sandbox has that.
    has_no_new_privileges: bool,
    /// The number of seccomp filters. Before Linux 5.9, 1 or 0.
    filters: u32,
}

impl Confinement {
    fn of(pid: i32) -> Option<Self> {
        Self::parse(&read_proc(format!("/proc/{pid}/status")).ok()?)
    }

    /// Parses a file `status`, see proc(5).
    fn parse(status: &[u8]) -> Option<Self> {
        let status = String::from_utf8_lossy(status);
        let field = |name: &str, index: usize| {
            let value = status_field(&status, name)?;
            value.split_whitespace().nth(index)?.parse::<u32>().ok()
        };
        let filters = || Some(u32::from(field("Seccomp", 0)? != 0));
        Some(Self {
            user: field("Uid", 1)?,
            has_no_new_privileges: field("NoNewPrivs", 0)? != 0,
            filters: field("Seccomp_filters", 0).or_else(filters)?,
        })
    }

    /// True if the process is of the same user, and nothing confines it that does not confine
    /// `other`.
    fn is_at_most(&self, other: &Self) -> bool {
        self.user == other.user
            && self.has_no_new_privileges <= other.has_no_new_privileges
            && self.filters <= other.filters
    }
}

/// Returns the canonical path, even if the last directories do not exist.
fn canonical(directory: &Path) -> PathBuf {
    let mut missing = Vec::new();
    for existing in directory.ancestors() {
        if let Ok(mut path) = fs::canonicalize(existing) {
            path.extend(missing.into_iter().rev());
            return path;
        }
        missing.extend(existing.file_name());
    }
    directory.to_owned()
}

/// Returns the number of the job if this is the target of a descriptor with a job's description.
fn job_of_copy(target: &Path) -> Option<String> {
    let name = target.to_str()?.strip_prefix("/memfd:")?;
    let job = name.strip_prefix(DESCRIPTION_LABEL)?;
    let job = job.strip_suffix(" (deleted)")?;
    let is_number = !job.is_empty() && job.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| job.to_owned())
}

/// Returns the description in a copy, if it is of a job in `directory`.
fn description_in<'a>(copy: &'a [u8], directory: &Path) -> Option<&'a [u8]> {
    let description = copy.strip_prefix(directory.as_os_str().as_bytes())?;
    description.strip_prefix(b"\0")
}

/// Reads a descriptor of another process from its beginning.
fn read(pid: i32, number: i32) -> Option<Vec<u8>> {
    let file = fs::File::open(format!("/proc/{pid}/fd/{number}")).ok()?;
    let mut bytes = Vec::new();
    file.take(MAX_DESCRIPTION_BYTES)
        .read_to_end(&mut bytes)
        .ok()?;
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_are_recognised_by_number_and_directory() {
        let job = |target: &str| job_of_copy(Path::new(target));
        assert_eq!(
            job("/memfd:agent-bash-job-12 (deleted)").as_deref(),
            Some("12")
        );
        for other in [
            "/memfd:agent-bash-job- (deleted)",
            "/memfd:agent-bash-job-x (deleted)",
            "/memfd:agent-bash-launcher (deleted)",
            "/state/jobs/12",
        ] {
            assert_eq!(job(other), None, "{other}");
        }
        let in_jobs = |copy| description_in(copy, Path::new("/state/jobs"));
        assert_eq!(in_jobs(b"/state/jobs\0{}"), Some(&b"{}"[..]));
        assert_eq!(in_jobs(b"/state/jobs2\0{}"), None);
        assert_eq!(in_jobs(b""), None);
    }

    #[test]
    fn process_of_another_user_or_with_further_filters_is_more_confined() {
        let status = |user: u32, privileges: u8, filters: &str| {
            let text =
                format!("Name:\tx\nUid:\t7\t{user}\t7\t7\nNoNewPrivs:\t{privileges}\n{filters}\n");
            Confinement::parse(text.as_bytes()).unwrap()
        };
        let filters = |count: u32| format!("Seccomp:\t2\nSeccomp_filters:\t{count}");
        let own = status(7, 0, &filters(1));
        for (other, is_at_most) in [
            (status(7, 0, &filters(1)), true),
            (status(7, 0, "Seccomp:\t0\nSeccomp_filters:\t0"), true),
            (status(7, 0, "Seccomp:\t2"), true),
            (status(8, 0, &filters(1)), false),
            (status(7, 1, &filters(1)), false),
            (status(7, 0, &filters(2)), false),
        ] {
            assert_eq!(other.is_at_most(&own), is_at_most, "{other:?}");
        }
        let unfiltered = status(7, 0, "Seccomp:\t0");
        assert!(!status(7, 0, "Seccomp:\t2").is_at_most(&unfiltered));
        assert_eq!(Confinement::parse(b"Name:\tx\n"), None);
    }

    #[test]
    fn missing_directories_are_below_their_canonical_parent() {
        let temp = tempfile::tempdir().unwrap();
        let real = temp.path().canonicalize().unwrap().join("real");
        fs::create_dir(&real).unwrap();
        let link = temp.path().join("link");
        std::os::unix::fs::symlink(&real, &link).unwrap();
        assert_eq!(canonical(&link.join("a/b")), real.join("a/b"));
        assert_eq!(canonical(&link), real);
    }
}
