//! [`Page`]: what is on the page, and its frame.

use crate::ansi::Palette;
use crate::call::{FILTERS, call};
use crate::given::{Diff, JobLine};
use crate::policy::policy;
use crate::timeline::timeline;
use agent_bash_core::changes::ChangesId;
use agent_bash_core::{Timestamp, visible};
use agent_bash_journal::{Entry, Recorded};
use agent_bash_render::words::{date, duration, millis};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use std::collections::BTreeMap;

/// Ours, without a character of the session's.
const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// A recorded session.
#[derive(Debug)]
#[non_exhaustive]
pub struct Page {
    /// Its name.
    pub session: String,
    /// When the page is made.
    pub made_at: Timestamp,
    /// Its calls.
    pub entries: Vec<Entry>,
    /// Lines of the record that could not be read.
    pub damaged: u64,
    /// Whether the record was full before the session ended.
    pub full: bool,
    /// What changed in files, by the set of a call.
    pub diffs: BTreeMap<ChangesId, Vec<Diff>>,
    /// What has become of its jobs.
    pub jobs: Vec<JobLine>,
}

impl Page {
    /// A page of what was recorded of a session, without diffs and jobs.
    pub fn new(session: impl Into<String>, recorded: Recorded, made_at: Timestamp) -> Self {
        Self {
            session: session.into(),
            made_at,
            entries: recorded.entries,
            damaged: recorded.damaged,
            full: recorded.full,
            diffs: BTreeMap::new(),
            jobs: Vec::new(),
        }
    }

    /// The page, as a file.
    pub fn html(&self) -> String {
        let mut palette = Palette::default();
        let calls = self.calls(&mut palette);
        let style = format!("{STYLE}{}", palette.rules());
        let title = format!("Session {}", visible::one_line(&self.session));
        let page = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta http-equiv="Content-Security-Policy" content=(policy(&style, SCRIPT));
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="referrer" content="no-referrer";
                    title { (title) " · agent-bash" }
                    style { (PreEscaped(&style)) }
                }
                body {
                    header { h1 { (title) } (self.summary()) (timeline(&self.entries)) (self.controls()) }
                    main { (calls) p id="nothing" hidden { "No call matches." } }
                    footer { "Made by agent-bash " (env!("CARGO_PKG_VERSION")) ", " (date(self.made_at)) ". Times are UTC." }
                    script { (PreEscaped(SCRIPT)) }
                }
            }
        };
        page.into_string()
    }

    fn summary(&self) -> Markup {
        let first = self
            .entries
            .iter()
            .map(|entry| entry.result.started_at)
            .min();
        let busy: f64 = self
            .entries
            .iter()
            .map(|entry| entry.result.duration_ms)
            .sum();
        html! {
            p.summary {
                @if let Some(first) = first { span { (date(first)) } }
                span { (self.entries.len()) @if self.entries.len() == 1 { " call" } @else { " calls" } }
                span { (duration(millis(busy))) " of running" }
            }
            @if self.full { p.warn { "The record was full: later calls are missing (settings: journal.max_mb)." } }
            @if self.damaged > 0 { p.warn { (self.damaged) " lines of the record could not be read." } }
        }
    }

    fn controls(&self) -> Markup {
        html! {
            nav hidden {
                button type="button" data-kind="" aria-pressed="true" { "All " span { (self.entries.len()) } }
                @for filter in &FILTERS {
                    @let count = self.entries.iter().filter(|entry| filter.applies(entry)).count();
                    @if count > 0 {
                        button type="button" data-kind=(filter.key) aria-pressed="false" { (filter.label) " " span { (count) } }
                    }
                }
                input type="search" id="search" placeholder="Search commands and outputs ( / )" aria-label="Search";
                button type="button" id="fold" { "Open all" }
            }
        }
    }

    fn calls(&self, palette: &mut Palette) -> Markup {
        html! {
            ol id="calls" {
                @for (index, entry) in self.entries.iter().enumerate() {
                    @let set = entry.result.changes.as_ref().map(|changes| changes.id);
                    @let diffs = set.and_then(|id| self.diffs.get(&id)).map_or(&[][..], Vec::as_slice);
                    (call(index + 1, entry, diffs, &self.jobs, palette))
                }
            }
        }
    }
}
