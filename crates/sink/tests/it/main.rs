//! The sink and the artifact directory, by their public interface.

#[cfg(test)]
mod model;
#[cfg(test)]
mod store;
