//! The artifact directory on real file systems: atomic, private, bounded, shared, swept.

#[cfg(test)]
mod faults;
#[cfg(test)]
mod fixtures;
#[cfg(test)]
mod life;
#[cfg(test)]
mod names;
#[cfg(test)]
mod reading;
