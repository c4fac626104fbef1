//! Commands on their own terminals.
//!
//! [`PtyExecutor`] is an [`agent_bash_core::Executor`] that runs a script in a shell on a
//! pseudo-terminal. The shell runs below the same supervisor as every other command: containment,
//! time limits and survivors are handled identically. A [`PtySession`] provides the command's
//! [`Screen`], accepts [`KeyInput`] from a user, and reports the input that the command waits for.
//!
//! Not in this crate: drawing (`agent-bash-render`), killing trees and naming survivors
//! (`agent-bash-process`), storing the output (`agent-bash-sink`). No type of portable-pty or of
//! the emulator appears in a public signature.
//!
//! Modules:
//! - `options`, `executor` (starting), `call` (one call from start to outcome), `source` (events
//!   during a call), `session` (the handle)
//! - `terminal` (the pseudo-terminal), `script` (how the shell gets its script), `recording`
//! - `sequence_filter` and `emulator` (from output to screen), `line_in_edit` (the final text of an
//!   edited line),
//!   `queries` (queries that programs send to their terminal)
//! - `keys` (from input to bytes), `detect` (detecting programs that wait for input)

mod call;
mod character_sets;
mod colors;
mod detect;
mod emulator;
mod executor;
mod keys;
mod line_in_edit;
mod options;
mod queries;
mod recording;
mod script;
mod sequence_filter;
mod session;
mod size;
mod source;
mod terminal;

pub use agent_bash_call::SurvivorRegistry;
pub use agent_bash_core as core;
pub use agent_bash_core::{Key, KeyInput, KeyModifiers, Screen, WaitingFor};
pub use agent_bash_process as process;
pub use call::PtyRun;
pub use colors::TerminalColors;
pub use executor::PtyExecutor;
pub use options::PtyOptions;
pub use recording::RecordingWriter;
pub use session::{InputRefused, PtyEnd, PtySession, PtyStatus};
pub use size::PtySize;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
