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

mod bang_card;
mod bash_text;
pub mod call_summary;
mod card_changes;
mod card_frame;
mod card_state;
mod choice_grid;
mod diff_view;
mod duration;
mod emoji_width;
mod file_row;
mod footer;
mod history_panel;
mod jobs_panel;
mod key_input;
mod line_cursor;
mod match_marks;
mod output_text;
mod overlay;
mod overlay_keys;
mod pager;
mod panel_frame;
mod prompt_view;
mod question;
mod refused;
mod result_rows;
mod row_breaks;
mod screen_view;
mod sgr;
mod spinner;
mod styled_line;
mod theme;
mod tool_card;
mod visible_text;

pub use agent_bash_core as core;
pub use agent_bash_syntax as syntax;
pub use bang_card::{BangCard, StoredOutput};
pub use bash_text::BashStyles;
pub use card_changes::CardChanges;
pub use card_state::CardState;
pub use choice_grid::{ChoiceGrid, ChoicePositions};
pub use diff_view::{DiffLine, DiffView};
pub use emoji_width::normalise_widths;
pub use footer::FooterLine;
pub use history_panel::{HistoryPanel, HistoryRow, HistoryRowEnd};
pub use jobs_panel::{JobRow, JobRowState, JobsPanel};
pub use key_input::key_input;
pub use output_text::{OutputLimits, OutputRows, OutputText};
pub use overlay::{Overlay, OverlayState};
pub use overlay_keys::{DOUBLE_ESC_TIME, OverlayAction, OverlayKeys};
pub use pager::{Pager, PagerMove, PagerPosition, PagerPrompt};
pub use prompt_view::PromptView;
pub use question::{Question, QuestionPart};
pub use refused::RefusalView;
pub use regex;
pub use screen_view::ScreenView;
pub use spinner::{SPINNER_STEP, icon, mark};
pub use styled_line::wrapped;
pub use theme::Theme;
pub use tool_card::{OutputPage, ToolCard};
pub use visible_text::{abridged, shortened};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
