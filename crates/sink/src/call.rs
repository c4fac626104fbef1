//! [`CallOutput`]: the output streams of one call, either merged into one sink or kept in two.

use crate::report::SinkReport;
use crate::sanitise::CarriageReturn;
use crate::sink::{OutputSink, SinkOptions};
use agent_bash_core::{
    ArtifactEnd, ArtifactMeta, ArtifactRef, ArtifactStore, ConsumerFlow, Direction, OutputConsumer,
    OutputLimits, OutputMask, OutputPiece, OutputSummary, StreamId, Streams, Truncation, Window,
};
use std::fs::File;
use std::iter;
use std::num::NonZeroU64;
use std::sync::Arc;

/// Output options of a call. All fields are required.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallOptions {
    /// Merged (one sink) or separate (two sinks).
    pub streams: Streams,
    /// Limits per stream; with [`CallOptions::share_window`], of both streams together.
    pub limits: OutputLimits,
    /// The number of first lines of stdout, or of the merged stream, that are shown; `None` for
    /// all.
    pub head: Option<NonZeroU64>,
    /// The number of last lines of stdout, or of the merged stream, that are shown; `None` for all.
    pub tail: Option<NonZeroU64>,
    /// How a lone CR is handled.
    pub carriage_return: CarriageReturn,
    /// True if stdout, a newline and stderr share one window under the `Tail` and `Head` policies
    /// (`workspace`: "100 KB applies to the two joined"); false if each stream has its own window.
    pub share_window: bool,
}

/// Takes the output of one call.
pub struct CallOutput {
    /// The merged stream, or stdout.
    first: OutputSink,
    /// Stderr, if it is kept separate.
    stderr: Option<OutputSink>,
    options: CallOptions,
    /// Upper bound for both streams together, if it is lower than their limits.
    window: Option<Window>,
    /// The file for survivors, once it was requested.
    survivor_file: Option<File>,
}

/// The report on a call's streams.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct CallReport {
    /// The merged stream, or stdout.
    pub first: SinkReport,
    /// Stderr, if it was kept separate.
    pub stderr: Option<SinkReport>,
}

impl CallOutput {
    /// Creates the sinks. `store` stores the full output if a part of it is not shown.
    pub fn new(
        options: CallOptions,
        store: Option<Arc<dyn ArtifactStore>>,
        meta: ArtifactMeta,
    ) -> Self {
        let split = options.streams == Streams::Split;
        let first = SinkOptions {
            limits: options.limits,
            head: options.head,
            tail: options.tail,
            carriage_return: options.carriage_return,
            stream: if split {
                StreamId::Stdout
            } else {
                StreamId::Merged
            },
        };
        let stderr = split.then(|| {
            let stderr = SinkOptions {
                head: None,
                tail: None,
                stream: StreamId::Stderr,
                ..first
            };
            OutputSink::new(stderr, store.clone(), meta.clone())
        });
        Self {
            first: OutputSink::new(first, store, meta),
            stderr,
            options,
            window: None,
            survivor_file: None,
        }
    }

    /// Masks secrets in the shown text. Counts and artifacts refer to the printed bytes.
    #[must_use]
    pub fn masked(mut self, mask: Option<&dyn OutputMask>) -> Self {
        self.first = self.first.masked(mask);
        self.stderr = self.stderr.map(|stderr| stderr.masked(mask));
        self
    }

    /// Takes a piece that is already masked. The artifact does not contain the piece.
    pub fn piece(&mut self, stream: StreamId, piece: OutputPiece<'_>) -> ConsumerFlow {
        self.sink(stream).push_piece(piece)
    }

    /// Limits the shown output to `window` from now on, counted over both streams and regardless of
    /// their limits. The collected output is kept.
    pub fn narrow(&mut self, window: Window) {
        self.window = Some(window);
    }

    /// Returns the number of bytes taken so far from all streams.
    pub fn total_bytes(&self) -> u64 {
        self.first.total_bytes() + self.stderr.as_ref().map_or(0, OutputSink::total_bytes)
    }

    /// Returns the file of the first stream for which it is requested, as
    /// [`OutputSink::take_file_for_survivors`] does: survivors become a job, which has one output.
    pub fn take_file_for_survivors(&mut self, stream: StreamId) -> Option<File> {
        if self.survivor_file.is_none() {
            self.survivor_file = self.sink(stream).take_file_for_survivors();
        }
        self.survivor_file.as_ref()?.try_clone().ok()
    }

