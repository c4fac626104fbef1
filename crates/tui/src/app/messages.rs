//! How long a message is shown: until the next key, until it is no longer true, and not longer than
//! it takes to read.

use super::App;
use std::time::Duration;

/// How long a message is shown.
const MESSAGE_DURATION: Duration = Duration::from_secs(8);

impl App {
    /// Stores the time at which a new message appeared. Must be called after every change that
    /// may set a message.
    pub(crate) fn note_message_time(&mut self, now: Duration) {
        let is_known = |(shown, _): &(String, Duration)| Some(shown) == self.message.as_ref();
        if !self.shown_message.as_ref().is_some_and(is_known) {
            self.shown_message = self.message.clone().map(|message| (message, now));
        }
    }

    /// The time at which the message ends. A question stays until it is answered.
    pub(super) fn message_deadline(&self) -> Option<Duration> {
        let (_, since) = self
            .shown_message
            .as_ref()
            .filter(|_| !self.asks_about_jobs)?;
        Some(*since + MESSAGE_DURATION)
    }

    pub(super) fn end_message(&mut self, now: Duration) {
        if self.message_deadline().is_some_and(|end| now >= end) {
            (self.message, self.shown_message) = (None, None);
            // A confirmation holds only while its message is shown.
            self.confirms_quit = false;
        }
    }

    /// Removes the message that names the command that quitting would end, because that command has
    /// ended.
    pub(super) fn withdraw_quit(&mut self) {
        if std::mem::take(&mut self.confirms_quit) {
            self.message = None;
        }
    }

    /// Updates the question about jobs when their number has changed.
    pub(super) fn update_quit_question(&mut self, before: usize) {
        if !self.asks_about_jobs || self.running_jobs == before {
            return;
        }
        self.asks_about_jobs = self.running_jobs > 0;
        self.message = Some(if self.asks_about_jobs {
            self.quit_question()
        } else {
            "no job runs any more: ctrl+d quits".to_owned()
        });
    }

    /// The question about the jobs. The keys come first, so that a narrow terminal shows them.
    pub(super) fn quit_question(&self) -> String {
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
