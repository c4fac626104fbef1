//! [`Page`]: what is on the page, and its frame.

use crate::ansi::Palette;
use crate::call::call;
use crate::given::{Deed, Diff, JobLine};
use crate::head::{controls, summary};
use crate::policy::policy;
use crate::timeline::timeline;
use agent_bash_core::changes::{Changes, ChangesId};
use agent_bash_core::{Timestamp, visible};
use agent_bash_journal::{Entry, Recorded};
use agent_bash_render::words::date;
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
    /// Lines of the record that could not be read, also because a newer version has written them.
    pub damaged: u64,
    /// Whether the record was full before the session ended.
    pub full: bool,
    /// What changed in files, by the set of a call.
    pub diffs: BTreeMap<ChangesId, Vec<Diff>>,
    /// What calls left running has changed, by the set of the call.
    pub late: BTreeMap<ChangesId, Vec<Changes>>,
    /// What was done with changes, in the order of time, by their set.
    pub deeds: BTreeMap<ChangesId, Vec<Deed>>,
    /// When the first call of each process of the session began, if there are several.
    pub processes: Vec<Timestamp>,
    /// What has become of its jobs.
    pub jobs: Vec<JobLine>,
}

impl Page {
    /// A page of what was recorded of a session, and of nothing that came after.
    pub fn new(session: impl Into<String>, recorded: Recorded, made_at: Timestamp) -> Self {
        Self {
            session: session.into(),
            made_at,
            entries: recorded.entries,
            damaged: recorded.damaged + recorded.newer,
            full: recorded.full,
            diffs: BTreeMap::new(),
            late: BTreeMap::new(),
            deeds: BTreeMap::new(),
            processes: Vec::new(),
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
                    header { h1 { (title) } (summary(&self.entries, self.damaged, self.full)) (timeline(&self.entries)) }
                    (controls(self))
                    main { (calls) p id="nothing" hidden { "No call matches: " kbd { "Esc" } " in the search, or “All”, shows them again." } }
                    footer { "Made by agent-bash " (env!("CARGO_PKG_VERSION")) ", " (date(self.made_at)) ". Times are UTC." }
                    script { (PreEscaped(SCRIPT)) }
                }
            }
        };
        page.into_string()
    }

    /// Below a heading for each day.
    fn calls(&self, palette: &mut Palette) -> Markup {
        let day = |entry: &Entry| {
            let mut date = date(entry.result.started_at);
            date.truncate(10);
            date
        };
        let mut number = 0;
        html! {
            div id="calls" {
                @for of_day in self.entries.chunk_by(|one, next| day(one) == day(next)) {
                    section {
                        h2.day { (day(&of_day[0])) }
                        ol {
                            @for entry in of_day {
                                @if self.begins(entry) { li.began { "A new process of the session: shells, their variables and what ran in them are not those from before." } }
                                ({ number += 1; call(number, entry, self, palette) })
                            }
                        }
                    }
                }
            }
        }
    }

    /// Whether a process of the session that is not its first began with this call.
    fn begins(&self, entry: &Entry) -> bool {
        let later = self.processes.get(1..).unwrap_or_default();
        later.contains(&entry.result.started_at)
    }

    /// What a call left running has changed.
    pub(crate) fn late(&self, entry: &Entry) -> &[Changes] {
        let set = entry.result.changes.as_ref();
        let late = set.and_then(|set| self.late.get(&set.id));
        late.map_or(&[], Vec::as_slice)
    }

    /// What is known of the files of a set.
    pub(crate) fn diffs(&self, set: &Changes) -> &[Diff] {
        self.diffs.get(&set.id).map_or(&[], Vec::as_slice)
    }

    /// What was done with a set.
    pub(crate) fn deeds(&self, set: &Changes) -> &[Deed] {
        self.deeds.get(&set.id).map_or(&[], Vec::as_slice)
    }
}
