//! Background jobs: they end as recorded, outlive their host, and can be read without gaps or
//! duplicates, fed, waited for and ended, by this process or another. A census checks that
//! everything started here is ended here.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that fails may stop"
)]

mod adopting;
mod damaged;
mod ending;
mod feeding;
mod hosts;
mod keeping;
mod killing;
mod ports;
mod sandboxed;
mod starting;
pub(crate) mod world;
