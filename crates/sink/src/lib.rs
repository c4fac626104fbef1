//! Limits, cleans, counts and stores the output of a command.
//!
//! | purpose | type |
//! |---|---|
//! | one stream: its shown part, and counts of the rest | [`OutputSink`] → [`SinkReport`] |
//! | the streams of a call, as an executor's consumer | [`CallOutput`] → [`CallReport`] |
//! | whole outputs on disk | [`ArtifactDir`], [`open_artifact`] |
//! | reading stored outputs: pages, tails, searches | [`FileView`] |
//! | a record of calls | [`AuditFile`] |
//! | watching a command while it runs | [`LiveUpdates`], [`TailBuffer`], [`TerminalText`] |
//!
//! The stages of a stream, one file each: `sanitise` (with `escape`, `scan`) cleans, `lines`
//! applies line limits and counts, `window` keeps both ends, `cut` holds the truncation policies,
//! `spill` moves raw bytes to disk. This crate does not write the headings and notices of a result:
//! `agent-bash` writes them from the report. `wording` holds the phrases that other crates share.
//! This crate starts no processes and opens no terminals.

mod allocate;
mod artifact_dir;
mod artifact_list;
mod artifact_options;
mod artifact_writer;
mod audit_file;
mod call;
mod coloured;
mod cut;
mod escape;
mod expiry;
mod host_secret;
mod line_index;
mod lines;
mod live;
mod long_line;
mod quota;
mod report;
mod sanitise;
mod scan;
mod search;
mod session_claim;
mod session_token;
mod shared_dir;
mod sidecar;
mod sink;
mod spill;
mod sweep;
mod tail_buffer;
mod terminal_text;
mod view;
mod window;
mod wording;

pub use agent_bash_core as core;
pub use agent_bash_core::{SizeStyle, size_text};
pub use artifact_dir::{ArtifactDir, LookupError, open_artifact};
pub use artifact_list::{ArtifactInfo, ClearOutcome, RemovedArtifacts};
pub use artifact_options::{ArtifactDirOptions, ArtifactLimits, Naming, SessionNameError};
pub use audit_file::AuditFile;
pub use call::{CallOptions, CallOutput, CallReport};
pub use host_secret::host_secret;
pub use live::{LiveKind, LiveOptions, LiveUpdate, LiveUpdates};
pub use report::{CleanPiece, ShownOutput, SinkReport};
pub use sanitise::CarriageReturn;
pub use search::{FoundLine, LineMatcher, Search, SearchError, SearchResult};
pub use session_claim::SessionClaim;
pub use session_token::{SessionToken, session_token};
pub use sidecar::Lifetime;
pub use sink::{OutputSink, SinkOptions};
pub use tail_buffer::{TailBuffer, TailPart};
pub use terminal_text::TerminalText;
pub use view::{DEFAULT_LINES, FileView, MAX_PAGE_BYTES, NextPage, Page};
pub use wording::{binary_text, truncated_note};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
