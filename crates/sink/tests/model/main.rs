//! The sink against a plain model of the contract: everything at once, in memory, without chunks or windows.

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
