//! The output so far of a running call, cleaned, truncated and counted like the output of a result.

use agent_bash::core::{
    ArtifactEnd, ArtifactMeta, OutputLimits, OutputSummary, Status, StreamId, Streams, Timestamp,
    TruncatedBy, Truncation, Window,
};
use agent_bash::sink::{CallOptions, CallOutput, CarriageReturn};
use agent_bash::tools::{OutputPart, output_text};
use std::num::NonZeroU64;
use std::time::Duration;

/// The end of a call's output so far.
#[derive(Debug)]
pub(super) struct OutputSoFar {
    /// The text to show.
    pub(super) text: String,
    /// Counts of all output so far.
    pub(super) output: OutputSummary,
    /// Offset in the output at which the shown text begins.
    pub(super) from: u64,
}

impl OutputSoFar {
    /// Returns the last output of `part` that fits `window`, at most `tail` lines. `part` begins at
    /// byte `requested`, or later if earlier bytes were dropped.
    pub(super) fn of(
        part: &OutputPart,
        requested: u64,
        tail: Option<NonZeroU64>,
        window: Window,
    ) -> Self {
        let options = CallOptions {
            streams: Streams::Merged,
            limits: OutputLimits {
                truncation: Truncation::Tail {
                    bytes: window.bytes,
                },
                max_line_chars: None,
            },
            head: None,
            tail,
            carriage_return: CarriageReturn::Overwrite,
            share_window: true,
        };
        // No artifact is written here, so its metadata and its end are not used.
        let (meta, end) = (empty_meta(), unused_end());
        let mut output = CallOutput::new(options, None, meta);
        output.narrow(window);
        for piece in part.output.pieces() {
            output.piece(StreamId::Merged, piece);
        }
        let report = output.finish(&end);
        let mut output = report.summary();
        let from = part.from + output.dropped_bytes;
        if part.from > requested && !output.truncated {
            output.truncated = true;
            output.truncated_by = Some(TruncatedBy::Bytes);
        }
        output.total_bytes += part.from;
        output.dropped_bytes += part.from;
        output.total_lines += part.lines_before;
        output.dropped_lines += part.lines_before;
        for line in output.shown_ranges.iter_mut().flatten() {
            *line += part.lines_before;
        }
        Self {
            text: output_text(&[report.first]),
            output,
            from,
        }
    }

    /// Returns `lines 4001-5000 of 5000`, if not all requested output is shown.
    pub(super) fn shown_range(&self) -> Option<String> {
        let [first, last] = self.output.shown_ranges.first()?;
        let total = self.output.total_lines;
        self.output
            .truncated
            .then(|| format!("lines {first}-{last} of {total}"))
    }
}

fn empty_meta() -> ArtifactMeta {
    ArtifactMeta {
        command: String::new(),
        cwd: String::new(),
        started_at: Timestamp(0),
    }
}

fn unused_end() -> ArtifactEnd {
    ArtifactEnd {
        status: Status::Cancelled,
        duration: Duration::ZERO,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use agent_bash::core::MaskedPart;

    const TEST_WINDOW: Window = Window {
        bytes: 16,
        lines: 3,
    };

    fn part(from: u64, lines_before: u64, bytes: &[u8]) -> OutputPart {
        OutputPart {
            output: MaskedPart::unmasked(bytes.to_vec()),
            from,
            total: from + bytes.len() as u64,
            lines_before,
            unread_from: from,
            head: Vec::new(),
            lines: 0,
        }
    }

    #[test]
    fn output_so_far_counts_all_output() {
        let earlier = || part(100, 7, b"a\nb\n");
        let (lines, long) = (b"a\nb\nc\nd\n", b"0123456789\nabcdefghij\n");
        for (part, requested, text, ranges, total_lines, dropped, from) in [
            (
                part(0, 0, b"a\nb\n"),
                0,
                "a\nb\n",
                vec![[1, 2]],
                2,
                (0, 0),
                0,
            ),
            (part(0, 0, b""), 0, "", vec![], 0, (0, 0), 0),
            // First more lines than the window holds, then more bytes.
            (
                part(0, 0, lines),
                0,
                "b\nc\nd\n",
                vec![[2, 4]],
                4,
                (2, 1),
                2,
            ),
            (
                part(0, 0, long),
                0,
                "abcdefghij\n",
                vec![[2, 2]],
                2,
                (11, 1),
                11,
            ),
            // Earlier output is counted, whether it was requested or not.
            (earlier(), 100, "a\nb\n", vec![[8, 9]], 9, (100, 7), 100),
            (earlier(), 0, "a\nb\n", vec![[8, 9]], 9, (100, 7), 100),
        ] {
            let is_all = part.from <= requested && dropped.0 == part.from;
            let so_far = OutputSoFar::of(&part, requested, None, TEST_WINDOW);
            let output = &so_far.output;
            assert_eq!((so_far.text.as_str(), so_far.from), (text, from));
            assert_eq!(
                (&output.shown_ranges, output.total_lines),
                (&ranges, total_lines)
            );
            assert_eq!((output.dropped_bytes, output.dropped_lines), dropped);
            assert_eq!(output.total_bytes, part.total);
            assert_eq!(output.truncated, !is_all);
            assert_eq!(so_far.shown_range().is_some(), !is_all);
            assert_eq!(
                output.shown_lines + output.dropped_lines,
                output.total_lines
            );
        }
    }

    #[test]
    fn output_so_far_shows_requested_last_lines() {
        let so_far = OutputSoFar::of(
            &part(10, 2, b"a\nb\nc\n"),
            0,
            NonZeroU64::new(2),
            TEST_WINDOW,
        );
        assert_eq!(so_far.text, "b\nc\n");
        assert_eq!(so_far.shown_range().as_deref(), Some("lines 4-5 of 5"));
    }
}
