//! `agent-bash clean`: removes stored data that is no longer in use, and reports what was removed.

use crate::args::CleanArgs;
use crate::commands::session;
use crate::process_start::StartContext;
use crate::{output, runtime};
use agent_bash::change_sets::{ListedChanges, Store};
use agent_bash::core::changes::ChangesState;
use agent_bash::core::{Clock, plural};
use agent_bash::exec::{Job, JobState, Jobs, JobsOptions, sweep_sessions, sweep_snapshots};
use agent_bash::journals::recordings;
use agent_bash::process::SystemClock;
use agent_bash::sink::{ArtifactDir, SizeStyle, size_text};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Counts of removed and kept items.
#[derive(Debug, Default)]
struct CleanOutcome {
    artifacts: u64,
    bytes: u64,
    jobs: usize,
    leftovers: usize,
    artifacts_in_use: u64,
    running_jobs: Vec<String>,
    /// Records of processes that have ended.
    records: usize,
    records_in_use: usize,
    change_sets: usize,
    held_trials: usize,
}

/// Cleans one session or all of them, and removes leftovers of killed programs.
pub(crate) fn clean(args: &CleanArgs, start: &StartContext) -> anyhow::Result<u8> {
    let runtime = runtime::start_single_threaded()?;
    let names = if args.all {
        sessions(start)
    } else {
        BTreeSet::from([args.state.clone()])
    };
    if let Some(state) = start.host.state_dir() {
        ArtifactDir::sweep(&state, SystemClock::new().wall());
    }
    let mut outcome = CleanOutcome::default();
    for name in &names {
        runtime.block_on(clean_session(name, start, &mut outcome))?;
    }
    outcome.leftovers += sweep_sessions(&start.host.temp_dir());
    if let Some(state) = start.host.state_dir() {
        outcome.leftovers += sweep_snapshots(&state.join("snapshots"), SystemClock::new().wall());
    }
    outcome.leftovers += sweep_other_versions();
    output::print(&outcome.text())?;
    Ok(0)
}

/// Removes other uploaded versions of this program, if this program was itself uploaded. The names
/// of uploaded files end in their hash. Running programs continue. Returns the number of removed
/// files.
fn sweep_other_versions() -> usize {
    let Ok(own) = std::fs::read_link("/proc/self/exe") else {
        return 0;
    };
    let (Some(directory), Some(own)) = (own.parent(), own.file_name()) else {
        return 0;
    };
    if !is_uploaded(own) {
        return 0;
    }
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    entries
        .filter(|entry| entry.file_name() != own && is_uploaded(&entry.file_name()))
        .filter(|entry| std::fs::remove_file(entry.path()).is_ok())
        .count()
}

