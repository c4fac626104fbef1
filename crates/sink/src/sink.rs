//! [`OutputSink`]: one stream of a command's output, from raw bytes to what is shown of it.
//!
//! Only the order of things is here. Cleaning is `sanitise`, lines and windows are `lines` and `window`, the policies
//! are `cut`, the way to disk is `spill`.

use crate::cut::{self, Cut};
use crate::lines::{Lines, Text};
use crate::report::{Shown, SinkReport};
use crate::sanitise::{CarriageReturn, Sanitiser};
use crate::spill::Spill;
use agent_bash_core::{
    ArtifactEnd, ArtifactMeta, ArtifactStore, Flow, OutputLimits, OutputSummary, Status, StreamId,
    TruncatedBy, Truncation, Window,
};
use std::fs::File;
use std::num::NonZeroU64;
use std::sync::Arc;

/// What a sink is to do with its stream. Every field is a decision of the caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SinkOptions {
    /// How much is shown, and which part.
    pub limits: OutputLimits,
    /// Only the first so many lines are wanted.
    pub head: Option<NonZeroU64>,
    /// Only the last so many lines are wanted; of the first `head`, if both are given.
    pub tail: Option<NonZeroU64>,
    /// What a lone CR does.
    pub carriage_return: CarriageReturn,
    /// Which stream this is.
    pub stream: StreamId,
}

/// Bounds, cleans, counts and keeps one stream of output.
///
/// Memory is bounded by the policy's window, whatever is pushed. The report is the same for every way of splitting
/// the same bytes into chunks.
pub struct OutputSink {
    options: SinkOptions,
    sanitiser: Sanitiser,
    lines: Lines,
    spill: Spill,
    kept_for_others: bool,
}

impl OutputSink {
    /// A sink without output. `store` keeps the whole of it where that is needed; without one nothing is kept.
    pub fn new(
        options: SinkOptions,
        store: Option<Arc<dyn ArtifactStore>>,
        meta: ArtifactMeta,
    ) -> Self {
        let policy = options.limits.truncation;
        let tail = options.tail.is_some();
        let mut lines = Lines::new(
            cut::window_sizes(policy, tail),
            options.limits.max_line_chars,
            options.head.map(NonZeroU64::get),
            cut::shrink(policy, tail),
        );
        if options.carriage_return == CarriageReturn::Overwrite {
            lines = lines.or_of_carriage_returns();
        }
        Self {
            options,
            sanitiser: Sanitiser::new(options.carriage_return),
            lines,
            spill: Spill::new(store, meta, options.stream),
            kept_for_others: false,
        }
    }

    /// Takes a chunk, split anywhere. [`Flow::Stop`] once `head` has its lines; more may be pushed, is counted and
    /// goes into the artifact.
    pub fn push(&mut self, bytes: &[u8]) -> Flow {
        self.spill.push(bytes);
        self.sanitiser.push(bytes, &mut self.lines);
        if self.lines.head_satisfied() {
            Flow::Stop
        } else {
            Flow::Continue
        }
    }

    /// A second handle on the artifact, which from here on exists whatever is shown: for processes that outlive the
    /// call and whose output is to go on into it. All that was pushed so far is in it; push no more after handing it
    /// over. `None` where the artifact cannot be kept.
    pub fn take_file_for_survivors(&mut self) -> Option<File> {
        self.kept_for_others = true;
        self.spill.file()
    }

    /// Lets the artifact exist whatever is shown, if anything was printed: somebody has seen less than that.
    pub fn keep(&mut self) {
        self.kept_for_others |= self.total_bytes() > 0;
    }

    /// Bytes pushed so far.
    pub fn total_bytes(&self) -> u64 {
        self.sanitiser.raw()
    }

    /// The stream has ended. Files that are not needed are removed, the one that is needed is completed.
    pub fn finish(self, end: &ArtifactEnd) -> SinkReport {
        let policy = self.options.limits.truncation;
        self.finish_with(policy, usize::MAX, end)
    }

    /// Ends the stream with no more text than `window` holds, where that is less than the policy's own.
    pub fn finish_within(self, window: Window, end: &ArtifactEnd) -> SinkReport {
        let policy = self.options.limits.truncation.within(window);
        self.finish_with(policy, window.lines, end)
    }

    fn finish_with(mut self, policy: Truncation, most: usize, end: &ArtifactEnd) -> SinkReport {
        self.sanitiser.finish(&mut self.lines);
        let raw = self.sanitiser.raw();
        let text = self.lines.finish(raw);
        let (shown, summary) = if self.sanitiser.is_noise() {
            binary(&text, policy, raw)
        } else {
            let tail = self.options.tail.map(NonZeroU64::get);
            let cut = cut::cut_within(&text, policy, most, tail, raw);
            summarise(&text, cut, raw)
        };
        // What `head` and `tail` left out of a success nobody wanted; of a failure it may say why.
        let unwanted = summary.truncated_by == Some(TruncatedBy::HeadTail)
            && end.status == Status::Exited { code: 0 };
        let overwritten = text.overwritten && !summary.binary;
        let needed = (summary.truncated && !unwanted) || overwritten || self.kept_for_others;
        let kept = self.spill.finish(needed, end);
        SinkReport {
            stream: self.options.stream,
            shown,
            summary,
            artifact: kept.artifact,
            artifact_failed: kept.failed,
            overwritten,
            head_satisfied: self
                .options
                .head
                .map(NonZeroU64::get)
                .filter(|_| text.head_cut),
        }
    }
}

fn binary(text: &Text, policy: Truncation, raw: u64) -> (Shown, OutputSummary) {
    let summary = OutputSummary {
        total_bytes: raw,
        total_lines: text.total_lines,
        dropped_bytes: raw,
        dropped_lines: text.total_lines,
        truncated: true,
        direction: policy.direction(),
        binary: true,
        ..OutputSummary::default()
    };
    (Shown::Binary, summary)
}

fn summarise(text: &Text, cut: Cut, raw: u64) -> (Shown, OutputSummary) {
    let mut ranges: Vec<[u64; 2]> = Vec::new();
    for [first, last] in cut.shown.pieces().filter_map(|piece| piece.lines) {
        match ranges.last_mut() {
            // Two ends of one line, or neighbouring lines.
            Some(range) if first <= range[1] + 1 => range[1] = range[1].max(last),
            _ => ranges.push([first, last]),
        }
    }
    let shown_lines = ranges.iter().map(|[first, last]| last - first + 1).sum();
    let summary = OutputSummary {
        total_bytes: raw,
        total_lines: text.total_lines,
        shown_bytes: cut
            .shown
            .pieces()
            .map(|piece| piece.text.len() as u64)
            .sum(),
        shown_lines,
        shown_ranges: ranges,
        dropped_bytes: cut.dropped_bytes,
        dropped_lines: text.total_lines.saturating_sub(shown_lines),
        truncated: cut.truncated_by.is_some(),
        truncated_by: cut.truncated_by,
        direction: cut.direction,
        binary: false,
    };
    (cut.shown, summary)
}
