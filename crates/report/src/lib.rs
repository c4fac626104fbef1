//! A recorded session as one self-contained page.
//!
//! What a session printed is untrusted. It reaches the page only through [`maud`]'s escaping, never as markup, and the page's
//! policy lets nothing run or load but the style and the script below, which are named by their hashes.

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
pub use page_data::{Deed, Diff, JobLine, Page};
