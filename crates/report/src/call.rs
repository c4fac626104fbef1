//! A call on the page.

use crate::ansi::Palette;
use crate::changes::changes;
use crate::given::{Diff, JobLine};
use agent_bash_core::sandbox::SandboxLevel;
use agent_bash_core::{Caller, SizeStyle, Status, size_text, visible};
use agent_bash_journal::{Entry, Objection};
use agent_bash_render::words::{clock, duration, effect, millis, outcome};
use maud::{Markup, html};

/// A kind of calls that can be looked at alone.
pub(crate) struct Filter {
    /// In the page's markup.
    pub(crate) key: &'static str,
    /// For people.
    pub(crate) label: &'static str,
    applies: fn(&Entry) -> bool,
}

/// Those of the page, in their order.
pub(crate) const FILTERS: [Filter; 7] = [
    Filter {
        key: "failed",
        label: "Failed",
        applies: |entry| entry.result.is_error && !is_refused(entry),
    },
    Filter {
        key: "refused",
        label: "Refused",
        applies: is_refused,
    },
    Filter {
        key: "slow",
        label: "Over 10 s",
        applies: |entry| entry.result.duration_ms > 10_000.0,
    },
    Filter {
        key: "files",
        label: "Changed files",
        applies: |entry| {
            entry
                .result
                .changes
                .as_ref()
                .is_some_and(|changes| changes.counts.total() > 0)
        },
    },
    Filter {
        key: "jobs",
        label: "Jobs and survivors",
        applies: |entry| {
            !entry.result.survivors.is_empty()
                || matches!(entry.result.status, Status::MovedToBackground { .. })
        },
    },
    Filter {
        key: "denied",
        label: "Denied by the sandbox",
        applies: |entry| {
            entry.result.sandbox.as_ref().is_some_and(|sandbox| {
                !sandbox.denied.is_empty() || sandbox.network_refused.is_some_and(|count| count > 0)
            })
        },
    },
    Filter {
        key: "user",
        label: "By the user",
        applies: |entry| entry.by == Caller::User,
    },
];

fn is_refused(entry: &Entry) -> bool {
    matches!(
        entry.result.status,
        Status::Blocked { .. } | Status::NotStarted { .. }
    )
}

impl Filter {
    /// Whether a call is one of these.
    pub(crate) fn applies(&self, entry: &Entry) -> bool {
        (self.applies)(entry)
    }
}

/// The call with this number.
pub(crate) fn call(
    number: usize,
    entry: &Entry,
    diffs: &[Diff],
    jobs: &[JobLine],
    palette: &mut Palette,
) -> Markup {
    let result = &entry.result;
    let look = outcome(&result.status);
    let kinds: Vec<&str> = FILTERS
        .iter()
        .filter(|one| one.applies(entry))
        .map(|one| one.key)
        .collect();
    let first = entry
        .command
        .lines()
        .find(|line| !line.trim().is_empty())
        .unwrap_or_default();
    let changed = result.changes.as_ref().map(effect).unwrap_or_default();
    html! {
        li id={ "c" (number) } data-kinds=(kinds.join(" ")) {
            details {
                summary {
                    a.number href={ "#c" (number) } { (number) }
                    time { (clock(result.started_at)) }
                    span.icon.(look.class) { (look.icon) }
                    code.line { @if entry.by == Caller::User { span.user { "! " } } (visible::one_line(first)) }
                    span.delta { (changed) }
                    span.took { @if !is_refused(entry) { (duration(millis(result.duration_ms))) } }
                    span.outcome.(look.class) { (visible::one_line(&look.text)) }
                }
                div.body {
                    @if let Some(description) = &entry.description { p.description { (visible::shown(description)) } }
                    pre.command { (marked(&entry.command, entry.objection.as_ref())) }
                    @if let Some(objection) = &entry.objection { (objected(objection, &result.status)) }
                    @else if let Status::NotStarted { reason } | Status::Lost { reason, .. } = &result.status {
                        p.objection { (visible::shown(reason)) }
                    }
                    p.facts { @for fact in facts(entry) { span { (fact) } } }
                    (output(entry, palette))
                    (processes(entry, jobs))
                    (denials(entry))
                    @if let Some(set) = &result.changes { @if set.counts.total() > 0 || !set.outside.is_empty() {
                        (changes(set, diffs))
                    } }
                    @if !result.notices.is_empty() {
                        section { h3 { "Notices" } ul { @for notice in &result.notices { li { (visible::shown(&notice.text)) } } } }
                    }
                }
            }
        }
    }
}

