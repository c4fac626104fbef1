//! A target of its own for each test: a home, and a shell as the way to it.

use agent_bash_process::SystemClock;
use agent_bash_remote::protocol::Hello;
use agent_bash_remote::{
    ChannelTimeouts, LocalHost, Program, Remote, Target, TargetTransport, Uploads,
};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// Plays our program there.
const WORKER: &str = env!("CARGO_BIN_EXE_remote-test-worker");

/// The program, read once.
pub(crate) fn program() -> Program {
    static PROGRAM: OnceLock<Program> = OnceLock::new();
    let read = || Program::read(Path::new(WORKER)).unwrap();
    PROGRAM.get_or_init(read).clone()
}

pub(crate) struct World {
    pub(crate) dir: tempfile::TempDir,
    pub(crate) target: Target,
    pub(crate) program: Program,
    pub(crate) env: BTreeMap<OsString, OsString>,
    pub(crate) patience: ChannelTimeouts,
}

impl World {
    /// Behind `sh -c`.
    pub(crate) fn new() -> Self {
        Self::behind(&["sh", "-c", "{script}"])
    }

    pub(crate) fn behind(words: &[&str]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let words = words.iter().map(|&word| word.to_owned()).collect();
        let path = std::env::var_os("PATH").unwrap();
        Self {
            target: Target::new("there", TargetTransport::Command(words)),
            program: program(),
            env: BTreeMap::from([("PATH".into(), path), ("HOME".into(), dir.path().into())]),
            dir,
            patience: ChannelTimeouts::default(),
        }
    }

    /// The same, with a variable of the target's.
    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.env.insert(name.into(), value.into());
        self
    }

    pub(crate) fn home(&self) -> &Path {
        self.dir.path()
    }

    /// Where our program is put.
    pub(crate) fn installed(&self) -> PathBuf {
        let name = format!("agent-bash-{}", self.program.hash());
        self.home().join(".cache/agent-bash").join(name)
    }

    pub(crate) fn remote(&self) -> Remote {
        let here = LocalHost {
            env: Arc::new(self.env.clone()),
            cwd: "/".into(),
            clock: Arc::new(SystemClock::new()),
        };
        let uploads = Uploads::of_program(self.program.clone());
        Remote::new(
            self.target.clone(),
            Arc::new(uploads),
            here,
            Hello {
                protocol: Some(1),
                ..Hello::default()
            },
        )
        .with_timeouts(self.patience)
    }
}
