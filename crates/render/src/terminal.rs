//! A command on a terminal of its own, and the keys that reach it.

pub(crate) mod key_input;
pub(crate) mod overlay;
pub(crate) mod overlay_keys;
pub(crate) mod screen_view;
