//! Waiting for something to become true, with a deadline: the only way a test waits.

use anyhow::{Context, Result};
use std::path::Path;
use std::time::{Duration, Instant};

/// Between two looks. Short against any deadline, long against the cost of a look.
const PAUSE: Duration = Duration::from_millis(10);

/// Asks `look` until it answers, at most for `patience`; `None` if it never did. Looks at least once, and once more
/// after the deadline, so that a slow machine does not turn an answer into a failure.
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
        std::thread::sleep(PAUSE);
    }
}

/// Returns when there is a file of that name.
///
/// # Errors
/// Nobody made it within `patience`.
pub fn exists(path: &Path, patience: Duration) -> Result<()> {
    let there = until(patience, || path.exists().then_some(()));
    there.with_context(|| format!("{} was not made", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_when_there_is_an_answer_and_gives_up_when_there_is_none() {
        let mut looks = 0;
        let answer = until(Duration::from_secs(60), || {
            looks += 1;
            (looks == 3).then_some("here")
        });
        assert_eq!((answer, looks), (Some("here"), 3));
        assert_eq!(until(Duration::ZERO, || None::<()>), None);
    }
}
