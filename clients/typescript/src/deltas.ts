// Live output for a slow consumer: unread output is merged into one delta of bounded length.

/**
 * The output of a running command since the last delta. First `rewind` bytes are taken off the end of the text so far
 * (a progress bar redraws itself), then `text` is appended. `skipped_bytes` were left out before it because they came
 * too fast.
 */
export interface Delta {
  type: "delta";
  text: string;
  rewind: number;
  skipped_bytes: number;
  total_bytes: number;
}

/** The maximum of unread output, in bytes. More is skipped, from the front, and counted. */
export const MAX_PENDING_BYTES = 256 * 1024;

/** The unread deltas, merged into one. */
export class PendingDelta {
  private text = Buffer.alloc(0);
  private rewind = 0;
  private skipped = 0;
  private total = 0;
  private waiting = false;

  add(update: { delta: string; rewind: number; skipped_bytes: number; total_bytes: number }): void {
    const unreadRewind = Math.min(update.rewind, this.text.length);
    this.text = this.text.subarray(0, this.text.length - unreadRewind);
    // The rest of a rewind concerns text that was read; skipped text cannot be rewound.
    if (this.skipped === 0) this.rewind += update.rewind - unreadRewind;
    this.skipped += update.skipped_bytes;
    this.text = Buffer.concat([this.text, Buffer.from(update.delta)]);
    this.total = update.total_bytes;
    this.waiting = true;
    let excess = this.text.length - MAX_PENDING_BYTES;
    if (excess > 0) {
      // Not in the middle of a character.
      while (excess < this.text.length && (this.text[excess]! & 0xc0) === 0x80) excess += 1;
      this.skipped += excess;
      this.text = this.text.subarray(excess);
    }
  }

  /** The merged delta, if there is any. */
  take(): Delta | undefined {
    if (!this.waiting) return undefined;
    const delta: Delta = {
      type: "delta",
      text: this.text.toString(),
      rewind: this.rewind,
      skipped_bytes: this.skipped,
      total_bytes: this.total,
    };
    this.text = Buffer.alloc(0);
    this.rewind = this.skipped = 0;
    this.waiting = false;
    return delta;
  }
}
