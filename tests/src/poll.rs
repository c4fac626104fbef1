//! Polls for a condition with a deadline: the only way in which tests wait.

use anyhow::{Context, Result};
use std::path::Path;
use std::time::{Duration, Instant};

/// Polling interval: short compared with any deadline, long compared with the cost of a check.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// Calls `look` until it returns a value, at most for `patience`; `None` if it never did. Checks at
/// least once, and once more after the deadline, so that a slow machine does not cause a failure.
#[expect(
    clippy::disallowed_methods,
    reason = "the tests' own wait: they watch real processes in real time"
)]
pub fn until<T>(patience: Duration, mut look: impl FnMut() -> Option<T>) -> Option<T> {
    let begin = Instant::now();
    loop {
        let last = begin.elapsed() >= patience;
        if let Some(answer) = look() {
            return Some(answer);
        }
        if last {
            return None;
        }
        std::thread::sleep(POLL_INTERVAL);
    }
}

/// Sleeps between two readings of something that is still being written.
#[expect(
    clippy::disallowed_methods,
    reason = "the tests' own wait: they watch real processes in real time"
)]
pub fn pause(time: Duration) {
    std::thread::sleep(time);
}

/// Returns once a file with that path exists.
///
/// # Errors
/// The file did not appear within `patience`.
pub fn exists(path: &Path, patience: Duration) -> Result<()> {
    let appeared = until(patience, || path.exists().then_some(()));
    appeared.with_context(|| format!("{} was not made", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn poll_returns_a_value_or_gives_up_at_the_deadline() {
        let mut looks = 0;
        let answer = until(Duration::from_secs(60), || {
            looks += 1;
            (looks == 3).then_some("here")
        });
        assert_eq!((answer, looks), (Some("here"), 3));
        assert_eq!(until(Duration::ZERO, || None::<()>), None);
    }
}
