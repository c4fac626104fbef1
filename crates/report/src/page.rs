//! The page and its frame.

use crate::ansi::Palette;
use crate::call::call;
use crate::head::{controls, summary};
use crate::page_data::Page;
use crate::policy::policy;
use crate::timeline::timeline;
use agent_bash_core::visible;
use agent_bash_journal::JournalEntry;
use agent_bash_render::call_summary::date;
use maud::{DOCTYPE, Markup, PreEscaped, html};

/// The page's style and script. Neither contains text of the session.
const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

impl Page {
    /// Returns the page as the text of an HTML file.
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
                    header { h1 { (title) } (summary(self)) (timeline(&self.entries)) }
                    (controls(self))
                    main { (calls) p id="nothing" hidden { "No call matches: " kbd { "Esc" } " in the search, or “All”, shows them again." } }
                    footer { "Made by agent-bash " (env!("CARGO_PKG_VERSION")) ", " (date(self.made_at)) ". Times are UTC." }
                    script { (PreEscaped(SCRIPT)) }
                }
            }
        };
        page.into_string()
    }

    /// Returns the calls, below a heading for each day.
    fn calls(&self, palette: &mut Palette) -> Markup {
        let day = |entry: &JournalEntry| {
            let mut date = date(entry.result.started_at);
            date.truncate(10);
            date
        };
        let mut number = 0;
        html! {
            div id="calls" {
                @for day_entries in self.entries.chunk_by(|entry, next| day(entry) == day(next)) {
                    section {
                        h2.day { (day(&day_entries[0])) }
                        ol {
                            @for entry in day_entries {
                                @if self.starts_process(entry) { li.began { "A new process of the session, with new shells: former variables are gone." } }
                                ({ number += 1; call(number, entry, self, palette) })
                            }
                        }
                    }
                }
            }
        }
    }

    /// True if this is the first call of a process of the session, except the first process.
    fn starts_process(&self, entry: &JournalEntry) -> bool {
        let later_processes = self.process_starts.get(1..).unwrap_or_default();
        later_processes.contains(&entry.result.started_at)
    }
}
