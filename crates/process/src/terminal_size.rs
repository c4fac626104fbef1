//! How wide the terminal is that we print on.

use rustix::termios::tcgetwinsize;
use std::io;

/// The columns of the terminal that stdout is; `None` if it is none, or does not know.
pub fn terminal_columns() -> Option<usize> {
    let size = tcgetwinsize(io::stdout()).ok()?;
    Some(usize::from(size.ws_col)).filter(|columns| *columns > 0)
}
