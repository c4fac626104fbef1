//! A recorded session as one self-contained page.
//!
//! A session's output is untrusted. It reaches the page only through [`maud`]'s escaping, never as
//! markup. The page's Content Security Policy allows only the page's own style and script, by their
//! hashes.

mod ansi;
mod body;
mod call;
mod changes;
mod colour;
mod head;
mod kinds;
mod page;
mod page_data;
mod policy;
mod timeline;

pub use agent_bash_journal as journal;
pub use page_data::{ChangesAction, Diff, JobLine, Page};
