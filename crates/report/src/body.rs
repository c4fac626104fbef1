//! The contents of a call's row, except its files.

use crate::ansi::{Palette, shortened_on_paper};
use crate::page_data::{JobLine, jobs_of_call};
use agent_bash_core::sandbox::SandboxLevel;
use agent_bash_core::{
    JobId, Notice, NoticeKind, SizeStyle, Status, ToolResult, plural, size_text, visible,
};
use agent_bash_journal::{Escalation, JournalEntry, RefusalEntry};
use maud::{Markup, html};

/// Returns the script, and why it was refused.
pub(crate) fn command(entry: &JournalEntry) -> Markup {
    html! {
        @if !entry.command.trim().is_empty() { pre.command { (script_markup(&entry.command, entry.objection.as_ref())) } }
        @if let Some(objection) = &entry.objection { (objection_markup(objection, &entry.result.status)) }
        @else if let Status::NotStarted { reason } | Status::Lost { reason, .. } = &entry.result.status {
            p.objection { (visible::shown(reason)) }
        }
    }
}

/// Returns the script, with the refused part highlighted.
fn script_markup(command: &str, objection: Option<&RefusalEntry>) -> Markup {
    let span = objection
        .and_then(|objection| objection.span)
        .unwrap_or_default();
    let part = |range: std::ops::Range<usize>| command.get(range);
    let parts = part(0..span[0])
        .zip(part(span[0]..span[1]))
        .zip(part(span[1]..command.len()));
    match parts {
        Some(((before, refused), after)) if !refused.is_empty() => html! {
            (visible::shown(before)) mark { (visible::shown(refused)) } (visible::shown(after))
        },
        _ => {
            let lines: Vec<&str> = command.split_inclusive('\n').collect();
            shortened_on_paper(&lines, |line| html! { (visible::shown(line)) })
        }
    }
}

/// Returns the reason of a refusal, the alternative, and the rule.
fn objection_markup(objection: &RefusalEntry, status: &Status) -> Markup {
    html! {
        p.objection {
            (visible::shown(&objection.message))
            @if let Some(instead) = &objection.instead { br; "Instead: " (visible::shown(instead)) }
            @if let Status::Blocked { rule, .. } = status { span.note { " rule " (visible::one_line(rule)) } }
        }
    }
}

/// Returns the exit codes of a pipeline: `stages 6 0`.
pub(crate) fn stages(result: &ToolResult) -> String {
    let codes = result.stages.iter().map(|stage| stage.code.to_string());
    format!("stages {}", codes.collect::<Vec<_>>().join(" "))
}

/// Returns facts about a call in a few words each: directory, sandbox, stages, size of the output.
pub(crate) fn facts(entry: &JournalEntry) -> Vec<String> {
    let result = &entry.result;
    let mut facts = vec![visible::one_line(&result.cwd).into_owned()];
    facts.extend(
        entry
            .session
            .as_ref()
            .map(|name| format!("persistent shell {}", visible::one_line(&name.0))),
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
        facts.push("was allowed to leave its sandbox".to_owned());
    }
    let escalation = entry.escalation.as_ref();
    facts.extend(escalation.map(|escalation| escalation_text(entry, escalation)));
    if !result.stages.is_empty() {
        facts.push(stages(result));
    }
    if result.output.total_bytes > 0 {
        let size = |bytes| size_text(bytes, SizeStyle::Spaced);
        let shown = if result.output.truncated {
            let shown = size(result.output.shown_bytes);
            format!(", the model saw {shown}")
        } else {
            String::new()
        };
        let lines = plural(result.output.total_lines, "line");
        facts.push(format!(
            "{lines}, {}{shown}",
            size(result.output.total_bytes)
        ));
    }
    for artifact in &result.artifacts {
        facts.push(format!(
            "whole output: {}",
            visible::one_line(&artifact.path)
        ));
    }
    facts
}

/// Returns `asked to leave the sandbox: "reason"; the answer was no: later`.
fn escalation_text(entry: &JournalEntry, escalation: &Escalation) -> String {
    let answer = match escalation.allowed {
        Some(true) => "the answer was yes",
        Some(false) => "the answer was no",
        None => "there was no answer",
    };
    let text = escalation.answer.as_deref().unwrap_or_default();
    let is_shown_above = match (&entry.objection, &entry.result.status) {
        (Some(objection), _) => objection.message.contains(text),
        (None, Status::NotStarted { reason }) => reason.contains(text),
        _ => false,
    };
    let suffix = if text.is_empty() || is_shown_above {
        String::new()
    } else {
        format!(": {}", visible::one_line(text))
    };
    let reason = visible::one_line(&escalation.reason);
    format!("asked to leave the sandbox: \u{201c}{reason}\u{201d}; {answer}{suffix}")
}

/// Returns the recorded output, or why it is not shown.
pub(crate) fn output(entry: &JournalEntry, palette: &mut Palette) -> Markup {
    let result = &entry.result;
    html! {
        @match &entry.printed {
            Some(_) if result.output.binary => {
                p.note { "Binary output, " (size_text(result.output.total_bytes, SizeStyle::Spaced)) ": not shown." }
            }
            Some(printed) if !printed.head.is_empty() => pre.output { (palette.output_markup(printed)) },
            _ => @if result.output.total_bytes > 0 { p.note { "The output was not recorded." } },
        }
    }
}

