//! Tests change sets with real overlays, in separate namespaces, and with processes that are
//! killed.
#![expect(
    clippy::disallowed_methods,
    reason = "tests start the programs that change files, and tell them what to do by their environment"
)]
#![expect(clippy::unwrap_used, reason = "tests")]

mod crash;
mod edges;
mod edited_meanwhile;
mod extremes;
mod group;
mod held_plan;
mod in_order;
mod known_numbers;
mod names;
mod no_room;
mod other_device;
mod owners;
mod recycle;
mod same;
mod scan;
mod shown;
mod steps;
mod support;
mod trace;
mod trial;
