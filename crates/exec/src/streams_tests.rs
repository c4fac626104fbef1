//! The order of output, and what is moved, copied or lost.

use super::*;
use agent_bash_core::ConsumerFlow;
use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};

/// The chunks of output, with their streams.
#[derive(Default)]
struct Chunks(Vec<(StreamId, Vec<u8>)>);

impl OutputConsumer for Chunks {
    fn chunk(&mut self, stream: StreamId, bytes: &[u8]) -> ConsumerFlow {
        self.0.push((stream, bytes.to_vec()));
        ConsumerFlow::Continue
    }
}

impl Chunks {
    fn bytes(&self) -> Vec<u8> {
        self.0.iter().flat_map(|(_, bytes)| bytes.clone()).collect()
    }
}

fn split_streams(out: io::PipeReader, err: io::PipeReader) -> OutputStreams {
    OutputStreams::of(vec![
        (StreamId::Stdout, out.into()),
        (StreamId::Stderr, err.into()),
    ])
    .unwrap()
}

/// Reads until `is_so` returns true; false if it never does. A child that another test has forked
/// has the pipes open until it executes its program.
fn reads_until(
    streams: &mut OutputStreams,
    chunks: &mut Chunks,
    is_so: impl Fn(&OutputStreams) -> bool,
) -> bool {
    (0..1_000_000).any(|_| {
        streams.read_now(chunks);
        std::thread::yield_now();
        is_so(streams)
    })
}

#[tokio::test]
async fn read_now_reads_available_bytes_without_waiting() {
    let (out, mut writer) = io::pipe().unwrap();
    let (err, held) = io::pipe().unwrap();
    writer.write_all(&vec![b'x'; 60_000]).unwrap();
    let mut streams = split_streams(out, err);
    let mut chunks = Chunks::default();
    streams.read_now(&mut chunks);
    assert_eq!(
        (chunks.bytes().len(), streams.pipes.len()),
        (60_000, 2),
        "no pipe is closed yet"
    );
    writer.write_all(b"end").unwrap();
    drop(writer);
    let has_ended = reads_until(&mut streams, &mut chunks, |it| it.pipes.len() == 1);
    assert!(has_ended && chunks.bytes().len() == 60_003);
    drop(held);
    assert!(reads_until(&mut streams, &mut chunks, OutputStreams::ended));
}

/// Writes output to a pipe, to which output can also be moved.
struct ToPipe {
    pipe: io::PipeWriter,
    can_move: bool,
    received: usize,
}

impl OutputConsumer for ToPipe {
    fn chunk(&mut self, _: StreamId, bytes: &[u8]) -> ConsumerFlow {
        self.received += bytes.len();
        self.pipe.write_all(bytes).unwrap();
        ConsumerFlow::Continue
    }

    fn destination(&self, _: StreamId) -> Option<BorrowedFd<'_>> {
        self.can_move.then(|| self.pipe.as_fd())
    }
}

#[tokio::test]
async fn large_output_is_moved_except_its_last_byte() {
    let first = vec![b'x'; BUFFER_BYTES];
    let second: Vec<u8> = (0..=u8::MAX).cycle().take(MIN_MOVED_BYTES).collect();
    for (can_move, received) in [
        (true, BUFFER_BYTES + 1),
        (false, BUFFER_BYTES + MIN_MOVED_BYTES),
    ] {
        let (out, mut writer) = io::pipe().unwrap();
        let (mut destination, pipe) = io::pipe().unwrap();
        let mut streams = OutputStreams::of(vec![(StreamId::Stdout, out.into())]).unwrap();
        let mut consumer = ToPipe {
            pipe,
            can_move,
            received: 0,
        };
        for printed in [&first, &second] {
            writer.write_all(printed).unwrap();
            let available = || rustix::io::ioctl_fionread(&destination).unwrap();
            while available() < printed.len() as u64 {
                let ready = streams.ready().await;
                streams.read(ready, &mut consumer);
            }
            let mut arrived = vec![0; printed.len()];
            destination.read_exact(&mut arrived).unwrap();
            assert_eq!(&arrived, printed);
        }
        assert_eq!(consumer.received, received, "can move: {can_move}");
    }
}

