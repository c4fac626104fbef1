//! The binary, started as its users start it.

mod changes;
mod cli;
mod default_state;
mod inherited;
mod linked;
mod recorded;
mod report;
mod sandbox;
mod setup;
mod support;
mod take_over;
mod tools;
mod usage;
