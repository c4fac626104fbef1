//! The kinds of input that a program on a terminal can wait for.

use serde::{Deserialize, Serialize};
use std::fmt;

/// How a program on a terminal waits for user input. A program that sleeps, computes, or polls in
/// canonical mode (`tail -f`) does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum WaitingFor {
    /// A line: canonical mode with echo, and a process is blocked in `read`.
    Line,
    /// A secret: canonical mode without echo. Input now goes to the program and nowhere else.
    Secret,
    /// Single keys: non-canonical mode (readline, menus).
    Raw,
    /// Single keys, on the alternate screen (editors, pagers).
    FullScreen,
}

impl WaitingFor {
    /// All kinds of waiting.
    pub const ALL: [Self; 4] = [Self::Line, Self::Secret, Self::Raw, Self::FullScreen];

    /// The name in the notice `waiting_for_input`: `line`, `secret`, `raw`, `full_screen`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Line => "line",
            Self::Secret => "secret",
            Self::Raw => "raw",
            Self::FullScreen => "full_screen",
        }
    }
}

impl fmt::Display for WaitingFor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_equal_the_states_in_the_notice() {
        let names = WaitingFor::ALL.map(|waiting| waiting.to_string());
        assert_eq!(names, ["line", "secret", "raw", "full_screen"]);
    }
}
