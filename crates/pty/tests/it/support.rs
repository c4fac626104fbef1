//! Shared by the tests of this crate: an executor with the test supervisor, run specifications, a
//! consumer that collects output.

#![allow(
    dead_code,
    unused_imports,
    clippy::allow_attributes,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "each test file uses its part, and all of it is test code"
)]

use agent_bash_core::{
    Cancel, ConsumerFlow, Executor, NotStarted, Outcome, OutputConsumer, RunSpec, StreamId,
};
use agent_bash_process::SystemClock;
use agent_bash_process::supervisor::Supervisor;
use agent_bash_pty::{Key, KeyInput, KeyModifiers, PtyExecutor, PtyOptions, PtySession, PtyStatus};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

pub(crate) use agent_bash_test_kit::{SOON, soon};

pub(crate) fn options() -> PtyOptions {
    PtyOptions::new(
        Supervisor::at(env!("CARGO_BIN_EXE_pty-test-supervisor")),
        Arc::new(SystemClock::new()),
        std::env::temp_dir(),
    )
}

pub(crate) fn executor() -> PtyExecutor {
    PtyExecutor::new(options())
}

/// `COLUMNS` must be ignored: the terminal knows its size.
pub(crate) fn spec(script: &str) -> RunSpec {
    agent_bash_test_kit::spec(script, &[("TERM", "xterm-256color"), ("COLUMNS", "33")])
}

/// Collects output.
#[derive(Debug, Clone, Default)]
pub(crate) struct Collect {
    pub(crate) bytes: Arc<Mutex<Vec<u8>>>,
    pub(crate) stop_after: Option<usize>,
    pub(crate) survivors_file: Option<Arc<std::fs::File>>,
}

impl Collect {
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes.lock().unwrap()).into_owned()
    }
}

impl OutputConsumer for Collect {
    fn chunk(&mut self, stream: StreamId, bytes: &[u8]) -> ConsumerFlow {
        assert_eq!(stream, StreamId::Merged);
        let mut collected = self.bytes.lock().unwrap();
        collected.extend_from_slice(bytes);
        match self.stop_after {
            Some(enough) if collected.len() >= enough => ConsumerFlow::Stop,
            _ => ConsumerFlow::Continue,
        }
    }

    fn file_for_survivors(&mut self, _: StreamId) -> Option<std::fs::File> {
        self.survivors_file.as_ref()?.try_clone().ok()
    }
}

/// The output and the outcome of a call.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) out: String,
    pub(crate) outcome: Outcome,
}

pub(crate) async fn run(spec: &RunSpec) -> Result<Ran, NotStarted> {
    let mut collect = Collect::default();
    let outcome = executor().run(spec, &mut collect, &Cancel::new()).await?;
    Ok(Ran {
        out: collect.text(),
        outcome,
    })
}

/// A session with a simulated user.
pub(crate) struct Attended {
    pub(crate) session: PtySession,
    pub(crate) collect: Collect,
}

pub(crate) async fn attend(spec: &RunSpec) -> Attended {
    attend_with(&executor(), spec).await
}

pub(crate) async fn attend_with(executor: &PtyExecutor, spec: &RunSpec) -> Attended {
    let collect = Collect::default();
    let session = executor
        .start(spec, Box::new(collect.clone()), &Cancel::new())
        .await
        .unwrap();
    Attended { session, collect }
}

impl Attended {
    /// Waits until the screen shows this.
    pub(crate) async fn shows(&self, text: &str) {
        self.until(&format!("the screen shows {text:?}"), |attended, _| {
            attended.session.text().join("\n").contains(text)
        })
        .await;
    }

    /// Waits for a state; reports the screen if it does not arrive.
    pub(crate) async fn until(&self, what: &str, done: impl Fn(&Self, &PtyStatus) -> bool) {
        let mut session = self.session.clone();
        let wait = async {
            while !done(self, &session.status()) {
                // An end that was reported before is not a change.
                let _ = tokio::time::timeout(Duration::from_millis(200), session.changed()).await;
            }
        };
        if tokio::time::timeout(SOON, wait).await.is_err() {
            let screen = self.session.text().join("\n");
            panic!("not in time: {what}; {:?}\n{screen}", self.session);
        }
    }

    pub(crate) fn types(&self, text: &str) {
        self.session
            .send(&KeyInput::Key {
                key: Key::Text(text.to_owned()),
                modifiers: KeyModifiers::default(),
            })
            .unwrap();
    }

    pub(crate) fn presses(&self, key: Key) {
        self.session
            .send(&KeyInput::Key {
                key,
                modifiers: KeyModifiers::default(),
            })
            .unwrap();
    }

    pub(crate) fn enters(&self, text: &str) {
        self.types(text);
        self.presses(Key::Enter);
    }

    pub(crate) fn control(&self, letter: char) {
        self.session
            .send(&KeyInput::Key {
                key: Key::Char(letter),
                modifiers: KeyModifiers {
                    ctrl: true,
                    ..KeyModifiers::default()
                },
            })
            .unwrap();
    }

    pub(crate) async fn outcome(&self) -> Outcome {
        let end = tokio::time::timeout(SOON, self.session.ended())
            .await
            .expect("it ends in time");
        end.result.clone().expect("it was started")
    }
}

/// True if a program is installed. Otherwise prints a message, and the test is skipped.
pub(crate) fn is_installed(program: &str) -> bool {
    let found = ["/usr/local/bin", "/usr/bin", "/bin"]
        .iter()
        .any(|directory| Path::new(directory).join(program).is_file());
    if !found {
        eprintln!("passed over: `{program}` is not installed");
    }
    found
}

/// A wrapper that reports this version and runs the real bash.
pub(crate) fn bash_of_version(directory: &Path, version: &str) -> PathBuf {
    let text = format!(
        "#!/bin/bash\nargs=(\"$@\")\nargs[-1]=\"BASH_VERSION='{version}'; ${{args[-1]}}\"\nexec -a bash /bin/bash \"${{args[@]}}\"\n"
    );
    let path = directory.join("bash");
    std::fs::write(&path, text).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&path, mode).unwrap();
    path
}
