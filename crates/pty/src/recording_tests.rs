use super::*;
use agent_bash_process::SystemClock;
use serde_json::Value;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

#[derive(Clone, Default)]
struct SharedWriter(Arc<Mutex<Vec<u8>>>);

impl Write for SharedWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A disk that fails after some writes, and the number of attempts.
#[derive(Clone)]
struct Full(usize, Arc<AtomicUsize>);

impl Write for Full {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.1.fetch_add(1, Ordering::Relaxed) < self.0 {
            Ok(bytes.len())
        } else {
            Err(io::ErrorKind::StorageFull.into())
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn record(out: impl Write + Send + 'static, chunks: &[&[u8]]) {
    let size = PtySize::clamped(80, 24);
    let mut recording = Recording::start(Box::new(out), Arc::new(SystemClock::new()), size);
    for chunk in chunks {
        recording.output(chunk);
    }
    recording.resized(PtySize::clamped(100, 30));
    recording.finish();
}

#[test]
fn recording_is_asciicast() {
    let writer = SharedWriter::default();
    record(writer.clone(), &[b"a\x1b[1m\r\n", "b".as_bytes()]);
    let text = String::from_utf8(writer.0.lock().unwrap().clone()).unwrap();
    let lines: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines[0]["version"], 2);
    assert_eq!(
        (&lines[0]["width"], &lines[0]["height"]),
        (&json!(80), &json!(24))
    );
    let events: Vec<(&Value, &Value)> =
        lines[1..].iter().map(|line| (&line[1], &line[2])).collect();
    assert_eq!(
        events,
        [
            (&json!("o"), &json!("a\x1b[1m\r\n")),
            (&json!("o"), &json!("b")),
            (&json!("r"), &json!("100x30")),
        ]
    );
    let times: Vec<f64> = lines[1..]
        .iter()
        .map(|line| line[0].as_f64().unwrap())
        .collect();
    assert!(times.is_sorted());
}

#[test]
fn recorded_characters_are_never_split() {
    for (chunks, wanted) in [
        (&[&b"\xe6\xbc"[..], b"\xa2"][..], "漢"),
        (&[b"\xf0", b"\x9f", b"\x98", b"\x80"], "😀"),
        (&[b"\xff"], "\u{fffd}"),
        (&[b"\xe6\xbc"], "\u{fffd}"),
        (&[b"\x80\x80"], "\u{fffd}\u{fffd}"),
    ] {
        let writer = SharedWriter::default();
        record(writer.clone(), chunks);
        let text = String::from_utf8(writer.0.lock().unwrap().clone()).unwrap();
        let output: String = text
            .lines()
            .skip(1)
            .map(|line| serde_json::from_str::<Value>(line).unwrap())
            .filter(|event| event[1] == "o")
            .map(|event| event[2].as_str().unwrap().to_owned())
            .collect();
        assert_eq!(output, wanted, "{chunks:?}");
    }
}

#[test]
fn full_disk_ends_only_the_recording() {
    // Of four writes: the header, two outputs, a resize.
    for (room, tried) in [(0, 1), (2, 3), (100, 4)] {
        let writes = Arc::new(AtomicUsize::new(0));
        record(Full(room, Arc::clone(&writes)), &[b"a", b"b"]);
        // After the first failure nothing more is written; only the log mentions it.
        assert_eq!(writes.load(Ordering::Relaxed), tried, "room for {room}");
    }
}
