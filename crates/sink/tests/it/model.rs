//! The sink against a reference model of the contract that works in memory, without chunks or
//! windows.

mod cases;
mod clean;
mod fixtures;
mod live;
mod policies;
mod properties;
mod terminal;
