//! How long a message is shown: until the next key, until it is no longer true, and not longer than
//! it takes to read.

use super::App;
use std::time::Duration;

/// How long a message is shown.
const MESSAGE_DURATION: Duration = Duration::from_secs(8);

impl App {
    /// Notes the time since which a message is shown. Must be called after everything that may have
    /// set one.
    pub(crate) fn note_message(&mut self, now: Duration) {
        let is_known = |(shown, _): &(String, Duration)| Some(shown) == self.message.as_ref();
        if !self.shown_message.as_ref().is_some_and(is_known) {
            self.shown_message = self.message.clone().map(|message| (message, now));
        }
    }

    /// The time at which the message ends. A question stays until it is answered.
    pub(super) fn message_ends(&self) -> Option<Duration> {
        let (_, since) = self.shown_message.as_ref().filter(|_| !self.is_leaving)?;
        Some(*since + MESSAGE_DURATION)
    }

    pub(super) fn end_message(&mut self, now: Duration) {
        if self.message_ends().is_some_and(|end| now >= end) {
            (self.message, self.shown_message) = (None, None);
            // A confirmation holds only while its message is shown.
            self.is_quitting = false;
        }
    }

    /// Removes the message about what quitting would end, because that command has ended.
    pub(super) fn end_quitting(&mut self) {
        if std::mem::take(&mut self.is_quitting) {
            self.message = None;
        }
    }

    /// Updates the question about jobs when their number has changed.
    pub(super) fn jobs_changed(&mut self, before: usize) {
        if !self.is_leaving || self.running_jobs == before {
            return;
        }
        self.is_leaving = self.running_jobs > 0;
        self.message = Some(if self.is_leaving {
            self.leaving()
        } else {
            "no job runs any more: ctrl+d quits".to_owned()
        });
    }

    /// The question what happens to the jobs. The keys come first, so that a narrow terminal shows
    /// them.
    pub(super) fn leaving(&self) -> String {
        let (jobs, running) = match self.running_jobs {
            1 => ("the job", "1 job is running".to_owned()),
            jobs => ("the jobs", format!("{jobs} jobs are running")),
        };
        format!("to quit: e end {jobs}, k keep · esc stay · {running}")
    }
}

#[cfg(test)]
#[path = "messages_tests.rs"]
mod tests;