/// The script, with the part that was objected to marked.
fn marked(command: &str, objection: Option<&Objection>) -> Markup {
    let span = objection
        .and_then(|objection| objection.span)
        .unwrap_or_default();
    let part = |range: std::ops::Range<usize>| command.get(range);
    let cut = part(0..span[0])
        .zip(part(span[0]..span[1]))
        .zip(part(span[1]..command.len()));
    match cut {
        Some(((before, meant), after)) if !meant.is_empty() => html! {
            (visible::shown(before)) mark { (visible::shown(meant)) } (visible::shown(after))
        },
        _ => html! { (visible::shown(command)) },
    }
}

fn objected(objection: &Objection, status: &Status) -> Markup {
    html! {
        p.objection {
            (visible::shown(&objection.message))
            @if let Some(instead) = &objection.instead { br; "Instead: " (visible::shown(instead)) }
            @if let Status::Blocked { rule, .. } = status { span.note { " rule " (visible::one_line(rule)) } }
        }
    }
}

fn facts(entry: &Entry) -> Vec<String> {
    let result = &entry.result;
    let mut facts = vec![visible::one_line(&result.cwd).into_owned()];
    facts.extend(
        entry
            .session
            .as_ref()
            .map(|name| format!("shell {}", visible::one_line(&name.0))),
    );
    if let Some(sandbox) = &result.sandbox
        && sandbox.level != SandboxLevel::Off
    {
        facts.push(format!("sandbox {}", sandbox.level));
    }
    if result
        .sandbox
        .as_ref()
        .is_some_and(|sandbox| sandbox.escalated)
    {
        facts.push("let out of the sandbox".to_owned());
    }
    if !result.stages.is_empty() {
        let codes: Vec<String> = result
            .stages
            .iter()
            .map(|stage| stage.code.to_string())
            .collect();
        facts.push(format!("stages {}", codes.join(" ")));
    }
    if result.output.total_bytes > 0 {
        let size = |bytes| size_text(bytes, SizeStyle::Spaced);
        let shown = if result.output.truncated {
            let seen = size(result.output.shown_bytes);
            format!(", of which the model saw {seen}")
        } else {
            String::new()
        };
        let lines = match result.output.total_lines {
            1 => "1 line".to_owned(),
            lines => format!("{lines} lines"),
        };
        facts.push(format!(
            "{lines}, {}{shown}",
            size(result.output.total_bytes)
        ));
    }
    for artifact in &result.artifacts {
        facts.push(format!("all of it: {}", visible::one_line(&artifact.path)));
    }
    facts
}

fn output(entry: &Entry, palette: &mut Palette) -> Markup {
    let result = &entry.result;
    html! {
        @match &entry.printed {
            Some(_) if result.output.binary => {
                p.note { "Binary output, " (size_text(result.output.total_bytes, SizeStyle::Spaced)) ": not shown." }
            }
            Some(printed) if !printed.head.is_empty() => pre.output { (palette.printed(printed)) },
            _ => @if result.output.total_bytes > 0 { p.note { "The output was not recorded." } },
        }
    }
}

fn processes(entry: &Entry, jobs: &[JobLine]) -> Markup {
    let started = match &entry.result.status {
        Status::MovedToBackground { job, .. } => Some(job),
        _ => None,
    };
    let now = |id| {
        jobs.iter()
            .find(|job| Some(&job.id) == id)
            .map(|job| job.state.as_str())
    };
    html! {
        @if !entry.result.survivors.is_empty() {
            section { h3 { "Still alive afterwards" } ul {
                @for survivor in &entry.result.survivors { li {
                    "pid " (survivor.pid) " " code { (visible::one_line(&survivor.command)) }
                    @if let Some(job) = &survivor.job { " · job " (visible::one_line(&job.0)) @if let Some(state) = now(Some(job)) { " · " (visible::one_line(state)) } }
                } }
            } }
        }
        @if let Some(job) = started {
            p.note { "Background job " (visible::one_line(&job.0)) @if let Some(state) = now(Some(job)) { " · " (visible::one_line(state)) } }
        }
    }
}

fn denials(entry: &Entry) -> Markup {
    let Some(sandbox) = &entry.result.sandbox else {
        return html! {};
    };
    let refused = sandbox.network_refused.unwrap_or(0);
    html! {
        @if !sandbox.denied.is_empty() || refused > 0 {
            section { h3 { "Denied by the sandbox" } ul {
                @for denied in &sandbox.denied {
                    li { (denied.access.word()) " " code { (visible::one_line(&denied.path)) } }
                }
                @if refused > 0 { li { "network, " (refused) @if refused == 1 { " time" } @else { " times" } } }
            } }
        }
    }
}
