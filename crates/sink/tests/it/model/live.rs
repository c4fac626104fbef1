//! Live updates on a clock that the test controls.

use super::clean::clean;
use super::fixtures::{split, stream};
use agent_bash_core::{Clock, Timestamp};
use agent_bash_sink::{CarriageReturn, LiveKind, LiveOptions, LiveUpdate, LiveUpdates, TailBuffer};
use proptest::prelude::*;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

#[derive(Debug, Default)]
struct TestClock {
    millis: AtomicU64,
}

impl TestClock {
    fn advance(&self, millis: u64) {
        self.millis.fetch_add(millis, Ordering::Relaxed);
    }
}

#[async_trait::async_trait]
impl Clock for TestClock {
    fn now(&self) -> Duration {
        Duration::from_millis(self.millis.load(Ordering::Relaxed))
    }

    fn wall(&self) -> Timestamp {
        Timestamp(0)
    }

    async fn sleep(&self, duration: Duration) {
        let until = self.now() + duration;
        let over = || self.now() >= until;
        poll_fn(|_| {
            if over() {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        })
        .await;
    }
}

fn live(kind: LiveKind, max_bytes: usize) -> (LiveUpdates, TestClock) {
    let clock = TestClock::default();
    (LiveUpdates::new(LiveOptions::new(kind, max_bytes)), clock)
}

/// Polls the next update once.
fn poll(live: &LiveUpdates, clock: &TestClock) -> Poll<Option<LiveUpdate>> {
    pin!(live.next(clock)).poll(&mut Context::from_waker(Waker::noop()))
}

fn text(update: Poll<Option<LiveUpdate>>) -> Option<String> {
    match update {
        Poll::Ready(Some(LiveUpdate::Snapshot { text, .. } | LiveUpdate::Delta { text, .. })) => {
            Some(text)
        }
        Poll::Ready(None) => Some("(end)".to_owned()),
        Poll::Ready(other) => panic!("{other:?}"),
        Poll::Pending => None,
    }
}

#[test]
fn updates_are_spaced_and_include_the_last() {
    for (kind, second, last) in [
        (LiveKind::Snapshot, "abc", "abcde"),
        (LiveKind::Delta, "bc", "de"),
    ] {
        let (live, clock) = live(kind, 1000);
        let steps: [(u64, &str, bool, Option<&str>); 12] = [
            (0, "", false, None),
            (0, "a", false, Some("a")),
            (0, "b", false, None),
            (49, "c", false, None),
            (1, "", false, Some(second)),
            (500, "", false, None),
            // Nothing visible, so nothing is repeated.
            (0, "\x1b[0m", false, None),
            (500, "", false, None),
            (
                0,
                "d",
                false,
                Some(if kind == LiveKind::Snapshot {
                    "abcd"
                } else {
                    "d"
                }),
            ),
            (10, "e", true, None),
            (
                40,
                "",
                true,
                Some(if kind == LiveKind::Snapshot {
                    last
                } else {
                    "e"
                }),
            ),
            (0, "", true, Some("(end)")),
        ];
        for (at, (wait, push, end, want)) in steps.into_iter().enumerate() {
            clock.advance(wait);
            live.push(push.as_bytes());
            if end {
                live.end();
            }
            assert_eq!(
                text(poll(&live, &clock)).as_deref(),
                want,
                "{kind:?} step {at}"
            );
        }
    }
}

#[test]
fn output_and_end_wake_the_watcher() {
    let (live, clock) = live(LiveKind::Snapshot, 1000);
    let mut waiting = pin!(live.next(&clock));
    let woken = Arc::new(Woken::default());
    let waker = Waker::from(Arc::clone(&woken));
    let context = &mut Context::from_waker(&waker);
    assert!(waiting.as_mut().poll(context).is_pending());
    assert_eq!(woken.count(), 0);
    live.push(b"x");
    live.push(b"y");
    assert_eq!(woken.count(), 1);
    assert_eq!(text(waiting.as_mut().poll(context)).as_deref(), Some("xy"));
    let mut waiting = pin!(live.next(&clock));
    assert!(waiting.as_mut().poll(context).is_pending());
    live.end();
    assert_eq!(woken.count(), 2);
    assert_eq!(
        text(waiting.as_mut().poll(context)).as_deref(),
        Some("(end)")
    );
}

#[derive(Default)]
struct Woken(AtomicU64);

impl Woken {
    fn count(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn raw_updates_are_unchanged_and_keep_the_end_of_a_flood() {
    let (live, _) = live(LiveKind::Raw, 256 << 10);
    let woken = Arc::new(Woken::default());
    let waker = Waker::from(Arc::clone(&woken));
    assert_eq!(live.take(&waker), None);
    live.push(b"\x1b[1mbegun");
    live.push(b"!");
    assert_eq!(woken.count(), 1);
    let begun = LiveUpdate::Raw {
        bytes: b"\x1b[1mbegun!".to_vec(),
        skipped_lines: 0,
        total_bytes: 10,
    };
    assert_eq!(live.take(&waker), Some(begun));
    for _ in 0..1_000_000 {
        live.push(b"y\n");
    }
    let Some(LiveUpdate::Raw {
        bytes,
        skipped_lines,
        total_bytes,
    }) = live.take(&waker)
    else {
        panic!("there is output");
    };
    assert!(bytes.len() <= 256 << 10 && bytes.starts_with(b"y\n"));
    assert_eq!(skipped_lines + bytes.len() as u64 / 2, 1_000_000);
    assert_eq!(total_bytes, 2_000_010);
    assert_eq!(live.take(&waker), None);
}

#[test]
fn end_without_new_output_is_immediate() {
    let (live, clock) = live(LiveKind::Delta, 1000);
    live.push(b"x");
    assert_eq!(text(poll(&live, &clock)).as_deref(), Some("x"));
    live.end();
    assert_eq!(text(poll(&live, &clock)).as_deref(), Some("(end)"));
}

#[test]
fn skipped_output_is_counted() {
    let (live, clock) = live(LiveKind::Delta, 10);
    live.push(b"begun");
    poll(&live, &clock).is_ready();
    clock.advance(50);
    live.push(&b"x\n".repeat(500));
    let Poll::Ready(Some(update)) = poll(&live, &clock) else {
        panic!("due")
    };
    let text = "x\nx\nx\nx\nx\n".to_owned();
    let want = LiveUpdate::Delta {
        rewind: 0,
        text,
        skipped_bytes: 990,
        total_bytes: 1005,
    };
    assert_eq!(update, want);
}

#[test]
fn tail_update_is_bounded_and_has_whole_lines() {
    let mut tail = TailBuffer::new(10, CarriageReturn::Overwrite);
    for (push, want) in [
        ("one\n", "one\n"),
        ("two\n", "one\ntwo\n"),
        ("three\n", "three\n"),
        ("0123456789abcdef", "6789abcdef"),
        ("€€€€", "€€€"),
    ] {
        tail.push(push.as_bytes());
        assert_eq!(tail.snapshot(), want);
    }
    assert_eq!(tail.total_bytes(), 42);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn deltas_concatenate_to_the_text(
        bytes in stream(),
        cuts in prop::collection::vec(any::<usize>(), 0..20),
    ) {
        let (live, clock) = live(LiveKind::Delta, 1 << 20);
        let mut text = String::new();
        let mut apply = |live: &LiveUpdates, clock: &TestClock| {
            if let Poll::Ready(Some(LiveUpdate::Delta { rewind, text: more, skipped_bytes, .. })) = poll(live, clock) {
                assert_eq!(skipped_bytes, 0);
                text.truncate(text.len() - rewind);
                text.push_str(&more);
            }
        };
        for chunk in split(&bytes, &cuts) {
            live.push(chunk);
            clock.advance(50);
            apply(&live, &clock);
        }
        live.end();
        clock.advance(50);
        apply(&live, &clock);
        prop_assert_eq!(text, clean(&bytes, CarriageReturn::Overwrite));
    }
}
