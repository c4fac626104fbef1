//! How long a message stays: until the next key, until it is no longer true, and no longer than can be read.

use super::App;
use std::time::Duration;

/// How long a message is shown.
const SHOWN: Duration = Duration::from_secs(8);

impl App {
    /// Notes since when a message is shown. Call it after everything that may have set one.
    pub(crate) fn note_message(&mut self, now: Duration) {
        let is_known = |(shown, _): &(String, Duration)| Some(shown) == self.message.as_ref();
        if !self.shown_message.as_ref().is_some_and(is_known) {
            self.shown_message = self.message.clone().map(|message| (message, now));
        }
    }

    /// When the message ends; a question stays until it is answered.
    pub(super) fn message_ends(&self) -> Option<Duration> {
        let (_, since) = self.shown_message.as_ref().filter(|_| !self.is_leaving)?;
        Some(*since + SHOWN)
    }

    pub(super) fn end_message(&mut self, now: Duration) {
        if self.message_ends().is_some_and(|end| now >= end) {
            (self.message, self.shown_message) = (None, None);
            // What is no longer said is no longer agreed to.
            self.is_quitting = false;
        }
    }

    /// The command that quitting would end has ended: what was said of that is no longer true.
    pub(super) fn end_quitting(&mut self) {
        if std::mem::take(&mut self.is_quitting) {
            self.message = None;
        }
    }

    /// Other jobs run than before: if the person is asked what becomes of them, that is said anew.
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

    /// Asks what is to become of the jobs. The keys first: they are there on a narrow terminal, too.
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
