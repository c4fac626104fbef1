//! A target behind the shells that there are, and behind a line that is cut.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "tests"
)]

mod boot;
mod cuts;
mod many;
mod world;
