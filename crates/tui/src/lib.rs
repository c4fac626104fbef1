//! A terminal interface to the tool, for users: a prompt whose lines run as tool calls, bang
//! commands (`!command`), and every view of `agent-bash-render`.
//!
//! [`run`] is the whole interface; [`show`] shows one command on a terminal. A single loop handles
//! events, messages and timeouts (`event_loop`). The state (`app`) neither waits nor reads, so
//! tests need no terminal. `agent-bash` decides what commands may do and how they run,
//! `agent-bash-render` how they look.

mod action_outcome;
mod aliases;
mod app;
mod approvals;
mod background_changes;
mod calls;
mod card_entry;
mod change_actions;
mod change_work;
mod changes_since;
mod complete;
mod console;
mod diff_search;
mod diff_state;
mod draw;
mod editor;
mod event_loop;
mod functions;
mod grapheme_clusters;
mod help;
mod history;
mod history_search;
mod host_terminal;
mod input_detector;
mod interrupt;
mod jobs_state;
mod links;
mod lost_state;
mod matching_lines;
mod note;
mod options;
mod pager_keys;
mod pager_source;
mod pager_state;
mod pattern_input;
mod prompt;
mod prompt_directory;
mod questions;
mod queue;
mod redraw;
mod scroll_state;
mod search_origin;
mod single_command;
mod status;
mod stop_signals;
mod terminal_input;
mod terminals;
mod transcript;
mod typed_count;

pub use agent_bash_render::{Theme, shortened};
pub use approvals::Approvals;
pub use note::named_trial;
pub use options::{JobsAtExit, OnQuit, TuiError, TuiOptions};
pub use single_command::show;
pub use terminals::Terminals;

/// Runs the interface on this process's terminal until the user quits or `stop` is triggered.
///
/// At the end, running commands are ended. Background jobs continue, unless the user wants them
/// ended. Restores the terminal on every exit path.
///
/// # Errors
///
/// [`TuiError`].
pub async fn run(options: TuiOptions) -> Result<JobsAtExit, TuiError> {
    Box::pin(event_loop::EventLoop::new(options).run()).await
}

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
