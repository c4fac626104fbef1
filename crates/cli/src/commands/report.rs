//! `agent-bash report`: a recorded session as a page.

use crate::args::ReportArgs;
use crate::commands::{NOT_FOUND_EXIT_CODE, find_record, jobs, later_events, session};
use crate::output;
use crate::process_start::StartContext;
use crate::runtime;
use agent_bash::change_sets::{DiffText, FileDiff, Store};
use agent_bash::core::changes::{Change, Changes, ChangesId, FileChange};
use agent_bash::core::{Clock, ScriptEnding, Timestamp, plural};
use agent_bash::exec::{Job, JobState, Jobs};
use agent_bash::process::SystemClock;
use agent_bash::process::environment::Masks;
use agent_bash::sink::{SizeStyle, size_text};
use agent_bash_report::{Diff, JobLine, Page};
use anyhow::{Context, ensure};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The file for the page if the user names none.
const DEFAULT_FILE: &str = "report.html";

/// Maximum number of files of a call with diffs on the page.
const MAX_DIFFED_FILES: usize = 100;

/// Writes the page, or prints it if the output is `-`.
pub(crate) fn report(args: &ReportArgs, start: &StartContext) -> anyhow::Result<u8> {
    let Some(found) = find_record::session(start, &args.recorded)? else {
        output::say(&find_record::missing_text(&args.recorded));
        return Ok(NOT_FOUND_EXIT_CODE);
    };
    let now: Timestamp = SystemClock::new().wall();
    let mut page = Page::new(&found.name, found.recorded, now);
    page.process_starts = found.process_starts;
    page.background = later_events::background_changes(&found.sets);
    page.maybe_earlier = later_events::maybe_earlier(&found.sets);
    page.actions = later_events::actions(&found.sets);
    page.diffs = diffs(
        &find_record::state(start)?,
        &page,
        &later_events::masks(start),
    );
    if let Some(jobs) = session::jobs(start, &found.name) {
        let listed = jobs.list().unwrap_or_default();
        page.jobs = runtime::start_single_threaded()?.block_on(job_lines(&jobs, listed));
    }
    let html = page.html();
    let named = args.output.as_deref();
    if named == Some(Path::new("-")) {
        output::print(&html)?;
        return Ok(0);
    }
    let name = named.unwrap_or(Path::new(DEFAULT_FILE));
    let file = start.host.cwd.join(name);
    // A sandboxed call could have made the link, and the page contains text of its choice.
    ensure!(
        named.is_some() || !file.is_symlink(),
        "{DEFAULT_FILE} is a link; to write to its target, name it: `-o {DEFAULT_FILE}`"
    );
    let written = match named {
        Some(_) => write(&file, &html),
        None => replace(&file, &html),
    };
    written.with_context(|| format!("cannot write {}", file.display()))?;
    output::say(&format!(
        "{}: {} of {}",
        name.display(),
        plural(page.entries.len() as u64, "call"),
        found.name
    ));
    Ok(0)
}

/// Returns a line for each job, with the processes that are alive now. They may differ from the
/// processes that the call named.
async fn job_lines(jobs: &Jobs, listed: Vec<Job>) -> Vec<JobLine> {
    let mut lines = Vec::new();
    for job in listed {
        let alive = match job.state {
            JobState::Running => jobs.processes(&job.id).await.ok(),
            _ => Some(job.remaining.clone()),
        };
        let alive = alive.map(|alive| {
            alive
                .into_iter()
                .map(|process| (process.pid, process.command))
        });
        let mut line = job_line(job);
        line.alive = alive.map(Iterator::collect);
        lines.push(line);
    }
    lines
}

fn job_line(job: Job) -> JobLine {
    let mut line = JobLine::new(job.id.clone(), jobs::state(&job));
    line.is_running = job.state == JobState::Running;
    line.failed = match &job.state {
        JobState::Running => false,
        JobState::Ended(end) => end.ending != ScriptEnding::Exited { code: 0 },
        JobState::Lost { .. } => true,
    };
    line.output = job.output.map(|path| path.display().to_string());
    line
}

/// Writes the page to the file that the user names. Anything but a regular or missing file, such as
/// a pipe or a device, is written to.
fn write(path: &Path, html: &str) -> io::Result<()> {
    let file = resolve_links(path)?;
    let is_special = |path: &Path| path.metadata().is_ok_and(|found| !found.is_file());
    // Links such as `/dev/stdout` lead to open files below /proc.
    if file.starts_with("/proc") || is_special(&file) {
        let mut opened = File::options().append(true).open(&file)?;
        return opened.write_all(html.as_bytes());
    }
    replace(&file, html)
}

/// Replaces a file by the page in one step, without following a link. The new file is private,
/// because the page contains output.
fn replace(file: &Path, html: &str) -> io::Result<()> {
    let directory = file.parent().unwrap_or(Path::new("/"));
    // The text of these errors names the temporary file, which the user does not know.
    let without_path = |error: io::Error| io::Error::from(error.kind());
    let mut temporary = tempfile::NamedTempFile::new_in(directory).map_err(without_path)?;
    temporary.as_file_mut().write_all(html.as_bytes())?;
    temporary.persist(file).map_err(|error| error.error)?;
    Ok(())
}

