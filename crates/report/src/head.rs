//! The part above the calls: facts about the session, and the controls.

use crate::call::has_running_job;
use crate::kinds::FILTERS;
use crate::page_data::{Page, jobs_of_call};
use crate::timeline::{moment, span};
use agent_bash_core::changes::ChangesState;
use agent_bash_core::{plural, visible};
use agent_bash_journal::JournalEntry;
use agent_bash_render::call_summary::{clock, date, duration, from_millis};
use maud::{Markup, html};
use std::collections::BTreeSet;

/// Returns facts about the session, and the gaps of the journal: unreadable lines, and missing
/// calls after the journal was full.
pub(crate) fn summary(page: &Page) -> Markup {
    let (entries, damaged, full) = (&page.entries, page.damaged, page.full);
    html! {
        @if entries.is_empty() {
            p.summary { "No call of this session was recorded." }
        } @else {
            p.summary { @for fact in facts(entries) { span { (fact) } } }
        }
        (open_work(page))
        @if full { p.warn { "The record was full: later calls are missing (settings: journal.max_mb)." } }
        @if damaged > 0 {
            p.warn { (plural(damaged, "line")) " of the record could not be read." }
        }
    }
}

/// Returns running jobs and undecided trials, with links to their calls; empty without any.
fn open_work(page: &Page) -> Markup {
    let numbered = || (1..).zip(&page.entries);
    let running = numbered().filter(|(_, entry)| has_running_job(entry, &page.jobs));
    let running: Vec<usize> = running.map(|(number, _)| number).collect();
    let jobs = page.entries.iter();
    let jobs = jobs.flat_map(|entry| jobs_of_call(entry, &page.jobs));
    let jobs: BTreeSet<&str> = jobs
        .filter(|job| job.is_alive())
        .map(|job| &*job.id.0)
        .collect();
    let held = numbered().filter(|(_, entry)| {
        let set = entry.result.changes.as_ref();
        set.is_some_and(|set| set.state == ChangesState::Held && set.counts.total() > 0)
    });
    let held: Vec<usize> = held.map(|(number, _)| number).collect();
    html! {
        @if !running.is_empty() || !held.is_empty() {
            p.open {
                @if !running.is_empty() { span { (jobs.len()) @if jobs.len() == 1 { " job still runs: " } @else { " jobs still run: " } (links(&running)) } }
                @if !held.is_empty() { span { (held.len()) @if held.len() == 1 { " trial waits for a decision: " } @else { " trials wait for a decision: " } (links(&held)) } }
            }
        }
    }
}

/// The largest number of links to calls; the number of further calls is printed.
const MAX_NAMED_CALLS: usize = 12;

/// Returns links to the calls with these numbers.
fn links(numbers: &[usize]) -> Markup {
    html! {
        @for (index, number) in numbers.iter().take(MAX_NAMED_CALLS).enumerate() {
            @if index > 0 { ", " }
            a href={ "#c" (number) } { "#c" (number) }
        }
        @if numbers.len() > MAX_NAMED_CALLS { " and " (numbers.len() - MAX_NAMED_CALLS) " more" }
    }
}

/// Returns facts about the session: number of calls, times, directories, profiles.
fn facts(entries: &[JournalEntry]) -> Vec<String> {
    let mut facts = vec![plural(entries.len() as u64, "call")];
    let spans: Vec<[f64; 2]> = entries.iter().map(span).collect();
    let first = spans
        .iter()
        .map(|span| span[0])
        .fold(f64::INFINITY, f64::min);
    let last = spans.iter().map(|span| span[1]).fold(first, f64::max);
    let [begin, end] = [first, last].map(moment);
    let is_one_day = date(begin).get(..10) == date(end).get(..10);
    let until = if is_one_day { clock(end) } else { date(end) };
    facts.push(format!(
        "{} – {until} ({})",
        date(begin),
        duration(from_millis(last - first))
    ));
    // The sum is not wall-clock time, because calls may overlap.
    let total_ms: f64 = spans.iter().map(|[begin, end]| end - begin).sum();
    facts.push(format!(
        "durations add up to {}",
        duration(from_millis(total_ms))
    ));
    let directories: BTreeSet<&str> = entries
        .iter()
        .map(|entry| &*entry.result.cwd)
        .filter(|cwd| !cwd.is_empty())
        .collect();
    if let Some(entry) = entries.iter().find(|entry| !entry.result.cwd.is_empty()) {
        let more = match directories.len() {
            1 => String::new(),
            2 => " and 1 more directory".to_owned(),
            all => format!(" and {} more directories", all - 1),
        };
        facts.push(format!("{}{more}", visible::one_line(&entry.result.cwd)));
    }
    let profiles: BTreeSet<&str> = entries.iter().map(|entry| entry.profile.as_str()).collect();
    let profiles: Vec<&str> = profiles.into_iter().collect();
    facts.push(format!("profile {}", profiles.join(", ")));
    facts
}

/// Returns the filters with their numbers of calls, and the search.
pub(crate) fn controls(page: &Page) -> Markup {
    let entries = &page.entries;
    html! {
        nav hidden aria-label="Filters and search" {
            div.kinds role="group" aria-label="Show" {
                button type="button" data-kind="" aria-pressed="true" { "All " span { (entries.len()) } }
                @for filter in &FILTERS {
                    @let count = entries.iter().filter(|entry| filter.applies(entry, page.background_changes(entry))).count();
                    @if count > 0 {
                        button type="button" data-kind=(filter.key) data-label=(filter.label) aria-pressed="false" { (filter.label) " " span { (count) } }
                    }
                }
            }
            p id="count" role="status" {}
            div.find {
                input type="search" id="search" placeholder="Search ( / )" aria-label="Search commands and outputs" title="Words, or “a phrase”. / begins a search, Enter or n goes to the next call, Shift+Enter or N to the one before";
                button type="button" id="previous" aria-label="Previous call" title="Previous call (N)" { "↑" }
                button type="button" id="next" aria-label="Next call" title="Next call (n)" { "↓" }
                button type="button" id="fold" { "Open all" }
            }
        }
    }
}
