//! Sets with real overlays, in namespaces of their own, and with processes that are killed.
#![expect(
    clippy::disallowed_methods,
    reason = "tests start the programs that change files, and tell them what to do by their environment"
)]
#![expect(clippy::unwrap_used, reason = "tests")]

mod crash;
mod crash_later;
mod edges;
mod extremes;
mod in_order;
mod names;
mod no_room;
mod other_device;
mod owners;
mod photo;
mod same;
mod shown;
mod shown_later;
mod spare;
mod support;
mod survey;
mod trace;
mod trial;
