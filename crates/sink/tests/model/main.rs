//! The sink against a reference model of the contract that works in memory, without chunks or windows.

#[cfg(test)]
mod cases;
#[cfg(test)]
mod clean;
#[cfg(test)]
mod fixtures;
#[cfg(test)]
mod live;
#[cfg(test)]
mod policies;
#[cfg(test)]
mod properties;
