//! Buffers raw bytes for the artifact: in memory up to a limit, then in a file.
//!
//! Whether an artifact is needed is known only at the end of the stream. After an I/O error the
//! output is no longer stored, but the run continues.

use agent_bash_core::{
    ArtifactEnd, ArtifactMeta, ArtifactRef, ArtifactStore, ArtifactWriter, StreamId,
};
use std::fs::File;
use std::sync::Arc;

/// Raw bytes held in memory before a file is created. Larger than every profile's window, so that a
/// call whose whole output is shown does not touch the disk (unless cleaning removed far more bytes
/// than are shown).
const MAX_HELD_BYTES: usize = 256 * 1024;

/// Keeps the raw bytes of one stream.
pub(crate) struct Spill {
    store: Option<Arc<dyn ArtifactStore>>,
    meta: ArtifactMeta,
    stream: StreamId,
    state: SpillState,
}

enum SpillState {
    /// The output is in memory; no file exists yet.
    Held(Vec<u8>),
    /// All bytes so far are in the file.
    File(Box<dyn ArtifactWriter>),
    /// A write failed; the output is no longer stored.
    Failed(String),
}

/// The outcome of storing a stream.
#[derive(Debug, Default)]
pub(crate) struct SpillOutcome {
    pub(crate) artifact: Option<ArtifactRef>,
    pub(crate) failed: Option<String>,
}

impl Spill {
    pub(crate) fn new(
        store: Option<Arc<dyn ArtifactStore>>,
        meta: ArtifactMeta,
        stream: StreamId,
    ) -> Self {
        Self {
            store,
            meta,
            stream,
            state: SpillState::Held(Vec::new()),
        }
    }

    /// Takes the next bytes, into memory or with one write into the file.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        if self.store.is_none() {
            return;
        }
        if let SpillState::Held(held) = &mut self.state {
            if held.len() + bytes.len() <= MAX_HELD_BYTES {
                held.extend_from_slice(bytes);
                return;
            }
            self.materialise();
        }
        if let SpillState::File(writer) = &mut self.state
            && let Err(error) = writer.write(bytes)
        {
            self.state = SpillState::Failed(error.to_string());
        }
    }

    /// Returns a duplicate of the file's descriptor. The file has all bytes so far.
    pub(crate) fn file(&mut self) -> Option<File> {
        self.materialise();
        let SpillState::File(writer) = &self.state else {
            return None;
        };
        match writer.file() {
            Ok(file) => Some(file),
            Err(error) => {
                self.state = SpillState::Failed(error.to_string());
                None
            }
        }
    }

    /// Ends the stream: finishes the artifact if it is `needed`, and removes it otherwise.
    pub(crate) fn finish(mut self, needed: bool, end: &ArtifactEnd) -> SpillOutcome {
        if !needed || self.store.is_none() {
            return SpillOutcome::default();
        }
        self.materialise();
        let failed = match self.state {
            SpillState::File(writer) => match writer.finish(end) {
                Ok(artifact) => {
                    return SpillOutcome {
                        artifact: Some(artifact),
                        failed: None,
                    };
                }
                Err(error) => Some(error.to_string()),
            },
            SpillState::Failed(reason) => Some(reason),
            SpillState::Held(_) => None,
        };
        SpillOutcome {
            artifact: None,
            failed,
        }
    }

    /// Moves the buffered bytes into a file.
    fn materialise(&mut self) {
        let (SpillState::Held(held), Some(store)) = (&mut self.state, &self.store) else {
            return;
        };
        let written = store
            .create(&self.meta, self.stream)
            .and_then(|mut writer| writer.write(held).map(|()| writer));
        self.state = match written {
            Ok(writer) => SpillState::File(writer),
            Err(error) => SpillState::Failed(error.to_string()),
        };
    }
}
