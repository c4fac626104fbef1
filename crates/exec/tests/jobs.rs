//! Background jobs: they end as recorded, outlive their host, and can be read without gaps or duplicates, fed,
//! waited for and ended, by this process or another. A census checks that everything started here is ended here.

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
