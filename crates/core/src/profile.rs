//! Profiles: plain values that configure every stage of the pipeline, so that it behaves like one
//! kind of tool.
//!
//! The four built-in profiles are in `agent_bash_tools::profiles`. No code compares profiles; each
//! stage reads the field that it needs.

use crate::Streams;
use crate::request::ShownPart;
use serde::{Deserialize, Serialize};
use std::num::NonZeroU64;
use std::time::Duration;

/// The configuration of the pipeline.
#[derive(Debug, Clone, PartialEq)]
pub struct Profile {
    /// The profile's name. It also names the tool of `agent_bash_tools::profiles`, which writes the
    /// result's text.
    pub name: ProfileName,
    /// Trim the command and turn trailing `head`/`tail` filters into limits.
    pub normalise: bool,
    /// Time limits.
    pub timeouts: Timeouts,
    /// Time between SIGTERM and SIGKILL.
    pub grace: Duration,
    /// Merged or separate streams.
    pub streams: Streams,
    /// How much of the output is shown.
    pub output: OutputLimits,
    /// The shell that runs the script.
    pub shell: ShellChoice,
    /// True if calls may use a terminal.
    pub pty: bool,
    /// The policy for processes that outlive their call.
    pub survivors: SurvivorPolicy,
    /// True if the output file of a background job ends with a line that says how the job ended.
    pub completion_status: bool,
    /// The request fields that the tool's schema shows; the others are accepted, too.
    pub schema_fields: &'static [&'static str],
}

/// The profiles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ProfileName {
    /// The last 50 KB of one stream, and a link to the full output.
    #[default]
    Standard,
    /// Time limits depend on the call's `mode`; both ends beyond 128 KB.
    Modes,
    /// Stdout and stderr separately; both ends, and a file to page through.
    Paged,
    /// Texts for the root of a workspace; the first 100 KB, exit code at the end.
    Workspace,
}

impl ProfileName {
    /// The name used in settings and on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Standard => "standard",
            Self::Modes => "modes",
            Self::Paged => "paged",
            Self::Workspace => "workspace",
        }
    }
}

/// Time limits of a profile.
#[derive(Debug, Clone, PartialEq)]
pub struct Timeouts {
    /// The limit of a call that names no limit.
    pub default: Duration,
    /// The limit for `mode: slow`.
    pub slow: Duration,
    /// The limit for `mode: background`.
    pub background: Duration,
    /// Lower bound of a requested timeout.
    pub min: Duration,
    /// Upper bound of a requested timeout, in the foreground.
    pub max: Duration,
}

/// How much of the output is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutputLimits {
    /// The policy over the whole stream.
    pub truncation: Truncation,
    /// Lines longer than this number of characters are cut, with `… [N characters omitted]`.
    pub max_line_chars: Option<usize>,
}

impl OutputLimits {
    /// Returns the limits for a call that asks for another part of the output, or for another size
    /// in KB (1024 bytes).
    #[must_use]
    pub fn for_call(self, part: Option<ShownPart>, kb: Option<NonZeroU64>) -> Self {
        let mut truncation = self.truncation;
        if let Some(kb) = kb {
            let bytes = usize::try_from(kb.get()).unwrap_or(usize::MAX);
            truncation = truncation.resized(bytes.saturating_mul(1024));
        }
        if let Some(part) = part {
            truncation = truncation.showing(part);
        }
        Self { truncation, ..self }
    }
}

/// The truncation policies. Sizes are bytes of text, 1 KB = 1024.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Truncation {
    /// The last `bytes`, starting at a line boundary.
    Tail {
        /// Window.
        bytes: usize,
    },
    /// Everything up to `max`, otherwise the first and the last `ends` bytes.
    Middle {
        /// Largest output that is shown whole.
        max: usize,
        /// Bytes shown of each end otherwise.
        ends: usize,
    },
    /// Everything within `max_bytes` and `max_lines`, otherwise whole lines from both ends.
    HeadTail {
        /// Largest output that is shown whole, in bytes; also limits truncated text.
        max_bytes: usize,
        /// Largest output that is shown whole, in lines.
        max_lines: usize,
        /// Lines shown of the beginning.
        head_lines: usize,
        /// Lines shown of the end.
        tail_lines: usize,
    },
    /// The first `bytes`.
    Head {
        /// Window.
        bytes: usize,
        /// True to omit an incomplete last line, unless it is the only line.
        whole_lines: bool,
    },
}

/// The largest text that a reader passes on uncut. For example, an agent truncates longer texts in
/// its own way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Window {
    /// Bytes of text.
    pub bytes: usize,
    /// Lines.
    pub lines: usize,
}

impl Window {
    /// Returns the window reduced by `bytes` and `lines`.
    #[must_use]
    pub fn less(self, bytes: usize, lines: usize) -> Self {
        Self {
            bytes: self.bytes.saturating_sub(bytes),
            lines: self.lines.saturating_sub(lines),
        }
    }

    /// Returns the window with the smaller number of bytes and the smaller number of lines.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            bytes: self.bytes.min(other.bytes),
            lines: self.lines.min(other.lines),
        }
    }

    /// Returns half of the window.
    #[must_use]
    pub fn half(self) -> Self {
        Self {
            bytes: self.bytes / 2,
            lines: self.lines / 2,
        }
    }
}

impl Truncation {
    /// Returns the largest output that is shown whole, in bytes.
    pub fn max_bytes(self) -> usize {
        match self {
            Self::Tail { bytes } | Self::Head { bytes, .. } => bytes,
            Self::Middle { max, .. } => max,
            Self::HeadTail { max_bytes, .. } => max_bytes,
        }
    }

