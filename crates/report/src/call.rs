//! A call on the page: its row and its contents.

use crate::ansi::Palette;
use crate::body;
use crate::changes::{KnownChanges, background_changes, changes};
use crate::kinds::{FILTERS, outside_files};
use crate::page_data::{JobLine, Page, jobs_of_call};
use agent_bash_core::changes::Changes;
use agent_bash_core::{NoticeKind, Status, visible};
use agent_bash_journal::JournalEntry;
use agent_bash_render::call_summary::{
    self, OUTSIDE_SANDBOX, STILL_RUNS, clock, duration, effect, from_millis,
};
use maud::{Markup, html};

/// The text for a call without a command.
const NO_COMMAND: &str = "(no command: the request was invalid)";

/// Returns the row and the contents of a call.
pub(crate) fn call(
    number: usize,
    entry: &JournalEntry,
    page: &Page,
    palette: &mut Palette,
) -> Markup {
    let (result, jobs) = (&entry.result, &page.jobs);
    let background = page.background_changes(entry);
    let is_running = has_running_job(entry, jobs);
    let known = |set| KnownChanges {
        diffs: page.diffs(set),
        actions: page.actions(set),
        is_running,
        call_start: result.started_at,
    };
    let kinds: Vec<&str> = FILTERS
        .iter()
        .filter(|filter| filter.applies(entry, background))
        .map(|filter| filter.key)
        .collect();
    html! {
        li id={ "c" (number) } data-kinds=(kinds.join(" ")) {
            details {
                summary { (row(number, entry, page)) }
                div.body {
                    (body::command(entry))
                    p.facts { a href={ "#c" (number) } { "#c" (number) } @for fact in body::facts(entry) { span { (fact) } } }
                    (body::output(entry, palette))
                    (body::processes(entry, jobs))
                    (body::denials(entry))
                    @if let Some(set) = &result.changes { @if set.counts.total() > 0 || !set.outside.is_empty() {
                        (changes(set, known(set)))
                    } }
                    (folded_sections(background, |set| background_changes(set, known(set), page.maybe_earlier.contains(&set.id))))
                    (body::notices(entry))
                }
            }
        }
    }
}

/// Returns the row of a call, which is visible while the call is folded.
fn row(number: usize, entry: &JournalEntry, page: &Page) -> Markup {
    let jobs = &page.jobs;
    let result = &entry.result;
    let (class, icon, ended) = row_outcome(entry, jobs);
    let mut lines = entry.command.lines();
    let first = lines.find(|line| !line.trim().is_empty());
    let changed = result.changes.as_ref().map(effect).unwrap_or_default();
    let background = page.background_changes(entry).iter();
    let background_summary = call_summary::background_summary(
        background.map(|set| (set, page.maybe_earlier.contains(&set.id))),
    );
    html! {
        span.number { span.unseen { "Call " } (number) }
        time { (clock(result.started_at)) }
        span.icon.(class) aria-hidden="true" { (icon) }
        h3.line {
            @match first {
                Some(first) => code { @if !entry.bang().is_empty() { span.user title=(by_user(entry)) { (entry.bang()) " " } } (visible::one_line(first)) },
                None => span.note { (NO_COMMAND) },
            }
        }
        @if let Some(description) = &entry.description { span.about { (visible::one_line(description)) } }
        span.meta {
            span.marks {
                @for (index, (mark, needs_attention)) in marks(entry, jobs).iter().enumerate() {
                    @if index > 0 { " " }
                    @if *needs_attention { span.warn { (mark) } } @else { span { (mark) } }
                }
            }
            span.delta {
                (changed)
                @for (index, text) in background_summary.iter().enumerate() {
                    @if index > 0 || !changed.is_empty() { ", " }
                    span title="changed by background processes" { (text) }
                }
                @if outside_files(entry) > 0 {
                    @if !changed.is_empty() || !background_summary.is_empty() { ", " }
                    span.warn title="files outside of the recorded directory" { (outside_files(entry)) " outside" }
                }
            }
            span.took { @if result.duration_ms > 0.0 { (duration(from_millis(result.duration_ms))) } }
            span.outcome.(class) { (visible::one_line(&ended)) }
        }
    }
}

/// Returns the explanation of the marks `!` and `!!`.
fn by_user(entry: &JournalEntry) -> &'static str {
    if entry.excluded_from_context {
        "by the user; no model saw it"
    } else {
        "by the user"
    }
}

/// Returns the sections of successive change sets. A long-running background process has a change
/// set for each later call; only the first sections are open.
fn folded_sections<'a>(sets: &'a [Changes], section: impl Fn(&'a Changes) -> Markup) -> Markup {
    let (first, more) = sets.split_at(sets.len().min(SHOWN_SETS));
    html! {
        @for set in first { (section(set)) }
        @if !more.is_empty() {
            details.diff.more {
                summary { "and " (more.len()) @if more.len() == 1 { " more time" } @else { " more times" } ", by its background processes" }
                @for set in more { (section(set)) }
            }
        }
    }
}

/// The number of sections of background processes that are open; further sections are folded.
const SHOWN_SETS: usize = 2;

/// Returns the marks of a row, each with true if it needs attention. The mark for background
/// processes shows if they still run, when that is known.
fn marks(entry: &JournalEntry, jobs: &[JobLine]) -> Vec<(String, bool)> {
    let call_jobs = jobs_of_call(entry, jobs);
    let has_running_job = call_jobs.iter().any(|job| job.is_alive());
    let marks = call_summary::marks(
        &entry.result,
        (!call_jobs.is_empty()).then_some(has_running_job),
    );
    let needs_attention = |mark: &str| [OUTSIDE_SANDBOX, STILL_RUNS].contains(&mark);
    marks
        .into_iter()
        .map(|mark| {
            let needs_attention = needs_attention(&mark);
            (mark, needs_attention)
        })
        .collect()
}

/// True if a background process of the call, or its job, still runs.
pub(crate) fn has_running_job(entry: &JournalEntry, jobs: &[JobLine]) -> bool {
    jobs_of_call(entry, jobs).iter().any(|job| job.is_alive())
}

/// Returns class, icon and text of the outcome. The text includes failures that the exit code
/// hides, and the present state of the job that the call became.
fn row_outcome(entry: &JournalEntry, jobs: &[JobLine]) -> (&'static str, &'static str, String) {
    let result = &entry.result;
    let outcome = call_summary::outcome(&result.status);
    let is_failed_stage = |kind: &NoticeKind| matches!(kind, NoticeKind::FailedStage { .. });
    let mut notices = result.notices.iter();
    if !result.is_error && notices.any(|notice| is_failed_stage(&notice.kind)) {
        let text = format!("{}, {}", outcome.text, body::stages(result));
        return ("warn", outcome.icon, text);
    }
    if let Status::MovedToBackground { job, .. } = &result.status
        && let Some(job) = jobs.iter().find(|line| line.id == *job)
    {
        let class = if job.failed { "warn" } else { outcome.class };
        return (
            class,
            outcome.icon,
            format!("{}, {}", outcome.text, job.state),
        );
    }
    (outcome.class, outcome.icon, outcome.text)
}
