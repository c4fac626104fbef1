//! [`OutputSink`]: one stream of a command's output, from raw bytes to what is shown.
//!
//! This module has the sequence of steps. Cleaning is in `sanitise`, lines and windows in `lines`
//! and `window`, the policies in `cut`, writing to disk in `spill`.

use crate::cut::{self, CutText};
use crate::lines::{StreamLines, StreamText};
use crate::report::{ShownOutput, SinkReport};
use crate::sanitise::{CarriageReturn, Sanitiser};
use crate::spill::Spill;
use agent_bash_core::{
    ArtifactEnd, ArtifactMeta, ArtifactStore, ConsumerFlow, MaskStream, OutputLimits, OutputMask,
    OutputPiece, OutputSummary, Status, StreamId, TruncatedBy, Truncation, Window,
};
use std::fs::File;
use std::num::NonZeroU64;
use std::sync::Arc;

/// Options of a sink. All fields are required.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SinkOptions {
    /// The size and the part of the output that is shown.
    pub limits: OutputLimits,
    /// The number of first lines that are shown; `None` for all.
    pub head: Option<NonZeroU64>,
    /// The number of last lines that are shown (of the first `head` lines, if both are given);
    /// `None` for all.
    pub tail: Option<NonZeroU64>,
    /// How a lone CR is handled.
    pub carriage_return: CarriageReturn,
    /// The stream of this sink.
    pub stream: StreamId,
}

/// Limits, cleans, counts and stores one stream of output.
///
/// Memory is bounded by the policy's window, however much is pushed. The report does not depend on
/// how the bytes were split into chunks.
pub struct OutputSink {
    options: SinkOptions,
    sanitiser: Sanitiser,
    lines: StreamLines,
    spill: Spill,
    /// True if the caller asked for the artifact even if all output is shown.
    is_artifact_requested: bool,
    mask: Option<Box<dyn MaskStream>>,
    /// Number of masked secrets.
    masked: u64,
}

impl OutputSink {
    /// Creates a sink. `store` stores the full output if a part of it is not shown; without a
    /// store, the full output is dropped.
    pub fn new(
        options: SinkOptions,
        store: Option<Arc<dyn ArtifactStore>>,
        meta: ArtifactMeta,
    ) -> Self {
        let policy = options.limits.truncation;
        let tail = options.tail.is_some();
        let mut lines = StreamLines::new(
            cut::window_sizes(policy, tail),
            options.limits.max_line_chars,
            options.head.map(NonZeroU64::get),
            cut::shrink_limit(policy, tail),
        );
        if options.carriage_return == CarriageReturn::Overwrite {
            lines = lines.with_cr_line_ends();
        }
        Self {
            options,
            sanitiser: Sanitiser::new(options.carriage_return),
            lines,
            spill: Spill::new(store, meta, options.stream),
            is_artifact_requested: false,
            mask: None,
            masked: 0,
        }
    }

    /// Masks secrets in the shown text. Counts and the artifact refer to the printed bytes.
    #[must_use]
    pub fn masked(mut self, mask: Option<&dyn OutputMask>) -> Self {
        self.mask = mask.map(OutputMask::stream);
        self
    }

    /// Takes a chunk, split anywhere. Returns [`ConsumerFlow::Stop`] once `head` has its lines;
    /// later bytes are still counted and stored in the artifact.
    pub fn push(&mut self, bytes: &[u8]) -> ConsumerFlow {
        self.spill.push(bytes);
        if let Some(mut mask) = self.mask.take() {
            mask.push(bytes, &mut |piece| self.show(piece));
            self.mask = Some(mask);
        } else {
            self.sanitiser.push(bytes, &mut self.lines);
        }
        self.flow()
    }

    /// Takes a piece that is already masked, which is not stored.
    pub(crate) fn push_piece(&mut self, piece: OutputPiece<'_>) -> ConsumerFlow {
        self.show(piece);
        self.flow()
    }

    fn show(&mut self, piece: OutputPiece<'_>) {
        self.masked += u64::from(is_mask(piece));
        self.sanitiser.piece(piece, &mut self.lines);
    }

    fn flow(&self) -> ConsumerFlow {
        if self.lines.head_satisfied() {
            ConsumerFlow::Stop
        } else {
            ConsumerFlow::Continue
        }
    }

    /// Returns a second handle to the artifact, for processes that outlive the call and keep
    /// writing. The artifact then exists even if all output is shown, and contains all bytes pushed
    /// so far. Do not push more bytes afterwards. `None` if the artifact cannot be stored.
    pub fn take_file_for_survivors(&mut self) -> Option<File> {
        self.is_artifact_requested = true;
        self.spill.file()
    }

