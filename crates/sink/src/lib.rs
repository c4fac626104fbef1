//! Bounds, cleans, counts and keeps the output of a command.

mod call;
mod cut;
mod escape;
mod lines;
mod report;
mod sanitise;
mod scan;
mod sink;
mod spill;
mod visible;
mod window;

pub use call::{CallOptions, CallOutput, CallReport};
pub use report::{Piece, Shown, SinkReport};
pub use sanitise::CarriageReturn;
pub use sink::{OutputSink, SinkOptions};
