//! Draws commands and their output, for hosts that use ratatui.
//!
//! Every view is drawn from plain values, onto a ratatui `Buffer` or as rows of a list: the host owns terminal, event loop,
//! processes and files. What a command printed reaches the host's terminal as text with colours; nothing of it acts.
//!
//! Views: [`Overlay`] (a command on a terminal of its own), [`ToolCard`] and [`BangCard`] (a command and the last of its
//! output), [`Pager`] and [`JobsPanel`]. Beside them: [`OutputText`] (bounded, styled output), [`Theme`], and
//! [`key_input()`] with [`OverlayKeys`] (what a key means).

mod bang_card;
mod card_frame;
mod card_state;
mod jobs_panel;
mod key_input;
mod output_text;
mod overlay;
mod overlay_keys;
mod pager;
mod screen_view;
mod sgr;
mod spell;
mod styled_line;
mod theme;
mod tool_card;
mod visible_text;

pub use bang_card::{BangCard, BangState, KeptOutput};
pub use card_state::CardState;
pub use jobs_panel::{JobRow, JobRowState, JobsPanel};
pub use key_input::key_input;
pub use output_text::{OutputLimits, OutputRows, OutputText};
pub use overlay::{Overlay, OverlayState};
pub use overlay_keys::{ESC_ESC, OverlayAction, OverlayKeys};
pub use pager::{Pager, PagerMove, PagerPosition, PagerPrompt};
pub use screen_view::ScreenView;
pub use spell::SPINNER_STEP;
pub use theme::Theme;
pub use tool_card::{OutputPage, Remark, ToolCard};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