    /// Returns the policy for outputs up to `bytes`. Limits on lines grow in proportion.
    fn resized(self, bytes: usize) -> Self {
        match self {
            Self::Tail { .. } => Self::Tail { bytes },
            Self::Head { whole_lines, .. } => Self::Head { bytes, whole_lines },
            Self::Middle { .. } => Self::Middle {
                max: bytes,
                ends: bytes / 2,
            },
            Self::HeadTail {
                max_bytes,
                max_lines,
                head_lines,
                tail_lines,
            } => {
                let scaled = |lines: usize| lines.saturating_mul(bytes) / max_bytes.max(1);
                Self::HeadTail {
                    max_bytes: bytes,
                    max_lines: scaled(max_lines),
                    head_lines: scaled(head_lines),
                    tail_lines: scaled(tail_lines),
                }
            }
        }
    }

    /// Returns the policy that shows this part, in the same number of bytes.
    fn showing(self, part: ShownPart) -> Self {
        let bytes = self.max_bytes();
        match (part, self) {
            (ShownPart::Start, _) => Self::Head {
                bytes,
                whole_lines: true,
            },
            (ShownPart::End, _) => Self::Tail { bytes },
            (ShownPart::Both, Self::Middle { .. } | Self::HeadTail { .. }) => self,
            (ShownPart::Both, _) => Self::HeadTail {
                max_bytes: bytes,
                max_lines: usize::MAX,
                head_lines: usize::MAX,
                tail_lines: usize::MAX,
            },
        }
    }

    /// Returns the policy reduced to a window. Only `HeadTail` has a limit on lines. For the other
    /// policies, the limit on lines is applied when the text is cut.
    #[must_use]
    pub fn within(self, window: Window) -> Self {
        match self {
            Self::Tail { bytes } => Self::Tail {
                bytes: bytes.min(window.bytes),
            },
            Self::Middle { max, ends } => Self::Middle {
                max: max.min(window.bytes),
                ends: ends.min(window.bytes / 2),
            },
            Self::HeadTail {
                max_bytes,
                max_lines,
                head_lines,
                tail_lines,
            } => Self::HeadTail {
                max_bytes: max_bytes.min(window.bytes),
                max_lines: max_lines.min(window.lines),
                head_lines,
                tail_lines,
            },
            Self::Head { bytes, whole_lines } => Self::Head {
                bytes: bytes.min(window.bytes),
                whole_lines,
            },
        }
    }

    /// Returns the largest number of bytes that two streams show together: `Tail` and `Head` share
    /// one window.
    pub fn longest(self) -> usize {
        match self {
            Self::Tail { .. } | Self::Head { .. } => self.max_bytes(),
            Self::Middle { .. } | Self::HeadTail { .. } => 2 * self.max_bytes(),
        }
    }

    /// Returns the part that the policy keeps.
    pub fn direction(self) -> Direction {
        match self {
            Self::Tail { .. } => Direction::Tail,
            Self::Middle { .. } => Direction::Middle,
            Self::HeadTail { .. } => Direction::HeadTail,
            Self::Head { .. } => Direction::Head,
        }
    }
}

/// The part of an output that is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// The end.
    #[default]
    Tail,
    /// The beginning.
    Head,
    /// The beginning and the end, in bytes.
    Middle,
    /// The beginning and the end, in lines.
    HeadTail,
}

/// The choice of the shell that runs the script.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ShellChoice {
    /// `$SHELL` if it is bash, else bash, else sh.
    UserBash,
    /// Always bash.
    Bash,
    /// `/bin/zsh -c`, `/bin/bash -lc`, `sh -c`: the first that exists.
    ZshOrBashLogin,
}

/// The policy for processes that outlive their call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SurvivorPolicy {
    /// The processes continue; their output is appended to the call's artifact.
    #[default]
    Adopt,
    /// The processes are ended along with the call.
    Kill,
    /// The call waits for them, within its timeout.
    Wait,
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINES: Truncation = Truncation::HeadTail {
        max_bytes: 10 * 1024,
        max_lines: 100,
        head_lines: 40,
        tail_lines: 20,
    };

    fn for_call(truncation: Truncation, part: Option<ShownPart>, kb: u64) -> Truncation {
        let limits = OutputLimits {
            truncation,
            max_line_chars: None,
        };
        limits.for_call(part, NonZeroU64::new(kb)).truncation
    }

    #[test]
    fn for_call_changes_the_size_and_the_part() {
        let tail = Truncation::Tail { bytes: 50 };
        assert_eq!(for_call(tail, None, 0), tail);
        assert_eq!(for_call(tail, Some(ShownPart::End), 0), tail);
        assert_eq!(for_call(tail, None, 2), Truncation::Tail { bytes: 2048 });
        let start = for_call(tail, Some(ShownPart::Start), 1);
        assert!(matches!(
            start,
            Truncation::Head {
                bytes: 1024,
                whole_lines: true
            }
        ));
        let both = for_call(tail, Some(ShownPart::Both), 1);
        assert_eq!(
            (both.max_bytes(), both.direction()),
            (1024, Direction::HeadTail)
        );
    }

    #[test]
    fn for_call_scales_limits_on_lines() {
        assert_eq!(for_call(LINES, Some(ShownPart::Both), 0), LINES);
        let scaled = Truncation::HeadTail {
            max_bytes: 5 * 1024,
            max_lines: 50,
            head_lines: 20,
            tail_lines: 10,
        };
        assert_eq!(for_call(LINES, None, 5), scaled);
    }
}
