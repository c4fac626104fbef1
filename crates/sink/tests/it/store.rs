//! The artifact directory on real file systems: atomic, private, bounded, shared, swept.

mod faults;
mod fixtures;
mod life;
mod names;
mod reading;
