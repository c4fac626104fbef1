//! Any bytes, split anywhere, give the same report and only clean text.

#![no_main]

use agent_bash_core::{
    ArtifactEnd, ArtifactMeta, OutputLimits, Status, StreamId, Timestamp, Truncation,
};
use agent_bash_sink::{CarriageReturn, OutputSink, SinkOptions, SinkReport};
use libfuzzer_sys::fuzz_target;
use std::time::Duration;

fn report<'b>(chunks: impl Iterator<Item = &'b [u8]>) -> SinkReport {
    let options = SinkOptions {
        limits: OutputLimits {
            truncation: Truncation::Tail { bytes: 64 },
            max_line_chars: Some(40),
        },
        head: None,
        tail: None,
        carriage_return: CarriageReturn::Overwrite,
        stream: StreamId::Merged,
    };
    let meta = ArtifactMeta {
        command: String::new(),
        cwd: "/".into(),
        started_at: Timestamp(0),
    };
    let mut sink = OutputSink::new(options, None, meta);
    for chunk in chunks {
        sink.push(chunk);
    }
    sink.finish(&ArtifactEnd {
        status: Status::Exited { code: 0 },
        duration: Duration::ZERO,
    })
}

fuzz_target!(|bytes: &[u8]| {
    let whole = report([bytes].into_iter());
    // The first byte of the input decides where the input is split.
    let size = usize::from(*bytes.first().unwrap_or(&0)) % 7 + 1;
    assert_eq!(report(bytes.chunks(size)), whole);
    for piece in whole.shown.pieces() {
        assert!(
            piece
                .text
                .chars()
                .all(|c| !c.is_control() || c == '\n' || c == '\t')
        );
    }
});
