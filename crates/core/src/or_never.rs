//! Waits for something that may be absent, as a branch of a `select`.

use std::future::{Future, pending};

/// Waits for `next`, or for ever if there is nothing to wait for. Cancel safe if `next` is.
pub async fn or_never<T>(next: Option<impl Future<Output = T>>) -> T {
    match next {
        Some(next) => next.await,
        None => pending().await,
    }
}
