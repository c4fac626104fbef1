//! Commands on a terminal of their own: the vocabulary.
//!
//! Here so far: how large a terminal may be ([`PtySize`]) and what a program at it waits for ([`WaitingFor`]). The
//! plain types of a terminal's screen and keys are `agent-bash-core`'s and are re-exported. The terminal itself is not
//! here yet; README.md says what it will be.

mod size;
mod waiting;

pub use agent_bash_core::{Key, KeyInput, KeyModifiers, Screen};
pub use size::PtySize;
pub use waiting::WaitingFor;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
