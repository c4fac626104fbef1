//! The width of the terminal at stdout.

use rustix::termios::tcgetwinsize;
use std::io;

/// Returns the columns of the terminal at stdout; `None` without a terminal or a known size.
pub fn terminal_columns() -> Option<usize> {
    let size = tcgetwinsize(io::stdout()).ok()?;
    Some(usize::from(size.ws_col)).filter(|columns| *columns > 0)
}
