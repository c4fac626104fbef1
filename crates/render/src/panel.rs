//! Views that fill a panel or the screen, and the parts that they share.

pub(crate) mod choice_grid;
pub(crate) mod diff_view;
pub(crate) mod file_row;
pub(crate) mod history_panel;
pub(crate) mod jobs_panel;
pub(crate) mod match_marks;
pub(crate) mod pager;
pub(crate) mod panel_frame;
pub(crate) mod prompt_view;
pub(crate) mod question;
