//! `agent-bash report`: a recorded session as a page.

use crate::args::ReportArgs;
use crate::commands::{jobs, recorded, session};
use crate::output;
use crate::start::Start;
use agent_bash::change_sets::{FileDiff, Store, Text};
use agent_bash::core::changes::ChangesId;
use agent_bash::core::{Clock, Ending, Timestamp};
use agent_bash::exec::{Job, JobState};
use agent_bash::process::SystemClock;
use agent_bash::sink::{SizeStyle, size_text};
use agent_bash_report::{Diff, JobLine, Page};
use anyhow::Context;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Nothing is recorded.
const NOT_THERE: u8 = 1;

/// Of one call, diffs of this many files are on the page.
const MOST_FILES: usize = 100;

/// Writes it.
pub(crate) fn report(args: &ReportArgs, start: &Start) -> anyhow::Result<u8> {
    let Some(found) = recorded::session(start, &args.recorded)? else {
        output::say(&recorded::none(&args.recorded));
        return Ok(NOT_THERE);
    };
    let now: Timestamp = SystemClock::new().wall();
    let mut page = Page::new(&found.name, found.recorded, now);
    page.diffs = diffs(&recorded::state(start)?, &page);
    page.jobs = session::jobs(start, &found.name)
        .and_then(|jobs| jobs.list().ok())
        .into_iter()
        .flatten()
        .map(job_line)
        .collect();
    let html = page.html();
    if args.output == Path::new("-") {
        output::print(&html)?;
        return Ok(0);
    }
    let file = start.host.cwd.join(&args.output);
    write(&file, &html).with_context(|| format!("cannot write {}", file.display()))?;
    output::say(&format!(
        "{}: {} calls of {}",
        args.output.display(),
        page.entries.len(),
        found.name
    ));
    Ok(0)
}

fn job_line(job: Job) -> JobLine {
    let mut line = JobLine::new(job.id.clone(), jobs::state(&job));
    line.failed = match &job.state {
        JobState::Running => false,
        JobState::Ended(end) => end.ending != Ending::Exited { code: 0 },
        JobState::Lost { .. } => true,
    };
    line.output = job.output.map(|path| path.display().to_string());
    line
}

/// Replaced in one step, and private: it has what commands printed.
fn write(file: &Path, html: &str) -> std::io::Result<()> {
    let directory = file
        .parent()
        .map_or_else(|| PathBuf::from("/"), Path::to_owned);
    let mut temporary = tempfile::NamedTempFile::new_in(directory)?;
    temporary.write_all(html.as_bytes())?;
    temporary.persist(file)?;
    Ok(())
}

/// Those that are still kept.
fn diffs(state: &Path, page: &Page) -> BTreeMap<ChangesId, Vec<Diff>> {
    let Ok(store) = Store::open(state) else {
        return BTreeMap::new();
    };
    let sets = page
        .entries
        .iter()
        .filter_map(|entry| entry.result.changes.as_ref());
    sets.filter(|set| set.counts.total() <= MOST_FILES as u64)
        .filter_map(|set| {
            let diffs = store.diff(&page.session, set.id, &[]).ok()?;
            Some((set.id, diffs.into_iter().map(diff).collect()))
        })
        .collect()
}

fn diff(of: FileDiff) -> Diff {
    let (text, note) = match of.text {
        Text::Unified(text) => (Some(text), None),
        Text::Binary => (None, Some("not text".to_owned())),
        Text::TooLarge => (None, Some("too large to compare".to_owned())),
        // A directory, or only attributes: there is nothing to compare.
        Text::Nothing => (None, Some("no text".to_owned())),
        _ => (None, Some("its former content is not known".to_owned())),
    };
    let bytes = of.file.bytes.filter(|_| text.is_none());
    let size = |bytes| size_text(bytes, SizeStyle::Spaced);
    let bytes = bytes.map(|[before, after]| format!("{} → {}", size(before), size(after)));
    let mode = of
        .mode
        .map(|(before, after)| format!("mode {before:o} → {after:o}"));
    let notes: Vec<String> = [note, bytes, mode].into_iter().flatten().collect();
    let mut diff = Diff::of(of.file);
    diff.text = text;
    diff.note = (!notes.is_empty()).then(|| notes.join(", "));
    diff
}
