//! Recognises messages of programs in an output: an address in use, a held lock, and a question
//! that got no answer.
//!
//! Only the lines of the output are read. The caller looks up the process behind a port or a lock.

mod held_lock;
mod port_in_use;
mod unanswered_prompt;

pub use held_lock::{LockMessage, held_lock};
pub use port_in_use::{PortMessage, port_in_use, possible_ports};
pub use unanswered_prompt::{UserPrompts, unanswered_prompt};
