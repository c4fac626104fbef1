//! The limits by which an adapter modifies the profile in force.

use agent_bash_core::{Profile, Streams, Truncation};
use std::time::Duration;

/// The limits of an adapter. `None` stands for the limit of the profile in force.
#[derive(Debug, Clone, Copy)]
pub struct AdapterLimits {
    /// Default time limit.
    pub timeout: Option<Duration>,
    /// Maximum time limit in the foreground. A lower limit of the user's settings applies as well.
    pub timeout_max: Option<Duration>,
    /// True if foreground commands get the time limit of background commands, because the caller
    /// gets an answer before the command ends.
    pub has_background_timeout: bool,
    /// Maximum time limit of commands that outlive their call.
    pub background_max: Option<Duration>,
    /// Merged or separate streams.
    pub streams: Streams,
    /// How output is truncated.
    pub truncation: Option<Truncation>,
}

impl AdapterLimits {
    /// Separate streams, and otherwise the limits of the profile in force.
    pub const NONE: Self = Self {
        timeout: None,
        timeout_max: None,
        has_background_timeout: false,
        background_max: None,
        streams: Streams::Split,
        truncation: None,
    };

    /// Returns a copy of `base` with these limits.
    pub fn profile(&self, base: &Profile) -> Profile {
        let mut profile = base.clone();
        // Normalisation turns a trailing `head` or `tail` into a limit on the whole output. Some
        // adapters return the output in parts, to which such a limit cannot apply.
        profile.normalise = false;
        profile.streams = self.streams;
        if let Some(truncation) = self.truncation {
            profile.output.truncation = truncation;
        }
        let times = &mut profile.timeouts;
        times.min = Duration::from_millis(1);
        if let Some(max) = self.timeout_max {
            times.max = times.max.min(max);
        }
        if self.has_background_timeout {
            times.max = times.background;
            times.default = times.background;
        }
        times.default = self.timeout.unwrap_or(times.default).min(times.max);
        times.slow = times.slow.min(times.max);
        if let Some(max) = self.background_max {
            times.background = times.background.min(max);
        }
        profile
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profiles::STANDARD;

    #[test]
    fn profile_keeps_a_lower_limit_of_the_user() {
        let limits = AdapterLimits {
            timeout: Some(Duration::from_secs(120)),
            timeout_max: Some(Duration::from_secs(600)),
            ..AdapterLimits::NONE
        };
        let times = limits.profile(&STANDARD).timeouts;
        let seconds = (times.default.as_secs(), times.max.as_secs());
        assert_eq!(seconds, (120, 600));
        let mut tight = STANDARD.clone();
        tight.timeouts.max = Duration::from_secs(60);
        let times = limits.profile(&tight).timeouts;
        let seconds = (times.default.as_secs(), times.max.as_secs());
        assert_eq!(seconds, (60, 60));
        assert_eq!(times.background, STANDARD.timeouts.background);
        let patient = AdapterLimits {
            has_background_timeout: true,
            ..AdapterLimits::NONE
        };
        let times = patient.profile(&tight).timeouts;
        assert_eq!(
            (times.default, times.max),
            (times.background, times.background)
        );
    }
}
