//! A settings file of another program: read whole and replaced atomically, keeping its mode and
//! following symbolic links.

use crate::process_start::StartContext;
use anyhow::{Context, bail};
use std::fs::{self, DirBuilder, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// Larger than any real settings file.
const MAX_FILE_BYTES: u64 = 4 * 1024 * 1024;

/// A file and its contents.
#[derive(Debug)]
pub(crate) struct SettingsFile {
    /// The file's path, with symbolic links resolved.
    path: PathBuf,
    /// True if a link leads to the file or to a directory above it.
    is_linked: bool,
    text: Option<String>,
}

impl SettingsFile {
    /// Reads the file. A missing file is not an error.
    pub(crate) fn read(path: &Path) -> anyhow::Result<Self> {
        let resolved = match path.canonicalize() {
            Ok(resolved) => resolved,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                if path.is_symlink() {
                    bail!("{} is a link to a file that does not exist", path.display());
                }
                path.to_owned()
            }
            Err(error) => {
                return Err(error).with_context(|| format!("cannot read {}", path.display()));
            }
        };
        let text =
            read(&resolved).with_context(|| format!("cannot read {}", resolved.display()))?;
        Ok(Self {
            is_linked: resolved != path,
            path: resolved,
            text,
        })
    }

    /// The file's contents.
    pub(crate) fn text(&self) -> Option<&str> {
        self.text.as_deref()
    }

    /// Replaces the contents; without a text, removes the file, and the directories that were made
    /// for it. Fails if the file has changed since it was read. If `is_run`, the agent executes the
    /// file.
    pub(super) fn replace(
        &self,
        text: Option<&str>,
        is_run: bool,
        start: &StartContext,
    ) -> anyhow::Result<()> {
        let path = self.path.display();
        let context = || format!("cannot write {path}");
        let dir = self.path.parent().with_context(context)?;
        let Some(text) = text else {
            self.check_unchanged()?;
            fs::remove_file(&self.path).with_context(context)?;
            // The user has made the directories that a link leads to.
            if !self.is_linked {
                remove_made_directories(dir, start);
            }
            return Ok(());
        };
        make_directories(dir).with_context(context)?;
        // Mode 0600 or 0700, unless the existing file has another mode.
        let mut draft = tempfile::NamedTempFile::new_in(dir).with_context(context)?;
        let mode = match self.text {
            Some(_) => Some(
                fs::metadata(&self.path)
                    .with_context(context)?
                    .permissions(),
            ),
            None => is_run.then(|| Permissions::from_mode(0o700)),
        };
        if let Some(mode) = mode {
            draft
                .as_file()
                .set_permissions(mode)
                .with_context(context)?;
        }
        draft
            .write_all(text.as_bytes())
            .and_then(|()| draft.as_file().sync_all())
            .with_context(context)?;
        self.check_unchanged()?;
        draft.persist(&self.path).with_context(context)?;
        Ok(())
    }

    fn check_unchanged(&self) -> anyhow::Result<()> {
        if read(&self.path)? != self.text {
            bail!(
                "{} was changed by another program; nothing was written, try again",
                self.path.display()
            );
        }
        Ok(())
    }
}

/// The mode of a directory that is made for a file or link.
const DIRECTORY_MODE: u32 = 0o700;

/// Makes a directory and its missing parents.
pub(crate) fn make_directories(directory: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true).mode(DIRECTORY_MODE);
    builder.create(directory)
}

/// Removes a directory and its parents, as far as they are empty, have the mode of
/// [`make_directories`], and are below the home or working directory. Nothing else tells which ones
/// were made.
pub(crate) fn remove_made_directories(directory: &Path, start: &StartContext) {
    let kept = [start.host.home.as_deref(), Some(&*start.host.cwd)];
    let kept = kept.into_iter().flatten();
    let kept: Vec<PathBuf> = kept.filter_map(|path| path.canonicalize().ok()).collect();
    let Ok(directory) = directory.canonicalize() else {
        return;
    };
    let is_made = |path: &&Path| {
        let is_below = |kept: &PathBuf| path.starts_with(kept) && *path != kept;
        // A directory may inherit the set-group-id bit.
        let mode = path.metadata().map(|it| it.permissions().mode() & 0o777);
        kept.iter().any(is_below) && mode.is_ok_and(|mode| mode == DIRECTORY_MODE)
    };
    // A directory with names in it cannot be removed.
    let parents = directory.ancestors().take_while(is_made);
    let _ = parents.map(fs::remove_dir).find(Result::is_err);
}

/// Returns the file's contents; `None` if the file does not exist.
fn read(path: &Path) -> io::Result<Option<String>> {
    // Checked before opening: opening a FIFO would block for ever.
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_file() => {}
        Ok(_) => return Err(io::Error::other("not a regular file")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    }
    let mut text = String::new();
    let max_bytes = MAX_FILE_BYTES + 1;
    let length = fs::File::open(path)?
        .take(max_bytes)
        .read_to_string(&mut text)? as u64;
    if length > MAX_FILE_BYTES {
        return Err(io::Error::other("the file is too long for a settings file"));
    }
    Ok(Some(text))
}
