//! Text as rows of a terminal: widths, styles, breaks, and bounded output.

pub(crate) mod bash_text;
pub(crate) mod duration;
pub(crate) mod emoji_width;
pub(crate) mod line_cursor;
pub(crate) mod output_text;
pub(crate) mod row_breaks;
pub(crate) mod sgr;
pub(crate) mod styled_line;
pub(crate) mod visible_text;