/// While a reader pauses, the end of the shell must be handled.
#[tokio::test]
async fn bulk_waits_for_no_slow_reader() {
    let (out, mut writer) = io::pipe().unwrap();
    let (mut destination, pipe) = io::pipe().unwrap();
    let mut streams = OutputStreams::of(vec![(StreamId::Stdout, out.into())]).unwrap();
    let mut consumer = ToPipe {
        pipe,
        can_move: true,
        received: 0,
    };
    let mut first = vec![b'1'; BUFFER_BYTES];
    writer.write_all(&first).unwrap();
    let ready = streams.ready().await;
    streams.read(ready, &mut consumer);
    destination.read_exact(&mut first).unwrap();

    let mut full = vec![b'f'; rustix::pipe::fcntl_getpipe_size(&destination).unwrap()];
    consumer.pipe.write_all(&full).unwrap();
    let second = vec![b'2'; MIN_MOVED_BYTES];
    writer.write_all(&second).unwrap();
    // This ends although nothing is read.
    let ready = streams.ready().await;
    streams.read(ready, &mut consumer);
    assert_eq!(consumer.received, BUFFER_BYTES);

    destination.read_exact(&mut full).unwrap();
    while consumer.received == BUFFER_BYTES {
        let ready = streams.ready().await;
        streams.read(ready, &mut consumer);
    }
    let mut arrived = vec![0; MIN_MOVED_BYTES];
    destination.read_exact(&mut arrived).unwrap();
    assert_eq!(arrived, second);
}

#[tokio::test]
async fn output_says_that_its_rest_is_lost_if_a_read_fails() {
    let temp = tempfile::tempdir().unwrap();
    let path = temp.path().join("socket");
    // A listening socket becomes readable, but cannot be read.
    let listener = UnixListener::bind(&path).unwrap();
    let _client = UnixStream::connect(&path).unwrap();
    for (is_now, is_lost) in [(false, false), (false, true), (true, false), (true, true)] {
        let source: OwnedFd = if is_lost {
            listener.try_clone().unwrap().into()
        } else {
            io::pipe().unwrap().0.into()
        };
        let mut streams = OutputStreams::of(vec![(StreamId::Stdout, source)]).unwrap();
        let mut chunks = Chunks::default();
        if is_now {
            assert!(reads_until(&mut streams, &mut chunks, OutputStreams::ended));
        } else {
            let ready = streams.ready().await;
            assert!(streams.read(ready, &mut chunks) == Some(Progress::Ended));
        }
        let text = String::from_utf8(chunks.bytes()).unwrap();
        assert_eq!(
            text.contains("the rest of this output is lost"),
            is_lost,
            "{text}"
        );
        assert!(streams.ended());
        assert_eq!(streams.take_ended(), [StreamId::Stdout]);
    }
}

#[tokio::test]
async fn streams_are_read_in_order_of_arrival() {
    for reversed in [false, true] {
        let (out, mut to_out) = io::pipe().unwrap();
        let (err, mut to_err) = io::pipe().unwrap();
        let mut streams = split_streams(out, err);
        let mut order = [StreamId::Stdout, StreamId::Stderr];
        let mut writers: [&mut io::PipeWriter; 2] = [&mut to_out, &mut to_err];
        if reversed {
            order.reverse();
            writers.reverse();
        }
        for writer in writers {
            writer.write_all(b"x").unwrap();
        }
        let mut chunks = Chunks::default();
        streams.read_now(&mut chunks);
        let read: Vec<StreamId> = chunks.0.iter().map(|(stream, _)| *stream).collect();
        assert_eq!(read, order);
    }
}
