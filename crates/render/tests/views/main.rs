//! The views, as somebody sees them who uses this crate alone.

mod cards;
mod dump;
mod overlay_keys;
mod panels;
mod properties;
