//! The conformance kit: cases as data, run through every surface, which must all give the same.
//!
//! A case is a TOML table in `tests/conformance/*.toml`: what to set up, what to call, what must come out
//! ([`Case`] says what can be written). A [`Surface`] is how a call reaches the product, `check` compares, [`play`]
//! plays a case. Which requirement is held by which case is the table that [`table()`] makes for
//! `docs/conformance.md`.
//!
//! What data cannot say (signals in the middle, readers that go away) is in `tests/faults.rs`.

mod adapter;
mod case;
mod check;
mod run;
mod servers;
mod surface;
mod table;
mod text;

pub use adapter::{Adapter, Source};
pub use case::{Case, Cases, Expect, Requirement, Setup, Step, load};
pub use run::play;
pub use servers::{Mcp, Rpc, shake_hands, shake_hands_as};
pub use surface::{Call, CliJson, CliText, Reply, Surface};
pub use table::table;
