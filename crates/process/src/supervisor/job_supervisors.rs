//! Finds the supervisors of jobs by `/proc`, whatever happened to the files of the jobs. A command
//! may have damaged, replaced or removed these files.

use super::PROCESS_NAME;
use super::job_directory::DESCRIPTION_LABEL;
use crate::proc_scan;
use agent_bash_os::ProcessIdentity;
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
/// arguments of all processes, and the descriptors of all supervisors. Empty without `/proc`.
pub fn job_supervisors(directory: &Path) -> Vec<JobSupervisor> {
    let directory = canonical(directory);
    let mut found = Vec::new();
    for process in proc_scan::processes() {
        let arguments = || proc_scan::arguments(process.pid).into_iter().next();
        if process.zombie || arguments().is_none_or(|name| name != PROCESS_NAME.as_bytes()) {
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
