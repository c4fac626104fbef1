//! A call on the page: its row, and what it opens to.

use crate::ansi::Palette;
use crate::body;
use crate::changes::changes;
use crate::given::{Diff, JobLine};
use crate::kinds::{FILTERS, outside};
use agent_bash_core::{Caller, NoticeKind, Status, visible};
use agent_bash_journal::Entry;
use agent_bash_render::words::{self, clock, duration, effect, millis};
use maud::{Markup, html};

/// In the place of a command that is not there.
const NO_COMMAND: &str = "(no command: the request was invalid)";

/// The call with this number.
pub(crate) fn call(
    number: usize,
    entry: &Entry,
    diffs: &[Diff],
    jobs: &[JobLine],
    palette: &mut Palette,
) -> Markup {
    let result = &entry.result;
    let kinds: Vec<&str> = FILTERS
        .iter()
        .filter(|one| one.applies(entry))
        .map(|one| one.key)
        .collect();
    html! {
        li id={ "c" (number) } data-kinds=(kinds.join(" ")) {
            details {
                summary { (row(number, entry, jobs)) }
                div.body {
                    (body::command(entry))
                    p.facts { a href={ "#c" (number) } { "#c" (number) } @for fact in body::facts(entry) { span { (fact) } } }
                    (body::output(entry, palette))
                    (body::processes(entry, jobs))
                    (body::denials(entry))
                    @if let Some(set) = &result.changes { @if set.counts.total() > 0 || !set.outside.is_empty() {
                        (changes(set, diffs))
                    } }
                    (body::notices(entry))
                }
            }
        }
    }
}

fn row(number: usize, entry: &Entry, jobs: &[JobLine]) -> Markup {
    let result = &entry.result;
    let (class, icon, ended) = look(entry, jobs);
    let mut lines = entry.command.lines();
    let first = lines.find(|line| !line.trim().is_empty());
    let changed = result.changes.as_ref().map(effect).unwrap_or_default();
    html! {
        span.number { span.unseen { "Call " } (number) }
        time { (clock(result.started_at)) }
        span.icon.(class) aria-hidden="true" { (icon) }
        h3.line {
            @match first {
                Some(first) => code { @if entry.by == Caller::User { span.user title="by the user" { "! " } } (visible::one_line(first)) },
                None => span.note { (NO_COMMAND) },
            }
        }
        @if let Some(description) = &entry.description { span.about { (visible::one_line(description)) } }
        span.meta {
            span.delta {
                (changed)
                @if outside(entry) > 0 { span.warn title="tried to write outside of the directory that is looked at" { " ·" (outside(entry)) " outside" } }
            }
            span.took { @if result.duration_ms > 0.0 { (duration(millis(result.duration_ms))) } }
            span.outcome.(class) { (visible::one_line(&ended)) }
        }
    }
}

/// Class, icon and words for how it ended: with what the exit code does not show, and what has become of its job since.
fn look(entry: &Entry, jobs: &[JobLine]) -> (&'static str, &'static str, String) {
    let result = &entry.result;
    let look = words::outcome(&result.status);
    let is_failed_stage = |kind: &NoticeKind| matches!(kind, NoticeKind::FailedStage { .. });
    let mut notices = result.notices.iter();
    if !result.is_error && notices.any(|notice| is_failed_stage(&notice.kind)) {
        let text = format!("{}, {}", look.text, body::stages(result));
        return ("warn", look.icon, text);
    }
    if let Status::MovedToBackground { job, .. } = &result.status
        && let Some(job) = jobs.iter().find(|line| line.id == *job)
    {
        let class = if job.failed { "warn" } else { look.class };
        return (class, look.icon, format!("{}, {}", look.text, job.state));
    }
    (look.class, look.icon, look.text)
}
