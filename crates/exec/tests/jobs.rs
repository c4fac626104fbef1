//! Background jobs: they end as their files say, outlive their host, are read without gap or duplicate, fed, waited for
//! and ended, by this process or another. Everything that is started here is ended here: a census counts.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that fails may stop"
)]

mod support;

#[path = "jobs/adopting.rs"]
mod adopting;
#[path = "jobs/ending.rs"]
mod ending;
#[path = "jobs/feeding.rs"]
mod feeding;
#[path = "jobs/hosts.rs"]
mod hosts;
#[path = "jobs/keeping.rs"]
mod keeping;
#[path = "jobs/killing.rs"]
mod killing;
#[path = "jobs/starting.rs"]
mod starting;
#[path = "jobs/world.rs"]
mod world;