/// Resolves the links in a path, which need not exist. Links in /proc are not followed: their text
/// need not be the path of the open file.
fn resolve_links(path: &Path) -> io::Result<PathBuf> {
    /// Linux's limit for links in a path.
    const MAX_LINKS: usize = 40;
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return Ok(path);
        };
        let parent = parent.canonicalize()?;
        let named = parent.join(name);
        match named.read_link() {
            Ok(target) if !parent.starts_with("/proc") => path = parent.join(target),
            _ => return Ok(named),
        }
    }
    Err(io::Error::other("too many links"))
}

/// Returns the diff with secrets masked.
fn masked(mut diff: Diff, masks: &Masks) -> Diff {
    let hide = |text: &mut String| *text = masks.hide(text).into_owned();
    hide(&mut diff.file.name.path);
    diff.file.from.iter_mut().for_each(hide);
    diff.text.iter_mut().for_each(hide);
    diff
}

/// Returns the diffs that are still stored.
fn diffs(state: &Path, page: &Page, masks: &Masks) -> BTreeMap<ChangesId, Vec<Diff>> {
    let Ok(store) = Store::open(state) else {
        return BTreeMap::new();
    };
    let of_calls = page
        .entries
        .iter()
        .filter_map(|entry| entry.result.changes.as_ref());
    let background = |set: &Changes| page.background.get(&set.id).into_iter().flatten();
    let sets = of_calls.flat_map(|set| std::iter::once(set).chain(background(set)));
    // The preimages of later change sets are read once for all diffs.
    let known = store.diffs(&page.session);
    sets.filter(|set| set.counts.total() <= MAX_DIFFED_FILES as u64)
        .filter_map(|set| {
            let diffs = known.of(set.id, &[]).ok()?;
            let masked = |file| masked(diff(file), masks);
            let diffs = diffs.into_iter().map(masked).collect();
            Some((set.id, with_renames(&set.files, diffs)))
        })
        .collect()
}

/// Restores renames from the record. After a partial undo, or if files are missing, the change set
/// no longer contains them.
fn with_renames(recorded: &[FileChange], mut diffs: Vec<Diff>) -> Vec<Diff> {
    for file in recorded {
        let Some(from) = &file.from else { continue };
        let position = |path: &str, change| {
            let matches = |diff: &Diff| diff.file.name.path == path && diff.file.change == change;
            diffs.iter().position(matches)
        };
        let deleted = position(from, Change::Deleted);
        let both = deleted.zip(position(&file.name.path, Change::Created));
        if let Some((deleted, created)) = both {
            let mut renamed = Diff::of(file.clone());
            // The rename was inferred from equal contents, so the diff is empty.
            renamed.text = Some(String::new());
            diffs[created] = renamed;
            diffs.remove(deleted);
        }
    }
    diffs
}

/// Returns the file's diff for the page, with notes on what the diff does not show.
fn diff(stored: FileDiff) -> Diff {
    let (text, note) = match stored.text {
        DiffText::Unified(text) => (Some(text), None),
        DiffText::Binary => (None, Some("not text".to_owned())),
        DiffText::TooLarge => (None, Some("too large to compare".to_owned())),
        // Directories, special files and changes of attributes have no contents to compare.
        DiffText::Nothing => (
            None,
            stored.file.kind.is_file().then(|| "no text".to_owned()),
        ),
        _ => (None, Some("its former content is not known".to_owned())),
    };
    let bytes = stored.file.bytes.filter(|_| text.is_none());
    let size = |bytes| size_text(bytes, SizeStyle::Spaced);
    let bytes = bytes.map(|[before, after]| format!("{} → {}", size(before), size(after)));
    let mode = stored
        .mode
        .map(|(before, after)| format!("mode {before:o} → {after:o}"));
    let since = stored
        .changed_since
        .then(|| "changed again since: compared with the file as it is now".to_owned());
    let no_commit = stored
        .blocks_commit
        .then(|| "changed since: can no longer be committed".to_owned());
    let notes: Vec<String> = [since, no_commit, note, bytes, mode]
        .into_iter()
        .flatten()
        .collect();
    let mut diff = Diff::of(stored.file);
    diff.text = text;
    diff.note = (!notes.is_empty()).then(|| notes.join(", "));
    diff
}

#[cfg(test)]
mod tests {
    use super::*;
    use agent_bash::core::changes::FileName;

    #[test]
    fn recorded_rename_joins_both_diffs() {
        let file = |path, change| FileChange::new(FileName::new(path), change);
        let renamed = file("new", Change::Renamed).renamed_from(FileName::new("old"));
        let kept = [
            file("else", Change::Changed),
            file("new", Change::Created),
            file("old", Change::Deleted),
        ];
        let diffs = with_renames(
            std::slice::from_ref(&renamed),
            kept.clone().map(Diff::of).to_vec(),
        );
        let files: Vec<FileChange> = diffs.into_iter().map(|diff| diff.file).collect();
        assert_eq!(files, [kept[0].clone(), renamed.clone()]);
        // With only one of the two diffs, no rename is restored.
        let half = with_renames(&[renamed], vec![Diff::of(kept[1].clone())]);
        assert_eq!(half, [Diff::of(kept[1].clone())]);
    }
}
