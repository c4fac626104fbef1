//! Live output, as both servers give it.

use agent_bash::process::SystemClock;
use agent_bash::sink::{CarriageReturn, LiveKind, LiveOptions, LiveUpdates};
use std::sync::Arc;
use std::time::Duration;

/// From one update to the next, at least (spec 3.5).
const INTERVAL: Duration = Duration::from_millis(50);

/// What an update is made from, at most.
const MAX_BYTES: usize = 50 * 1024;

/// Without output yet.
pub(crate) fn updates(kind: LiveKind) -> LiveUpdates {
    let options = LiveOptions {
        kind,
        max_bytes: MAX_BYTES,
        interval: INTERVAL,
        carriage_return: CarriageReturn::Overwrite,
    };
    LiveUpdates::new(options, Arc::new(SystemClock::new()))
}
