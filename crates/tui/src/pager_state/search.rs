//! Searches of the pager for a pattern.

use super::{PagerRequest, PagerState, RunningSearch, SEARCH_NOTICE_DELAY};
use crate::pager_source::{MatchingLine, PatternSearch, SearchTicket, find_in};
use crate::pattern_input::{not_found_text, parse_pattern};
use agent_bash_render::OutputText;
use std::time::Duration;

impl PagerState {
    /// Searches the output that a card holds.
    pub(crate) fn find_in(&mut self, output: &OutputText, search: &PatternSearch) {
        let pattern = self.pattern.as_ref();
        let found = pattern.and_then(|pattern| find_in(output, pattern, search));
        self.search_ended(&search.ticket, Ok(found));
    }

    /// Handles the result of a search. Returns the next search, if the user asked for more matches
    /// meanwhile. Ignores the result of an abandoned search.
    pub(crate) fn search_ended(
        &mut self,
        ticket: &SearchTicket,
        found: Result<Option<MatchingLine>, String>,
    ) -> PagerRequest {
        let is_waited_for = |search: &mut RunningSearch| search.ticket == *ticket;
        let Some(searching) = self.searching.take_if(is_waited_for) else {
            return PagerRequest::Nothing;
        };
        let further = searching.pending_moves;
        match found {
            Ok(Some(found)) => {
                if found.line > self.scroll.total {
                    // The match was written after the last read.
                    (self.scroll.total, self.requested) = (found.line, None);
                }
                self.found = Some(found);
                self.follows = false;
                let forward = searching.forward;
                self.scroll
                    .show_match(found.line, found.has_wrapped, forward);
                if further != 0 {
                    return self.find(further > 0, further.unsigned_abs());
                }
            }
            Ok(None) => {
                self.scroll.message = Some(not_found_text(self.pattern.as_ref()));
            }
            Err(error) => (self.found, self.scroll.message) = (None, Some(error)),
        }
        PagerRequest::Nothing
    }

    pub(super) fn abandon_search(&mut self) {
        if let Some(searching) = self.searching.take() {
            searching.ticket.abandon();
        }
    }

    /// Starts a search for an entered pattern. An empty pattern repeats the last one.
    pub(super) fn start_search(&mut self, typed: &str) -> PagerRequest {
        if !typed.is_empty() {
            match parse_pattern(typed) {
                // The same pattern again moves to the next match.
                Ok(same)
                    if self
                        .pattern
                        .as_ref()
                        .is_some_and(|pattern| pattern.as_str() == same.as_str()) => {}
                Ok(pattern) => {
                    self.abandon_search();
                    let found = self.found.map(|found| found.line);
                    self.scroll.begin_pattern(found);
                    (self.pattern, self.found) = (Some(pattern), None);
                }
                Err(error) => {
                    (self.found, self.scroll.message) = (None, Some(error));
                    return PagerRequest::Nothing;
                }
            }
        }
        self.find(!self.scroll.typing.is_backward, 1)
    }

    /// Requests the `times`-th next or previous match.
    pub(super) fn find(&mut self, forward: bool, times: u64) -> PagerRequest {
        let Some(pattern) = &self.pattern else {
            return PagerRequest::Nothing;
        };
        if let Some(searching) = &mut self.searching {
            // The origin of the next search is unknown until the current one ends.
            let times = i64::try_from(times).unwrap_or(i64::MAX);
            let times = if forward { times } else { -times };
            searching.pending_moves = searching.pending_moves.saturating_add(times);
            return PagerRequest::Nothing;
        }
        let ticket = SearchTicket::default();
        self.searching = Some(RunningSearch {
            ticket: ticket.clone(),
            forward,
            ..RunningSearch::default()
        });
        let found = self.found.map(|found| found.line);
        let from = self.scroll.origin(found, forward);
        PagerRequest::Find(PatternSearch {
            pattern: pattern.as_str().to_owned(),
            from,
            forward,
            times,
            ticket,
        })
    }

    /// True if a search takes so long that the pager shows it.
    pub(super) fn is_slow(&mut self, now: Duration) -> bool {
        let Some(searching) = &mut self.searching else {
            return false;
        };
        let since = *searching.since.get_or_insert(now);
        searching.is_shown = now.saturating_sub(since) >= SEARCH_NOTICE_DELAY;
        searching.is_shown
    }
}
