// Unread deltas are merged into one of bounded length.

import assert from "node:assert/strict";
import { test } from "node:test";
import { MAX_PENDING_BYTES, PendingDelta } from "../src/deltas.js";

const update = (delta: string, rewind = 0, skipped_bytes = 0) => ({ delta, rewind, skipped_bytes, total_bytes: 0 });

test("rewinding removes pending text, and then text that was read", () => {
  const pending = new PendingDelta();
  assert.equal(pending.take(), undefined);
  pending.add(update("abc"));
  pending.add(update("d", 2));
  assert.deepEqual(pending.take(), { type: "delta", text: "ad", rewind: 0, skipped_bytes: 0, total_bytes: 0 });
  pending.add(update("xyz"));
  pending.add(update("é", 5));
  assert.deepEqual(pending.take(), { type: "delta", text: "é", rewind: 2, skipped_bytes: 0, total_bytes: 0 });
});

test("a pending delta does not grow", () => {
  const pending = new PendingDelta();
  for (let i = 0; i < 100; i += 1) pending.add(update("é".repeat(10_000)));
  const delta = pending.take()!;
  const kept = Buffer.byteLength(delta.text);
  assert.ok(kept <= MAX_PENDING_BYTES && !delta.text.includes("\ufffd"));
  assert.equal(delta.skipped_bytes, 100 * 20_000 - kept);
});
