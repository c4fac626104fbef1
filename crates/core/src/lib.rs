//! The vocabulary and interfaces of agent-bash.
//!
//! The input of a call ([`Request`]), its output ([`ToolResult`]), the values that configure
//! what happens in between ([`Profile`], [`RunSpec`]), and the traits between the crates
//! ([`Executor`], [`OutputConsumer`], [`ArtifactStore`], [`Clock`]).
//!
//! This crate has no side effects: it opens no files, starts no processes, and reads neither clock
//! nor environment. Other crates do so: `agent-bash-process`, `-exec`, `-pty` (processes), `-sink`
//! (files) and `agent-bash` (wiring).

mod artifact;
mod audit;
mod cancel;
pub mod changes;
mod characters;
mod clock;
mod definitions;
mod duration_text;
mod enum_words;
mod environment;
mod hex;
mod ids;
mod key;
mod key_name;
mod line_edit;
mod lock;
mod mask;
mod not_started;
mod notice;
mod observed;
mod or_never;
pub mod os_text;
mod parse;
mod policy_findings;
mod profile;
mod remote_host;
mod request;
mod result;
mod run;
pub mod sandbox;
mod screen;
mod setters;
mod size_text;
mod status;
mod stream;
mod timestamp;
mod until;
pub mod visible;
mod waiting;
mod word_list;

pub use async_trait::async_trait;

pub use artifact::{ArtifactEnd, ArtifactError, ArtifactMeta, ArtifactStore, ArtifactWriter};
pub use audit::{AuditEntry, AuditLog, AuditVerdict, Caller};
pub use cancel::Cancel;
pub use characters::whole_characters;
pub use clock::Clock;
pub use definitions::{Definitions, ShellDefinitions};
pub use duration_text::{DurationError, parse_duration, short_duration, timed_out_text};
pub use environment::Environment;
pub use hex::hex;
pub use ids::{ArtifactId, ArtifactUriError, JobId, SessionName};
pub use key::{Key, KeyInput, KeyModifiers, MouseButton, MouseInput, MouseKind};
pub use key_name::UnknownKey;
pub use line_edit::LineEdit;
pub use lock::lock;
pub use mask::{
    MASK_CONTEXT_BYTES, MaskStream, MaskedPart, OutputMask, OutputPiece, StreamMasks, masked_part,
    masked_text,
};
pub use not_started::NotStarted;
pub use notice::{LimitKind, Notice, NoticeKind, UncomparedDirectory};
pub use observed::{Holder, Stage, Survivor, listed, listens_on};
pub use or_never::or_never;
pub use parse::{Parsed, RequestError, parse_request};
pub use policy_findings::{Findings, PolicyFindings};
pub use profile::{
    Direction, OutputLimits, Profile, ProfileName, ShellChoice, SurvivorPolicy, Timeouts,
    Truncation, Window,
};
pub use remote_host::{NotRun, RemoteHost};
pub use request::{MAX_COMMAND_BYTES, MAX_SHOW_KB, Mode, Request, ShownPart, StdinMode};
pub use result::{ArtifactRef, OutputSummary, ToolResult, TruncatedBy};
pub use run::{
    ConsumerFlow, Executor, Invocation, Limits, Outcome, OutputConsumer, RunSpec, ScriptEnding,
    Shell, StdinSource,
};
pub use screen::{Attributes, Cell, CellColor, Cursor, Screen, ScreenModes};
pub use size_text::{SizeStyle, plural, size_text};
pub use status::Status;
pub use stream::{StreamId, Streams};
pub use timestamp::Timestamp;
pub use until::{MetCondition, Until};
pub use waiting::WaitingFor;
pub use word_list::{split_words, word_count};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
