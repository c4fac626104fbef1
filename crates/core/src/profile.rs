//! A profile: a plain value that sets every knob of the pipeline, so that it behaves as one kind of tool does.
//!
//! The four values are in `agent_bash::profiles`. Nothing ever asks which profile is in force; each stage reads the
//! knob it needs.

use crate::StreamId;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Every knob of the pipeline.
#[derive(Debug, Clone, PartialEq)]
pub struct Profile {
    /// For showing; nothing branches on it.
    pub name: ProfileName,
    /// Trim the command's ends and lift trailing `head`/`tail` into limits.
    pub normalise: bool,
    /// Time limits.
    pub timeouts: Timeouts,
    /// From SIGTERM to SIGKILL.
    pub grace: Duration,
    /// One pipe or two.
    pub streams: Streams,
    /// What of the output is shown.
    pub output: OutputLimits,
    /// How the result's text is written.
    pub layout: TextLayout,
    /// Which shell runs the script.
    pub shell: ShellChoice,
    /// Whether a terminal may be used at all.
    pub pty: bool,
    /// What becomes of processes that outlive their call.
    pub survivors: SurvivorPolicy,
    /// Fields of the request that the tool's schema shows; the others are accepted all the same.
    pub schema_fields: &'static [&'static str],
}

/// The profiles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ProfileName {
    /// The last 50 KB of one stream, and a link to all of it.
    #[default]
    Standard,
    /// The call says by `mode` how long it may take; beyond 128 KB both ends.
    Modes,
    /// Stdout and stderr apart; both ends, and a file to page through.
    Paged,
    /// In the root of a workspace; the first 100 KB, and the exit code last.
    Workspace,
}

impl ProfileName {
    /// As it is written in settings and on the command line.
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
    /// Where the call gives none.
    pub default: Duration,
    /// For `mode: slow`.
    pub slow: Duration,
    /// For `mode: background`.
    pub background: Duration,
    /// A given timeout is clamped to at least this.
    pub min: Duration,
    /// A given timeout is clamped to at most this, in the foreground.
    pub max: Duration,
}

/// How stdout and stderr are collected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Streams {
    /// Both into one pipe; the order is exact.
    Merged,
    /// A pipe each; the order between them is unknown.
    Split,
}

impl Streams {
    /// The streams that there are then.
    pub fn ids(self) -> &'static [StreamId] {
        match self {
            Self::Merged => &[StreamId::Merged],
            Self::Split => &[StreamId::Stdout, StreamId::Stderr],
        }
    }
}

/// What of the output is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutputLimits {
    /// The policy over the whole stream.
    pub truncation: Truncation,
    /// Clamp lines over this many characters with `… [N characters omitted]`.
    pub max_line_chars: Option<usize>,
}

/// The truncation policies. Sizes in bytes of text, 1 KB = 1024.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Truncation {
    /// The last `bytes`, from a line's start.
    Tail {
        /// Window.
        bytes: usize,
    },
    /// All up to `max`, else the first and the last `ends`.
    Middle {
        /// Shown whole up to this.
        max: usize,
        /// Shown of each end beyond it.
        ends: usize,
    },
    /// All within `max_bytes` and `max_lines`, else whole lines of both ends.
    HeadTail {
        /// Shown whole up to this many bytes; the cut text fits it too.
        max_bytes: usize,
        /// Shown whole up to this many lines.
        max_lines: usize,
        /// Lines of the beginning.
        head_lines: usize,
        /// Lines of the end.
        tail_lines: usize,
    },
    /// The first `bytes`.
    Head {
        /// Window.
        bytes: usize,
    },
}

/// The most that somebody takes of a text: an agent that cuts longer ones its own way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// Bytes of text.
    pub bytes: usize,
    /// Lines.
    pub lines: usize,
}

impl Window {
    /// What is left of it beside so many bytes and lines.
    #[must_use]
    pub fn less(self, bytes: usize, lines: usize) -> Self {
        Self {
            bytes: self.bytes.saturating_sub(bytes),
            lines: self.lines.saturating_sub(lines),
        }
    }

    /// What this and another have in common.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            bytes: self.bytes.min(other.bytes),
            lines: self.lines.min(other.lines),
        }
    }

    /// Half of it.
    #[must_use]
    pub fn half(self) -> Self {
        Self {
            bytes: self.bytes / 2,
            lines: self.lines / 2,
        }
    }
}

impl Truncation {
    /// The same policy, with no more than a window holds. Of a policy's lines only `HeadTail` knows; the others' are counted where
    /// the text is cut.
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
            Self::Head { bytes } => Self::Head {
                bytes: bytes.min(window.bytes),
            },
        }
    }

    /// The most that two streams show, in bytes: those of `Tail` and `Head` share one window.
    pub fn longest(self) -> usize {
        match self {
            Self::Tail { bytes } | Self::Head { bytes } => bytes,
            Self::Middle { max, .. } => 2 * max,
            Self::HeadTail { max_bytes, .. } => 2 * max_bytes,
        }
    }

    /// Which part it keeps.
    pub fn direction(self) -> Direction {
        match self {
            Self::Tail { .. } => Direction::Tail,
            Self::Middle { .. } => Direction::Middle,
            Self::HeadTail { .. } => Direction::HeadTail,
            Self::Head { .. } => Direction::Head,
        }
    }
}

/// Which part of an output is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// The end.
    #[default]
    Tail,
    /// The beginning.
    Head,
    /// Both ends, in bytes.
    Middle,
    /// Both ends, in lines.
    HeadTail,
}

/// Who writes the result's text: one file each in `agent_bash::layout`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TextLayout {
    /// Output, then what else there is to say.
    Standard,
    /// What went wrong, then the output.
    Modes,
    /// Stdout, stderr, and how it ended.
    Paged,
    /// Stdout, stderr, `[Exit code: N]`.
    Workspace,
}

/// Which shell runs the script.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ShellChoice {
    /// `$SHELL` if it is bash, else bash, else sh.
    UserBash,
    /// Always bash.
    Bash,
    /// `/bin/zsh -c`, `/bin/bash -lc`, `sh -c`: the first that exists.
    ZshOrBashLogin,
}

/// What becomes of processes that outlive their call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SurvivorPolicy {
    /// They live on; their output goes on into the call's artifact.
    #[default]
    Adopt,
    /// They are ended with the call.
    Kill,
    /// The call waits for them, within its timeout.
    Wait,
}
