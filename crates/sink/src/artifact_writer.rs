//! Writes one artifact: size cap, counts, line index. An artifact is either finished or removed.

use crate::line_index::LineIndex;
use crate::quota;
use crate::shared_dir::SharedDir;
use crate::sidecar::{FinishedFacts, Sidecar};
use agent_bash_core::{ArtifactEnd, ArtifactError, ArtifactRef, ArtifactWriter};
use agent_bash_os::PrivateDir;
use std::fs::File;
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Bytes written between two checks of quota and free space.
const CHECK_INTERVAL_BYTES: u64 = 8 << 20;

/// Writes one artifact. Dropping an unfinished writer removes the file.
pub(crate) struct FileWriter {
    shared: Arc<SharedDir>,
    dir: Arc<PrivateDir>,
    file: File,
    sidecar: Sidecar,
    bytes: u64,
    complete: bool,
    index: LineIndex,
    /// Bytes written since the last check of quota and free space.
    bytes_since_check: u64,
    /// Bytes added to the directory's sum; some may not be written yet.
    accounted: u64,
    /// True if another process may have a descriptor of the file.
    is_shared: AtomicBool,
    /// True once the sidecar says that the artifact is finished.
    is_finished: bool,
}

impl FileWriter {
    /// Takes a new, empty file and writes its sidecar.
    pub(crate) fn new(
        shared: Arc<SharedDir>,
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
            bytes_since_check: 0,
            accounted: 0,
            is_shared: AtomicBool::new(false),
            is_finished: false,
        };
        // On an error the writer is dropped, which removes the file.
        writer.sidecar.write(&writer.dir)?;
        Ok(writer)
    }

    /// Adds the file's new length to the directory's sum.
    fn account(&mut self, length: u64) {
        let before = std::mem::replace(&mut self.accounted, length);
        if before != length {
            quota::account(&self.dir, length.cast_signed() - before.cast_signed());
        }
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
        self.bytes_since_check += fitting.len() as u64;
        if self.bytes_since_check >= CHECK_INTERVAL_BYTES {
            self.bytes_since_check = 0;
            quota::make_room(
                &self.dir,
                &self.shared.options,
                CHECK_INTERVAL_BYTES,
                Some(self.sidecar.id),
            )?;
        }
        let length = self.bytes + fitting.len() as u64;
        if length > self.accounted {
            // The length is added in growing steps, since each step takes a lock.
            self.account(
                length.max((self.accounted * 2).min(self.accounted + CHECK_INTERVAL_BYTES)),
            );
        }
        self.file
            .write_all(fitting)
            .map_err(|error| self.failed(error))?;
        self.bytes += fitting.len() as u64;
        self.index.push(fitting);
        Ok(())
    }

    fn file(&self) -> io::Result<File> {
        // The file was opened with O_APPEND, so every duplicate of the descriptor appends.
        let file = self.file.try_clone()?;
        self.is_shared.store(true, Ordering::Relaxed);
        Ok(file)
    }

    fn finish(mut self: Box<Self>, end: &ArtifactEnd) -> Result<ArtifactRef, ArtifactError> {
        let index = std::mem::take(&mut self.index);
        let shared = self.is_shared.load(Ordering::Relaxed);
        self.sidecar.done = Some(FinishedFacts::new(
            end, self.bytes, self.complete, shared, index,
        ));
        self.sidecar
            .write(&self.dir)
            .map_err(|error| self.failed(error))?;
        self.is_finished = true;
        self.shared.record_finished(self.sidecar.id, &self.dir);
        self.account(self.bytes);
        // The session may exceed its quota with this artifact; older artifacts are evicted.
        let _ = quota::make_room(&self.dir, &self.shared.options, 0, Some(self.sidecar.id));
        self.sidecar
            .reference(&self.dir)
            .ok_or_else(|| self.failed(io::ErrorKind::NotFound.into()))
    }
}

impl Drop for FileWriter {
    fn drop(&mut self) {
        if !self.is_finished {
            self.account(0);
            // No result refers to the file yet. If the removal fails, a later sweep removes it.
            let _ = self.sidecar.remove(&self.dir);
        }
    }
}