/// True if a file has the name of a program that was uploaded.
fn is_uploaded(name: &OsStr) -> bool {
    let hash = name
        .to_str()
        .and_then(|name| name.strip_prefix("agent-bash-"));
    hash.is_some_and(|hash| hash.len() == 64 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// Cleans the state directory of one session, and counts what was removed and what stays.
async fn clean_session(
    name: &str,
    start: &StartContext,
    outcome: &mut CleanOutcome,
) -> anyhow::Result<()> {
    let mut written = Vec::new();
    if let Some(directory) = jobs_directory(start, name) {
        let options = JobsOptions {
            keep: Duration::ZERO,
            ..JobsOptions::new(&directory, Arc::new(SystemClock::new()))
        };
        let jobs = Jobs::new(options);
        let before = jobs.list()?;
        for job in before.iter().filter(|job| job.state == JobState::Running) {
            outcome.running_jobs.push(job.id.to_string());
            written.extend(job.output.clone());
        }
        outcome.bytes += finished_bytes(&before, &directory);
        outcome.jobs += jobs.clean().await?;
    }
    if let Some(dir) = session::artifact_dir(start, name)? {
        clean_artifacts(&dir, &written, outcome);
    }
    if let Some(state) = start.host.state_dir() {
        clean_records(&state, name, outcome);
        count_sets(&state, name, outcome);
    }
    Ok(())
}

/// Removes the session's records whose processes have ended.
fn clean_records(state: &Path, name: &str, outcome: &mut CleanOutcome) {
    for record in recordings(state, Some(name)) {
        if record.remove() {
            outcome.records += 1;
            outcome.bytes += record.bytes;
        } else {
            outcome.records_in_use += 1;
        }
    }
}

/// Counts the change sets. They are not removed, because an undo needs them; they expire later.
fn count_sets(state: &Path, name: &str, outcome: &mut CleanOutcome) {
    if !state.join("changes").join(name).is_dir() {
        return;
    }
    let sets = Store::open(state).and_then(|store| store.list(name));
    let sets = sets.unwrap_or_default();
    let is_held = |set: &&ListedChanges| set.changes.state == ChangesState::Held;
    outcome.held_trials += sets.iter().filter(is_held).count();
    outcome.change_sets += sets.len();
}

/// Returns the jobs directory of a session, if it exists.
fn jobs_directory(start: &StartContext, name: &str) -> Option<PathBuf> {
    let directory = start.host.state_dir()?.join(name).join("jobs");
    directory.is_dir().then_some(directory)
}

/// Returns the bytes of the output files of ended jobs. Output of adopted processes is counted with
/// the artifacts.
fn finished_bytes(jobs: &[Job], directory: &Path) -> u64 {
    jobs.iter()
        .filter(|job| job.state != JobState::Running)
        .filter_map(|job| job.output.as_ref())
        .filter(|path| path.starts_with(directory))
        .filter_map(|path| Some(path.metadata().ok()?.len()))
        .sum()
}

/// Removes the session's artifacts, except those that are in use or are among the files `written`
/// by running jobs.
fn clean_artifacts(dir: &ArtifactDir, written: &[PathBuf], outcome: &mut CleanOutcome) {
    let cleared = dir.clear(|info| {
        written
            .iter()
            .any(|path| *path == Path::new(&info.artifact.path))
    });
    outcome.artifacts += cleared.removed.artifacts;
    outcome.bytes += cleared.removed.bytes;
    outcome.artifacts_in_use += cleared.in_use;
}

/// Returns the names of all sessions below the state directory.
fn sessions(start: &StartContext) -> BTreeSet<String> {
    let Some(state) = start.host.state_dir() else {
        return BTreeSet::new();
    };
    let entries = std::fs::read_dir(&state).into_iter().flatten().flatten();
    let recorded = recordings(&state, None).into_iter();
    entries
        .filter(|entry| entry.path().is_dir())
        .filter_map(|entry| entry.file_name().into_string().ok())
        .chain(recorded.map(|record| record.session))
        .collect()
}

impl CleanOutcome {
    /// Returns the report: what was removed, and what stays and why.
    fn text(&self) -> String {
        let mut removed = Vec::new();
        for (number, what) in [
            (self.artifacts, "artifact"),
            (self.jobs as u64, "finished job"),
            (self.records as u64, "record"),
        ] {
            removed.extend((number > 0).then(|| plural(number, what)));
        }
        match self.leftovers {
            0 => {}
            1 => removed.push("1 leftover of a killed program".to_owned()),
            many => removed.push(format!("{many} leftovers of killed programs")),
        }
        let mut text = if removed.is_empty() {
            "there was nothing to remove\n".to_owned()
        } else {
            format!(
                "removed {}, {}\n",
                removed.join(", "),
                size_text(self.bytes, SizeStyle::Spaced)
            )
        };
        // Writing to a String cannot fail.
        for job in &self.running_jobs {
            let _ = writeln!(
                text,
                "kept job {job}, which runs: agent-bash jobs kill {job}"
            );
        }
        if self.artifacts_in_use > 0 {
            let _ = writeln!(
                text,
                "kept {} in use",
                plural(self.artifacts_in_use, "artifact")
            );
        }
        if self.records_in_use > 0 {
            let records = plural(self.records_in_use as u64, "record");
            let _ = writeln!(text, "kept {records}, still written by a running program");
        }
        let for_undo = self.change_sets - self.held_trials;
        if for_undo > 0 {
            let sets = plural(for_undo as u64, "change set");
            let _ = writeln!(
                text,
                "kept {sets} for undo, until changes.keep is over: agent-bash changes list"
            );
        }
        if self.held_trials > 0 {
            let trials = plural(self.held_trials as u64, "trial");
            let _ = writeln!(
                text,
                "kept {trials} until you commit or discard: agent-bash changes list"
            );
        }
        text
    }
}
