//! Proptest strategies for streams, and an in-memory store.

use agent_bash_core::{
    ArtifactEnd, ArtifactError, ArtifactId, ArtifactMeta, ArtifactRef, ArtifactStore,
    ArtifactWriter, OutputLimits, Status, StreamId, Timestamp, Truncation,
};
use agent_bash_sink::{CarriageReturn, OutputSink, SinkOptions, SinkReport};
use proptest::prelude::*;
use std::fs::File;
use std::io;
use std::num::NonZeroU64;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Generates streams with all input that the sink treats specially.
pub(crate) fn stream() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        4 => "[a-z ]{0,12}".prop_map(String::into_bytes),
        4 => Just(b"\n".to_vec()),
        2 => "[a-z]{20,70}\n".prop_map(String::into_bytes),
        1 => "[a-z]{40,300}".prop_map(String::into_bytes),
        2 => Just(b"\r".to_vec()),
        1 => Just(b"\r\n".to_vec()),
        2 => "[é中🙂“1ア\u{202e}\u{200d}\u{fe0f}\u{e0041}\u{3164}\u{85}\u{9b}\u{feff}ߐ]{1,6}".prop_map(String::into_bytes),
        2 => prop::collection::vec(any::<u8>(), 0..6),
        2 => "\x1b\\[[0-9;?]{0,6}[mKHJ]".prop_map(String::into_bytes),
        1 => "\x1b\\[0?[0-3]?[GK]".prop_map(String::into_bytes),
        2 => "\x1b\\[(0|[1-9]|[12][0-9])?[CDG@PX]".prop_map(String::into_bytes),
        1 => "\x08{1,4}".prop_map(String::into_bytes),
        1 => "\0{1,12}".prop_map(String::into_bytes),
        1 => "\x1b\\][0-9];[a-zé]{0,9}(\x07|\x1b\\\\|)".prop_map(String::into_bytes),
        1 => "\x1b[PX^_][a-z;\n]{0,9}(\x1b\\\\|\x18|)".prop_map(String::into_bytes),
        1 => "\x1b[\x20-\x7e]{1,3}".prop_map(String::into_bytes),
        1 => "\x1b\x7f?[\\]P_][a-z]{0,3}\n?".prop_map(String::into_bytes),
        1 => "\x1b\\[[ -?\n\x1b\x7f]{0,4}".prop_map(String::into_bytes),
    ];
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

/// Generates streams that are certainly not binary: without NULs, and with more than half of the
/// bytes printable.
pub(crate) fn text_stream() -> impl Strategy<Value = Vec<u8>> {
    (stream(), any::<bool>()).prop_map(|(mut stream, filler_first)| {
        for byte in &mut stream {
            *byte = if *byte == 0 { b'0' } else { *byte };
        }
        let filler = b"#\n".repeat(stream.len());
        if filler_first {
            [filler, stream].concat()
        } else {
            [stream, filler].concat()
        }
    })
}

/// Generates policies with small windows, so that every boundary is reached.
pub(crate) fn policy() -> impl Strategy<Value = Truncation> {
    prop_oneof![
        (0usize..200).prop_map(|bytes| Truncation::Tail { bytes }),
        (0usize..200, proptest::bool::ANY)
            .prop_map(|(bytes, whole_lines)| Truncation::Head { bytes, whole_lines }),
        (0usize..60, 0usize..200).prop_map(|(ends, more)| Truncation::Middle {
            max: ends * 2 + more,
            ends
        }),
        (0usize..200, 2usize..20).prop_map(|(max_bytes, lines)| Truncation::HeadTail {
            max_bytes,
            max_lines: lines,
            head_lines: lines / 2,
            tail_lines: lines / 2,
        }),
    ]
}

pub(crate) fn options() -> impl Strategy<Value = SinkOptions> {
    let limit = || prop::option::of((1u64..30).prop_map(|n| NonZeroU64::new(n).unwrap()));
    let cr = prop_oneof![
        Just(CarriageReturn::Overwrite),
        Just(CarriageReturn::Newline)
    ];
    (policy(), prop::option::of(1usize..40), limit(), limit(), cr).prop_map(
        |(truncation, max_line_chars, head, tail, carriage_return)| SinkOptions {
            limits: OutputLimits {
                truncation,
                max_line_chars,
            },
            head,
            tail,
            carriage_return,
            stream: StreamId::Merged,
        },
    )
}

/// Returns options with which a sink cleans but never cuts.
pub(crate) fn whole(carriage_return: CarriageReturn) -> SinkOptions {
    SinkOptions {
        limits: OutputLimits {
            truncation: Truncation::Tail { bytes: 1 << 20 },
            max_line_chars: None,
        },
        head: None,
        tail: None,
        carriage_return,
        stream: StreamId::Merged,
    }
}

pub(crate) fn end() -> ArtifactEnd {
    ArtifactEnd {
        status: Status::Exited { code: 0 },
        duration: Duration::from_millis(1),
    }
}

pub(crate) fn meta() -> ArtifactMeta {
    ArtifactMeta {
        command: "true".into(),
        cwd: "/".into(),
        started_at: Timestamp(0),
    }
}

/// Pushes the chunks into a sink; returns the report and the contents of the store.
pub(crate) fn run<'a>(
    options: SinkOptions,
    chunks: impl IntoIterator<Item = &'a [u8]>,
) -> (SinkReport, Vec<Vec<u8>>) {
    let store = Arc::new(MemoryStore::default());
    let mut sink = OutputSink::new(options, Some(store.clone()), meta());
    for chunk in chunks {
        sink.push(chunk);
    }
    let report = sink.finish(&end());
    let kept = store.stored.lock().unwrap().clone();
    (report, kept)
}

/// Splits `bytes` at the given indices.
pub(crate) fn split<'a>(bytes: &'a [u8], cuts: &[usize]) -> Vec<&'a [u8]> {
    let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut % (bytes.len() + 1)).collect();
    cuts.sort_unstable();
    cuts.push(bytes.len());
    let mut from = 0;
    cuts.into_iter()
        .map(|to| &bytes[std::mem::replace(&mut from, to)..to])
        .collect()
}

/// A store in memory that keeps finished artifacts.
#[derive(Debug, Default)]
pub(crate) struct MemoryStore {
    pub(crate) stored: Arc<Mutex<Vec<Vec<u8>>>>,
}

struct MemoryWriter {
    bytes: Vec<u8>,
    stored: Arc<Mutex<Vec<Vec<u8>>>>,
}

impl ArtifactStore for MemoryStore {
    fn create(
        &self,
        _: &ArtifactMeta,
        _: StreamId,
    ) -> Result<Box<dyn ArtifactWriter>, ArtifactError> {
        Ok(Box::new(MemoryWriter {
            bytes: Vec::new(),
            stored: self.stored.clone(),
        }))
    }
}

impl ArtifactWriter for MemoryWriter {
    fn write(&mut self, bytes: &[u8]) -> Result<(), ArtifactError> {
        self.bytes.extend(bytes);
        Ok(())
    }

    fn file(&self) -> io::Result<File> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn finish(self: Box<Self>, _: &ArtifactEnd) -> Result<ArtifactRef, ArtifactError> {
        let mut kept = self.stored.lock().unwrap();
        kept.push(self.bytes);
        let id = ArtifactId(kept.len() as u64 - 1);
        let mut artifact = ArtifactRef::new(id, "", StreamId::Merged);
        artifact.bytes = kept.last().map_or(0, Vec::len) as u64;
        Ok(artifact)
    }
}