    /// Stores the full output even if all of it is shown.
    pub fn store_always(&mut self) {
        for sink in iter::once(&mut self.first).chain(&mut self.stderr) {
            sink.store_always();
        }
    }

    /// Ends the streams and returns their report.
    pub fn finish(self, end: &ArtifactEnd) -> CallReport {
        let Self {
            first,
            stderr,
            options,
            window,
            survivor_file: _,
        } = self;
        let whole = window.unwrap_or(UNBOUNDED_WINDOW);
        let Some(stderr) = stderr else {
            return CallReport {
                first: first.finish_within(whole, end),
                stderr: None,
            };
        };
        let (first, stderr) = match options.limits.truncation {
            Truncation::Head { bytes, .. } if options.share_window => {
                let first = first.finish_within(whole, end);
                let left = rest_of(within(whole, bytes), &first);
                (first, stderr.finish_within(left, end))
            }
            Truncation::Tail { bytes } if options.share_window => {
                let stderr = stderr.finish_within(whole, end);
                let left = rest_of(within(whole, bytes), &stderr);
                (first.finish_within(left, end), stderr)
            }
            // Neither stream may use the whole window.
            _ if window.is_some() => {
                let stderr = stderr.finish_within(whole.half(), end);
                let left = rest_of(whole, &stderr);
                (first.finish_within(left, end), stderr)
            }
            _ => (first.finish(end), stderr.finish(end)),
        };
        CallReport {
            first,
            stderr: Some(stderr),
        }
    }

    fn sink(&mut self, stream: StreamId) -> &mut OutputSink {
        match (&mut self.stderr, stream) {
            (Some(stderr), StreamId::Stderr) => stderr,
            _ => &mut self.first,
        }
    }
}

impl OutputConsumer for CallOutput {
    fn chunk(&mut self, stream: StreamId, bytes: &[u8]) -> ConsumerFlow {
        self.sink(stream).push(bytes)
    }

    fn file_for_survivors(&mut self, stream: StreamId) -> Option<File> {
        self.take_file_for_survivors(stream)
    }
}

/// A window that limits nothing.
const UNBOUNDED_WINDOW: Window = Window {
    bytes: usize::MAX,
    lines: usize::MAX,
};

/// Returns the window limited to `bytes`.
fn within(window: Window, bytes: usize) -> Window {
    Window {
        bytes: bytes.min(window.bytes),
        ..window
    }
}

/// Returns the rest of a shared window after one stream and the separating newline.
fn rest_of(window: Window, report: &SinkReport) -> Window {
    let shown = |count| usize::try_from(count).unwrap_or(usize::MAX);
    match shown(report.summary.shown_bytes) {
        0 => window,
        bytes => window.less(bytes.saturating_add(1), shown(report.summary.shown_lines)),
    }
}

impl CallReport {
    /// Returns the reports, in display order.
    pub fn reports(&self) -> impl Iterator<Item = &SinkReport> {
        iter::once(&self.first).chain(&self.stderr)
    }

    /// Returns the files with full outputs.
    pub fn artifacts(&self) -> Vec<ArtifactRef> {
        self.reports()
            .filter_map(|report| report.artifact.clone())
            .collect()
    }

    /// Returns the counts of both streams as one, stdout first: stderr's line numbers continue
    /// after stdout's.
    pub fn summary(&self) -> OutputSummary {
        let mut all = self.first.summary.clone();
        let Some(stderr) = &self.stderr else {
            return all;
        };
        let more = &stderr.summary;
        let shift = all.total_lines;
        let shifted = |range: &[u64; 2]| [range[0] + shift, range[1] + shift];
        all.shown_ranges
            .extend(more.shown_ranges.iter().map(shifted));
        all.total_bytes += more.total_bytes;
        all.total_lines += more.total_lines;
        all.shown_bytes += more.shown_bytes;
        all.shown_lines += more.shown_lines;
        all.dropped_bytes += more.dropped_bytes;
        all.dropped_lines += more.dropped_lines;
        if !all.truncated {
            all.direction = more.direction;
        }
        all.truncated |= more.truncated;
        all.truncated_by = all.truncated_by.or(more.truncated_by);
        all.binary |= more.binary;
        all
    }

    /// Returns which part of the output is shown. If only one stream was truncated, the part refers
    /// to that stream.
    pub fn direction(&self) -> Direction {
        self.summary().direction
    }

    /// True if both streams are empty.
    pub fn is_empty(&self) -> bool {
        self.reports().all(|report| report.shown.is_empty())
    }
}