/// Returns the processes that outlived the call, and their jobs.
pub(crate) fn processes(entry: &JournalEntry, jobs: &[JobLine]) -> Markup {
    // Survivors of one call write to the same file. Its path is shown once: in the facts, if the
    // output was stored, else at the first survivor.
    let artifacts = entry.result.artifacts.iter();
    let mut shown_paths: Vec<&str> = artifacts.map(|artifact| &*artifact.path).collect();
    let mut unshown_output = |id: &JobId| {
        let output = job(jobs, id).and_then(|job| job.output.as_deref())?;
        let is_new = !shown_paths.contains(&output);
        shown_paths.push(output);
        is_new.then_some(output)
    };
    let call_jobs = jobs_of_call(entry, jobs);
    html! {
        @if !entry.result.survivors.is_empty() {
            section {
                h4 { "Still alive afterwards" @for job in &call_jobs { span.note { " · job " (visible::one_line(&job.id.0)) @if !job.is_running || job.alive.is_none() { " · now: " (visible::one_line(&job.state)) } @else { " · still runs" } } } }
                ul {
                    @for survivor in &entry.result.survivors { li {
                        "pid " (survivor.pid) " " code { (visible::one_line(&survivor.command)) }
                        @if let Some(id) = &survivor.job {
                            @match job(jobs, id) {
                                Some(job) => (process_state(job, survivor.pid)),
                                None => { " · job " (visible::one_line(&id.0)) },
                            }
                            @if let Some(output) = unshown_output(id) { " · its output: " code { (visible::one_line(output)) } }
                        }
                    } }
                    @for (pid, command) in started_since(entry, &call_jobs) { li { "pid " (pid) " " code { (visible::one_line(command)) } " · started since, runs" } }
                }
            }
        }
        @if let Status::MovedToBackground { job: id, output, .. } = &entry.result.status {
            section { h4 { "Background job " (visible::one_line(&id.0)) (job_state(jobs, id)) }
                p.note { "its output: " code { (visible::one_line(output)) } }
            }
        }
    }
}

/// Returns the present state of one of the job's processes.
fn process_state(job: &JobLine, pid: u32) -> &'static str {
    match &job.alive {
        None => "",
        Some(alive) if alive.iter().any(|(alive, _)| *alive == pid) => " · runs",
        Some(_) => " · has ended",
    }
}

/// Returns the processes of these jobs that started after the end of the call.
fn started_since<'a>(entry: &JournalEntry, jobs: &[&'a JobLine]) -> Vec<&'a (u32, String)> {
    let survivors = &entry.result.survivors;
    let is_new = |pid: u32| survivors.iter().all(|survivor| survivor.pid != pid);
    let alive = jobs.iter().filter_map(|job| job.alive.as_deref()).flatten();
    alive.filter(|(pid, _)| is_new(*pid)).collect()
}

/// Returns the job of this number, if it is known.
fn job<'a>(jobs: &'a [JobLine], id: &JobId) -> Option<&'a JobLine> {
    jobs.iter().find(|job| job.id == *id)
}

/// Returns the present state of a job; empty if the state is unknown.
fn job_state(jobs: &[JobLine], id: &JobId) -> Markup {
    html! { @if let Some(job) = job(jobs, id) { " · now: " (visible::one_line(&job.state)) } }
}

/// Returns the accesses that the sandbox denied to the call.
pub(crate) fn denials(entry: &JournalEntry) -> Markup {
    let Some(sandbox) = &entry.result.sandbox else {
        return html! {};
    };
    let refused = sandbox.network_refused.unwrap_or(0);
    html! {
        @if sandbox.has_denials() {
            section { h4 { "Denied by the sandbox" } ul {
                @for denied in &sandbox.denied {
                    li { (denied.access.word()) " " code { (visible::one_line(&denied.path)) } }
                }
                @for refused in &sandbox.refused_hosts {
                    li {
                        @if let Some(secret) = &refused.secret { "the value of " (visible::one_line(secret)) " for " }
                        @else { "connection to " }
                        code { (visible::one_line(&refused.host)) } ", " (plural(refused.count, "time"))
                    }
                }
                @if refused > 0 { li { "network, " (plural(refused, "time")) } }
            } }
        }
    }
}

/// Returns the notices whose facts no other section of the page shows.
pub(crate) fn notices(entry: &JournalEntry) -> Markup {
    let notices: Vec<&Notice> = entry
        .result
        .notices
        .iter()
        .filter(|notice| !is_in_a_section(&notice.kind, &entry.result))
        .collect();
    html! {
        @if !notices.is_empty() {
            section { h4 { "Notices" } ul { @for notice in notices { li { (visible::shown(&notice.text)) } } } }
        }
    }
}

/// True if another section of the page shows the facts of this notice. The section for changes
/// shows their present state, which may differ from the notice.
fn is_in_a_section(kind: &NoticeKind, result: &ToolResult) -> bool {
    let sandbox = result.sandbox.as_ref();
    match kind {
        NoticeKind::Survivors { .. } => !result.survivors.is_empty(),
        NoticeKind::SandboxDenied { path, .. } => {
            sandbox.is_some_and(|sandbox| sandbox.denied.iter().any(|denied| denied.path == *path))
        }
        NoticeKind::SandboxNetwork { .. } => {
            sandbox.is_some_and(|sandbox| sandbox.network_refused.is_some_and(|count| count > 0))
        }
        NoticeKind::SandboxHosts { .. } => {
            sandbox.is_some_and(|sandbox| !sandbox.refused_hosts.is_empty())
        }
        NoticeKind::Changes { .. } => result
            .changes
            .as_ref()
            .is_some_and(|set| set.conflicts.is_empty() && set.counts.total() > 0),
        _ => false,
    }
}
