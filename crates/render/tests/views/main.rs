//! The views through the public API of this crate alone.

mod cards;
mod changes;
mod diff;
mod dump;
mod hidden;
mod overlay_keys;
mod panels;
mod properties;
