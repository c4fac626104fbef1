//! One artifact being written: the cap, the counts, the line index, and its end, whole or not at all.

use crate::artifact_dir::Shared;
use crate::line_index::LineIndex;
use crate::private_dir::PrivateDir;
use crate::quota;
use crate::sidecar::{Done, Sidecar};
use agent_bash_core::{ArtifactEnd, ArtifactError, ArtifactRef, ArtifactWriter};
use std::fs::File;
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Bytes between two looks at quota and free space.
const STEP: u64 = 8 << 20;

/// Writes one artifact. Dropped before its end, it removes what it wrote.
pub(crate) struct FileWriter {
    shared: Arc<Shared>,
    dir: Arc<PrivateDir>,
    file: File,
    sidecar: Sidecar,
    bytes: u64,
    complete: bool,
    index: LineIndex,
    /// Bytes until the next look at quota and free space.
    unchecked: u64,
    given_away: AtomicBool,
    whole: bool,
}

impl FileWriter {
    /// Takes over a new, empty file, and writes down what it is.
    pub(crate) fn new(
        shared: Arc<Shared>,
        dir: Arc<PrivateDir>,
        file: File,
        sidecar: Sidecar,
    ) -> io::Result<Self> {
        let writer = Self {
            shared,
            dir,
            file,
            sidecar,
            bytes: 0,
            complete: true,
            index: LineIndex::default(),
            unchecked: 0,
            given_away: AtomicBool::new(false),
            whole: false,
        };
        // On an error the writer is dropped, and its file with it.
        writer.sidecar.write(&writer.dir)?;
        Ok(writer)
    }

    fn failed(&self, source: io::Error) -> ArtifactError {
        let path = self.dir.path().join(&self.sidecar.file);
        ArtifactError::Io {
            what: format!("writing {}", path.display()),
            source,
        }
    }
}

impl ArtifactWriter for FileWriter {
    fn write(&mut self, bytes: &[u8]) -> Result<(), ArtifactError> {
        let room = self.shared.options.limits.per_file - self.bytes;
        let fitting = usize::try_from(room).map_or(bytes.len(), |room| room.min(bytes.len()));
        self.complete &= fitting == bytes.len();
        let fitting = &bytes[..fitting];
        if fitting.is_empty() {
            return Ok(());
        }
        self.unchecked += fitting.len() as u64;
        if self.unchecked >= STEP {
            self.unchecked = 0;
            quota::make_room(&self.dir, &self.shared.options, STEP, Some(self.sidecar.id))?;
        }
        self.file
            .write_all(fitting)
            .map_err(|error| self.failed(error))?;
        self.bytes += fitting.len() as u64;
        self.index.push(fitting);
        Ok(())
    }

    fn file(&self) -> io::Result<File> {
        // The file was opened for appending, and so is every copy of its descriptor.
        let file = self.file.try_clone()?;
        self.given_away.store(true, Ordering::Relaxed);
        Ok(file)
    }

    fn finish(mut self: Box<Self>, end: &ArtifactEnd) -> Result<ArtifactRef, ArtifactError> {
        let index = std::mem::take(&mut self.index);
        let shared = self.given_away.load(Ordering::Relaxed);
        self.sidecar.done = Some(Done::new(end, self.bytes, self.complete, shared, index));
        self.sidecar
            .write(&self.dir)
            .map_err(|error| self.failed(error))?;
        self.whole = true;
        self.shared.made(self.sidecar.id);
        // What this one took up may be too much for the session; it is the older ones that go.
        let _ = quota::make_room(&self.dir, &self.shared.options, 0, Some(self.sidecar.id));
        self.sidecar
            .reference(&self.dir)
            .ok_or_else(|| self.failed(io::ErrorKind::NotFound.into()))
    }
}

impl Drop for FileWriter {
    fn drop(&mut self) {
        if !self.whole {
            // Nothing links to it; what cannot be removed now is swept later.
            let _ = self.sidecar.remove(&self.dir);
        }
    }
}
