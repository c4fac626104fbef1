//! Input typed without echo reaches only the program.

#![expect(
    clippy::unwrap_used,
    reason = "test code, also outside of the test functions"
)]

use crate::support::{attend_with, options, spec};
use agent_bash_core::ScriptEnding;
use agent_bash_pty::{PtyExecutor, PtyOptions, PtySize};
use std::io;
use std::sync::{Arc, Mutex};

/// A writer with contents that a test can read.
#[derive(Debug, Clone, Default)]
struct SharedWriter(Arc<Mutex<Vec<u8>>>);

impl io::Write for SharedWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Everything that could contain input: output, recording, screen, scrollback, the handle itself.
async fn traces(script: &str, typed: &str) -> String {
    let executor = PtyExecutor::new(PtyOptions {
        size: PtySize::clamped(80, 24),
        ..options()
    });
    let writer = SharedWriter::default();
    executor.record_next(Box::new(writer.clone()));
    let attended = attend_with(&executor, &spec(script)).await;
    attended.shows("secret?").await;
    attended.enters(typed);
    let outcome = attended.outcome().await;
    assert_eq!(outcome.ending, ScriptEnding::Exited { code: 0 }, "{script}");
    let recording = String::from_utf8(writer.0.lock().unwrap().clone()).unwrap();
    assert!(
        recording.starts_with('{') && recording.contains("\"width\":80"),
        "{recording}"
    );
    assert!(recording.contains("secret?"), "{recording}");
    let screen = format!("{:?}", attended.session.screen());
    let text = attended.session.text().join("\n");
    format!(
        "{}{recording}{screen}{text}{outcome:?}{:?}{:?}",
        attended.collect.text(),
        attended.session,
        attended.session.status(),
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn secret_reaches_only_the_program() {
    let check = "[[ $x == hunter2 ]]";
    let hidden = format!("read -rs -p 'secret? ' x; {check}");
    assert!(!traces(&hidden, "hunter2").await.contains("hunter2"));
    let shown = format!("read -r -p 'secret? ' x; {check}");
    assert!(traces(&shown, "hunter2").await.contains("hunter2"));
}