    /// Stores the artifact even if all output is shown, unless the output is empty. For callers
    /// that show less than the report does.
    pub fn store_always(&mut self) {
        self.is_artifact_requested |= self.total_bytes() > 0;
    }

    /// Returns the number of pushed bytes.
    pub fn total_bytes(&self) -> u64 {
        let held = self.mask.as_ref().map_or(0, |mask| mask.held_bytes());
        self.sanitiser.raw() + held as u64
    }

    /// Ends the stream. Finishes the artifact if it is needed, and removes it otherwise.
    pub fn finish(self, end: &ArtifactEnd) -> SinkReport {
        let policy = self.options.limits.truncation;
        self.finish_with(policy, usize::MAX, end)
    }

    /// Ends the stream. Shows no more text than `window` and the policy allow.
    pub fn finish_within(self, window: Window, end: &ArtifactEnd) -> SinkReport {
        let policy = self.options.limits.truncation.within(window);
        self.finish_with(policy, window.lines, end)
    }

    /// Ends the stream and shows at most `max_lines` lines.
    fn finish_with(
        mut self,
        policy: Truncation,
        max_lines: usize,
        end: &ArtifactEnd,
    ) -> SinkReport {
        if let Some(mut mask) = self.mask.take() {
            mask.finish(&mut |piece| self.show(piece));
        }
        self.sanitiser.finish(&mut self.lines);
        let raw = self.sanitiser.raw();
        let text = self.lines.finish(raw);
        let (shown, summary) = if self.sanitiser.is_noise() {
            binary(&text, policy, raw)
        } else {
            let tail = self.options.tail.map(NonZeroU64::get);
            let cut = cut::cut_within(&text, policy, max_lines, tail, raw);
            summarise(&text, cut, raw)
        };
        // If the command succeeded, lines that `head` and `tail` omit are not needed. If it failed,
        // they may contain the reason.
        let unwanted = summary.truncated_by == Some(TruncatedBy::HeadTail)
            && end.status == Status::Exited { code: 0 };
        let overwritten = text.overwritten && !summary.binary;
        let needed = (summary.truncated && !unwanted) || overwritten || self.is_artifact_requested;
        let stored = self.spill.finish(needed, end);
        SinkReport {
            stream: self.options.stream,
            shown,
            summary,
            artifact: stored.artifact,
            artifact_error: stored.failed,
            overwritten,
            masked_secrets: self.masked,
            head_satisfied: self
                .options
                .head
                .map(NonZeroU64::get)
                .filter(|_| text.head_cut),
        }
    }
}

/// True if a masked secret begins at the piece.
fn is_mask(piece: OutputPiece<'_>) -> bool {
    matches!(piece, OutputPiece::Masked { text, .. } if !text.is_empty())
}

/// Returns the report on binary output, which is not shown.
fn binary(text: &StreamText, policy: Truncation, raw: u64) -> (ShownOutput, OutputSummary) {
    let mut summary = OutputSummary::default();
    summary.total_bytes = raw;
    summary.total_lines = text.total_lines;
    summary.dropped_bytes = raw;
    summary.dropped_lines = text.total_lines;
    summary.truncated = true;
    summary.direction = policy.direction();
    summary.binary = true;
    (ShownOutput::Binary, summary)
}

/// Returns the shown part and its counts.
fn summarise(text: &StreamText, cut: CutText, raw: u64) -> (ShownOutput, OutputSummary) {
    let mut ranges: Vec<[u64; 2]> = Vec::new();
    for [first, last] in cut.shown.pieces().filter_map(|piece| piece.lines) {
        match ranges.last_mut() {
            // The pieces are two ends of one line, or adjacent lines.
            Some(range) if first <= range[1] + 1 => range[1] = range[1].max(last),
            _ => ranges.push([first, last]),
        }
    }
    let shown_lines = ranges.iter().map(|[first, last]| last - first + 1).sum();
    let mut summary = OutputSummary::default();
    summary.total_bytes = raw;
    summary.total_lines = text.total_lines;
    summary.shown_bytes = cut
        .shown
        .pieces()
        .map(|piece| piece.text.len() as u64)
        .sum();
    summary.shown_lines = shown_lines;
    summary.shown_ranges = ranges;
    summary.dropped_bytes = cut.dropped_bytes;
    summary.dropped_lines = text.total_lines.saturating_sub(shown_lines);
    summary.truncated = cut.truncated_by.is_some();
    summary.truncated_by = cut.truncated_by;
    summary.direction = cut.direction;
    (cut.shown, summary)
}
