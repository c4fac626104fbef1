//! Turns panics into errors. A panic is a bug of agent-bash or of a component from the host, but
//! the caller must still get a result.
//!
//! Unwinding drops the values of the panicked work, which ends its commands and releases its locks.

use std::any::Any;
use std::future::poll_fn;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::task::Poll;

/// Work that panicked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("internal error of agent-bash ({message}); please report it")]
pub struct WorkPanicked {
    /// The panic message.
    message: String,
}

impl WorkPanicked {
    #[expect(clippy::needless_pass_by_value, reason = "as `map_err` calls it")]
    fn new(payload: Box<dyn Any + Send>) -> Self {
        let text = message(&*payload).to_owned();
        let panicked = Self { message: text };
        tracing::error!("{panicked}");
        panicked
    }
}

/// Returns the message of a panic from its payload.
pub fn message(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<&str>().copied();
    text.or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message")
}

impl From<WorkPanicked> for io::Error {
    fn from(panicked: WorkPanicked) -> Self {
        Self::other(panicked)
    }
}

/// Runs `work`, catching a panic.
///
/// # Errors
/// The work panicked.
pub fn catch_panic<T>(work: impl FnOnce() -> T) -> Result<T, WorkPanicked> {
    // Unwind safe: the work's data is not used afterwards, or is behind locks that handle
    // poisoning.
    catch_unwind(AssertUnwindSafe(work)).map_err(WorkPanicked::new)
}

/// Awaits `work`, catching a panic. Dropping the future drops the work.
///
/// # Errors
/// The work panicked.
pub fn await_catching_panic<F: Future>(
    work: F,
) -> impl Future<Output = Result<F::Output, WorkPanicked>> {
    let mut work = Box::pin(work);
    poll_fn(
        move |context| match catch_panic(|| work.as_mut().poll(context)) {
            Ok(Poll::Pending) => Poll::Pending,
            Ok(Poll::Ready(done)) => Poll::Ready(Ok(done)),
            Err(panicked) => Poll::Ready(Err(panicked)),
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn caught_panic_becomes_an_error_with_its_message() {
        let at = 7;
        let text = |error: WorkPanicked| error.to_string();
        assert_eq!(catch_panic(|| at), Ok(7));
        let fixed = catch_panic(|| panic!("fixed")).map_err(text);
        assert!(matches!(&fixed, Err(text) if text.contains("(fixed)")));
        let made = await_catching_panic(async {
            tokio::task::yield_now().await;
            panic!("made of {at}")
        });
        let made: Result<(), String> = made.await.map_err(text);
        assert!(matches!(&made, Err(text) if text.contains("(made of 7)")));
        let mute = catch_panic(|| std::panic::panic_any(7)).map_err(text);
        assert!(matches!(&mute, Err(text) if text.contains("no message")));
    }
}
