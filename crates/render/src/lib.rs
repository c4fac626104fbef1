//! Draws commands and their output, for hosts that use ratatui.
//!
//! Every view is drawn from plain values, onto a ratatui `Buffer` or as rows of a list. The host
//! owns terminal, event loop, processes and files. Command output reaches the host's terminal as
//! text with colours; no escape sequence in it takes effect.
//!
//! Views: [`Overlay`] (a command on its own terminal), [`ToolCard`] and [`BangCard`] (a command,
//! the end of its output, and its changes to files), [`DiffView`], [`Pager`], [`JobsPanel`],
//! [`HistoryPanel`] and [`Question`]. Supporting types: [`OutputText`] (bounded, styled output),
//! [`Theme`], and [`key_input()`] with [`OverlayKeys`] (the meaning of keys).

pub mod call_summary;
mod card;
mod card_state;
mod panel;
mod spinner;
mod terminal;
mod text;
mod theme;

pub use agent_bash_core as core;
pub use agent_bash_syntax as syntax;
pub use card::bang_card::{BangCard, StoredOutput};
pub use card::card_changes::CardChanges;
pub use card::footer::FooterLine;
pub use card::refused::RefusalView;
pub use card::tool_card::{OutputPage, ToolCard};
pub use card_state::CardState;
pub use panel::choice_grid::{ChoiceGrid, ChoicePositions};
pub use panel::diff_view::{DiffLine, DiffView};
pub use panel::history_panel::{HistoryPanel, HistoryRow, HistoryRowEnd};
pub use panel::jobs_panel::{JobRow, JobRowState, JobsPanel};
pub use panel::pager::{Pager, PagerMove, PagerPosition, PagerPrompt};
pub use panel::prompt_view::PromptView;
pub use panel::question::{Question, QuestionPart};
pub use regex;
pub use spinner::{SPINNER_STEP, icon, mark};
pub use terminal::key_input::key_input;
pub use terminal::overlay::{Overlay, OverlayState};
pub use terminal::overlay_keys::{DOUBLE_ESC_TIME, OverlayAction, OverlayKeys};
pub use terminal::screen_view::ScreenView;
pub use text::bash_text::BashStyles;
pub use text::emoji_width::normalise_widths;
pub use text::output_text::{OutputLimits, OutputRows, OutputText};
pub use text::styled_line::wrapped;
pub use text::visible_text::{abridged, shortened};
pub use theme::Theme;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
