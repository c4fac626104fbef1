//! Cards: what a command was, the end of its output, and how it ended.

pub(crate) mod bang_card;
pub(crate) mod card_changes;
pub(crate) mod card_frame;
pub(crate) mod footer;
pub(crate) mod refused;
pub(crate) mod result_rows;
pub(crate) mod tool_card;
