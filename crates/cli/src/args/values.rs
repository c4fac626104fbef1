//! Argument types that several commands share.

use agent_bash::core::changes::{ChangesLevel, TrialRequest};
use agent_bash::core::{MAX_SHOW_KB, Mode, ShownPart, parse_duration};
use agent_bash::tools::adapter::Adapter;
use agent_bash::tools::adapters;
use clap::ValueEnum;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use std::num::NonZeroU64;
use std::time::Duration;

/// The name of the state directory of one-shot commands.
pub(crate) const DEFAULT_SESSION: &str = "cli";

/// Returns the word of an argument's value; the settings use the same words.
pub(crate) fn word(arg: &impl ValueEnum) -> String {
    let value = arg.to_possible_value();
    value.map_or_else(String::new, |value| value.get_name().to_owned())
}

/// Converts the values of an option into a type with the same variants.
macro_rules! converted {
    ($arg:ident => $core:ty: $($variant:ident),+) => {
        impl From<$arg> for $core {
            fn from(arg: $arg) -> Self {
                match arg {
                    $($arg::$variant => Self::$variant),+
                }
            }
        }
    };
}
pub(crate) use converted;

/// A level of safe mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SafeLevelArg {
    /// Only commands on the list, without a sandbox.
    Listed,
    /// Only commands on the list, in a read-only sandbox.
    #[value(name = "read_only", alias = "read-only")]
    ReadOnly,
}

/// A level of the sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SandboxArg {
    /// No sandbox.
    Off,
    /// Only the call's own temporary directory may be written.
    #[value(name = "read_only", alias = "read-only")]
    ReadOnly,
    /// The call's own temporary directory and the workspace may be written.
    #[value(name = "workspace_write", alias = "workspace-write")]
    WorkspaceWrite,
}

/// The treatment of a trial's changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TrialArg {
    /// The changes are held until you commit or discard them.
    Hold,
    /// The changes are committed if the command exits with 0, else discarded.
    Atomic,
}

converted!(TrialArg => TrialRequest: Hold, Atomic);

/// How much is recorded of changes to files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ChangesArg {
    /// Nothing.
    Off,
    /// The names of the files.
    List,
    /// The names, and the former contents for an undo.
    Undo,
}

converted!(ChangesArg => ChangesLevel: Off, List, Undo);

/// A profile's name on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProfileArg {
    /// 5 minutes; the last 50 KB, and a link to all of it.
    Standard,
    /// 30 s, or 15 minutes as `slow`; up to 128 KB, beyond that both ends.
    Modes,
    /// 2 minutes; stdout and stderr apart, both ends and a file to page through.
    Paged,
    /// 30 s; the first 100 KB and `[Exit code: N]`.
    Workspace,
}

/// A mode's name on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ModeArg {
    /// In the foreground, with the profile's default time limit.
    Default,
    /// In the foreground, with the time limit for builds, tests and installs.
    Slow,
    /// Detached; returns at once.
    Background,
}

converted!(ModeArg => Mode: Default, Slow, Background);

/// The part of a long output to show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ShowArg {
    /// The beginning.
    Start,
    /// The end.
    End,
    /// The beginning and the end.
    Both,
}

converted!(ShowArg => ShownPart: Start, End, Both);

/// The source of a command's stdin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum StdinArg {
    /// The stdin of `agent-bash`.
    Inherit,
    /// A pipe, for input that comes later.
    Pipe,
}

/// Parses a number of lines, or a line number.
pub(super) fn lines(text: &str) -> Result<NonZeroU64, String> {
    text.parse()
        .map_err(|_| "write a whole number, 1 or more".to_owned())
}

/// Parses a size in KB of the shown output.
pub(super) fn kilobytes(text: &str) -> Result<NonZeroU64, String> {
    let kb: Option<NonZeroU64> = text.parse().ok();
    kb.filter(|kb| kb.get() <= MAX_SHOW_KB)
        .ok_or_else(|| format!("write a whole number from 1 to {MAX_SHOW_KB}"))
}

/// Parses a duration with a unit, or a number of seconds.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    parse_duration(text).map_err(|error| error.to_string())
}

/// The names of directories in the state directory and in a session's directory. A session with
/// such a name could mix its files with those of other sessions.
const RESERVED_NAMES: [&str; 8] = [
    "artifacts", "caches", "changes", "git-config", "jobs", "journal", "snapshots", "targets",
];

/// Parses a session name. It becomes a directory name, so it must not be a path.
pub(crate) fn session_name(text: &str) -> Result<String, String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if text.is_empty() || text.starts_with('.') || !text.chars().all(plain) || text.len() > 64 {
        return Err(
            "a name has 1 to 64 letters, digits, `-`, `_`, `.`, and does not begin with `.`"
                .to_owned(),
        );
    }
    if RESERVED_NAMES.contains(&text) {
        return Err("this name is reserved; choose another one".to_owned());
    }
    Ok(text.to_owned())
}

/// A session and the number of one of its records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RecordName {
    pub(crate) session: String,
    /// 1 is the oldest stored record; `None`: the record that was last written to.
    pub(crate) number: Option<usize>,
}

impl std::fmt::Display for RecordName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.session)?;
        match self.number {
            Some(number) => write!(f, "@{number}"),
            None => Ok(()),
        }
    }
}

/// Parses `NAME` and `NAME@2`.
pub(super) fn recorded_name(text: &str) -> Result<RecordName, String> {
    let (session, number) = match text.split_once('@') {
        None => (text, None),
        Some((session, number)) => {
            let number = number.parse().ok().filter(|number| *number > 0);
            let number = number.ok_or("after `@` is the number that `log --list` shows")?;
            (session, Some(number))
        }
    };
    Ok(RecordName {
        session: session_name(session)?,
        number,
    })
}

/// Parses `NAME=VALUE`.
pub(super) fn assignment(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("write NAME=VALUE; the value may be empty".to_owned()),
    }
}

/// Parses the name of an adapter.
pub(super) fn adapter() -> impl TypedValueParser<Value = &'static Adapter> {
    PossibleValuesParser::new(adapters::names()).try_map(|name| adapters::by_name(&name))
}
