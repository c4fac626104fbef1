"""Unread deltas are merged into one of bounded length."""

from __future__ import annotations

from agent_bash._deltas import MAX_PENDING_BYTES, PendingDelta


def update(text: str, rewind: int = 0, skipped: int = 0) -> dict[str, object]:
    return {"delta": text, "rewind": rewind, "skipped_bytes": skipped, "total_bytes": 0}


def test_rewinding_removes_pending_text_and_then_text_that_was_read() -> None:
    pending = PendingDelta()
    assert pending.take() is None
    pending.add(update("abc"))
    pending.add(update("d", rewind=2))
    delta = pending.take()
    assert delta and (delta.text, delta.rewind) == ("ad", 0)
    pending.add(update("xyz"))
    pending.add(update("é", rewind=5))
    delta = pending.take()
    assert delta and (delta.text, delta.rewind) == ("é", 2)
    assert pending.take() is None


def test_pending_delta_does_not_grow() -> None:
    pending = PendingDelta()
    for _ in range(100):
        pending.add(update("é" * 10_000))
    delta = pending.take()
    assert delta and len(delta.text.encode()) <= MAX_PENDING_BYTES and "\ufffd" not in delta.text
    assert delta.skipped_bytes == 100 * 20_000 - len(delta.text.encode())


def test_skipped_bytes_are_counted_together() -> None:
    pending = PendingDelta()
    pending.add(update("a", skipped=3))
    pending.add(update("b", skipped=4))
    delta = pending.take()
    assert delta and (delta.text, delta.skipped_bytes) == ("ab", 7)
