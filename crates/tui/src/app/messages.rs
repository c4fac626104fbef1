//! How long a message stays: until the next key, until it is no longer true, and no longer than can be read.

use super::App;
use std::time::Duration;

/// How long a message is shown.
const SHOWN: Duration = Duration::from_secs(8);

impl App {
    /// Notes since when a message is shown. Call it after everything that may have set one.
    pub(crate) fn note_message(&mut self, now: Duration) {
        let is_known = |(said, _): &(String, Duration)| Some(said) == self.message.as_ref();
        if !self.said.as_ref().is_some_and(is_known) {
            self.said = self.message.clone().map(|message| (message, now));
        }
    }

    /// When the message ends; a question stays until it is answered.
    pub(super) fn message_ends(&self) -> Option<Duration> {
        let (_, since) = self.said.as_ref().filter(|_| !self.is_leaving)?;
        Some(*since + SHOWN)
    }

    pub(super) fn end_message(&mut self, now: Duration) {
        if self.message_ends().is_some_and(|end| now >= end) {
            (self.message, self.said) = (None, None);
        }
    }
}

#[cfg(test)]
#[path = "messages_tests.rs"]
mod tests;
