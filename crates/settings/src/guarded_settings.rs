//! Records settings files that sandboxed calls have created, changed or removed. Until the user
//! saves such a file again, the host uses the file's text from before the call. The record is in
//! the state directory, which sandboxed calls cannot write.

use crate::HostContext;
use agent_bash_os::{PrivateDir, lock_file, read_regular};
use agent_bash_sandbox::with_resolved_parent;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Name of a project's settings file.
pub const PROJECT_FILE: &str = ".agent-bash.toml";

const FILE_NAME: &str = "guarded-settings.json";
const LOCK_FILE_NAME: &str = "guarded-settings.lock";

/// Maximum number of files, and maximum bytes that are read of a file.
const MAX_FILES: usize = 500;
const MAX_FILE_BYTES: u64 = 1 << 20;

/// The recorded files, by path. The directory of each path is canonical; the last component may be
/// a symbolic link.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct GuardedSettings {
    files: BTreeMap<PathBuf, GuardedFile>,
}

/// A settings file after a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct GuardedFile {
    /// The file's version after the call; `None` if the call removed the file.
    version: Option<PathVersion>,
    /// The text to use instead of the file's text; `None` if the file did not exist before the
    /// call.
    text: Option<String>,
}

/// The version of a path and, for a link, of the link's target. Every write changes the version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct PathVersion {
    link: FileVersion,
    target: Option<FileVersion>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct FileVersion {
    #[serde(default)]
    device: u64,
    inode: u64,
    size: u64,
    changed: (i64, i64),
}

/// A recorded file before a call.
#[derive(Debug, Clone)]
pub struct GuardedText {
    /// The file's path.
    pub path: PathBuf,
    /// The text that the host uses.
    pub effective_text: Option<String>,
    /// The text of the file itself.
    file_text: Option<String>,
    version: Option<PathVersion>,
}

impl GuardedText {
    /// True if the file was written since, with the same text.
    pub fn is_rewritten(&self) -> bool {
        PathVersion::at(&self.path) != self.version && text(&self.path) == self.file_text
    }
}

impl PathVersion {
    /// Returns the version of a path; `None` if the path does not exist.
    fn at(path: &Path) -> Option<Self> {
        let version = |found: fs::Metadata| FileVersion {
            device: found.dev(),
            inode: found.ino(),
            size: found.size(),
            changed: (found.ctime(), found.ctime_nsec()),
        };
        Some(Self {
            link: fs::symlink_metadata(path).ok().map(version)?,
            target: fs::metadata(path).ok().map(version),
        })
    }
}

/// Returns the paths where a host looks for settings: the user's file, and a project file in the
/// working directory, in `other_directory`, and in each of their parents.
pub fn paths(host: &HostContext, other_directory: Option<&Path>) -> Vec<PathBuf> {
    let starts = [Some(host.cwd.as_path()), other_directory];
    let directories = starts.into_iter().flatten().flat_map(Path::ancestors);
    host.user_settings()
        .into_iter()
        .chain(directories.map(|directory| directory.join(PROJECT_FILE)))
        .collect()
}

/// Returns the first MiB of a regular file; `None` if the text is not UTF-8.
pub fn text(path: &Path) -> Option<String> {
    String::from_utf8(read_regular(path, MAX_FILE_BYTES)?).ok()
}

impl GuardedSettings {
    /// Reads the record. Returns an empty record if the file is missing or invalid.
    pub fn read(state: &Path) -> Self {
        let file = PrivateDir::open(state, &[]).and_then(|directory| directory.read(FILE_NAME));
        let mut text = Vec::new();
        let read = file.and_then(|file| file.take(MAX_FILE_BYTES * 16).read_to_end(&mut text));
        let all = read.ok().and_then(|_| serde_json::from_slice(&text).ok());
        all.unwrap_or_default()
    }

    /// Returns the recorded text that replaces this file's text, while the file is unchanged since
    /// the call. `Some(None)` if the file is to be treated as missing.
    pub fn replacement(&self, path: &Path) -> Option<Option<&str>> {
        if self.files.is_empty() {
            return None;
        }
        let guarded = self.files.get(&with_resolved_parent(path))?;
        (guarded.version == PathVersion::at(path)).then_some(guarded.text.as_deref())
    }

    /// Returns the files whose texts the host replaces.
    pub fn in_force(&self) -> Vec<GuardedText> {
        let in_force = self.files.iter().filter_map(|(path, file)| {
            let is_unchanged = file.version == PathVersion::at(path);
            is_unchanged.then(|| GuardedText {
                path: path.clone(),
                effective_text: file.text.clone(),
                file_text: text(path),
                version: file.version,
            })
        });
        in_force.collect()
    }

    /// Returns the text to use for this path: the recorded text, else the file's text.
    pub fn effective_text(&self, path: &Path) -> Option<String> {
        self.replacement(path)
            .map_or_else(|| text(path), |recorded| recorded.map(str::to_owned))
    }

    /// Records files that a call has changed, each with the text that was in use before the call.
    ///
    /// # Errors
    /// The record cannot be written.
    pub fn add(
        state: &Path,
        changed: impl IntoIterator<Item = (PathBuf, Option<String>)>,
    ) -> io::Result<()> {
        let directory = PrivateDir::create(state, &[])?;
        // Another host may write the record too. A call can hold the lock for ever, because it can
        // read the file; the record is then written without the lock.
        let _lock = lock_file(&directory, LOCK_FILE_NAME);
        let mut all = Self::read(state);
        for (path, text) in changed {
            let path = with_resolved_parent(&path);
            let version = PathVersion::at(&path);
            if version.is_none() && text.is_none() {
                all.files.remove(&path);
            } else {
                all.files.insert(path, GuardedFile { version, text });
            }
        }
        // Drops entries without effect: the user has saved these files again.
        if all.files.len() > MAX_FILES {
            all.files
                .retain(|path, file| file.version == PathVersion::at(path));
        }
        // A call can create any number of project files, which would make the record unreadable. A
        // file that is left out counts; it can only tighten.
        let mut excess = all.files.len().saturating_sub(MAX_FILES);
        all.files.retain(|path, file| {
            let is_left_out = excess > 0 && file.text.is_none() && path.ends_with(PROJECT_FILE);
            excess -= usize::from(is_left_out);
            !is_left_out
        });
        directory.replace(FILE_NAME, &serde_json::to_vec(&all)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recorded_text_is_used_until_the_file_is_saved_again() {
        let temp = tempfile::tempdir().unwrap();
        let (state, file) = (temp.path().join("state"), temp.path().join(PROJECT_FILE));
        let effective_text = || GuardedSettings::read(&state).effective_text(&file);
        let add = |before: Option<&str>| {
            let before = before.map(str::to_owned);
            GuardedSettings::add(&state, [(file.clone(), before)]).unwrap();
        };
        assert_eq!(effective_text(), None);
        fs::write(&file, "planted").unwrap();
        add(None);
        assert_eq!(effective_text(), None);
        fs::write(&file, "saved by the user").unwrap();
        assert_eq!(effective_text().as_deref(), Some("saved by the user"));
        fs::write(&file, "loosened").unwrap();
        add(Some("saved by the user"));
        assert_eq!(effective_text().as_deref(), Some("saved by the user"));
        fs::remove_file(&file).unwrap();
        add(Some("saved by the user"));
        assert_eq!(effective_text().as_deref(), Some("saved by the user"));
        fs::write(&file, "").unwrap();
        assert_eq!(effective_text().as_deref(), Some(""));
    }

    #[test]
    fn record_keeps_former_texts_among_very_many_created_files() {
        let temp = tempfile::tempdir().unwrap();
        let state = temp.path().join("state");
        let at = |number: usize| temp.path().join(number.to_string()).join(PROJECT_FILE);
        let (last, user) = (9_999_999, temp.path().join("config.toml"));
        for path in (0..=MAX_FILES).chain([last]).map(at).chain([user.clone()]) {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "planted").unwrap();
        }
        let created = (0..=MAX_FILES).map(|number| (at(number), None));
        let changed = created.chain([(at(last), Some("former".to_owned())), (user.clone(), None)]);
        GuardedSettings::add(&state, changed).unwrap();
        let record = GuardedSettings::read(&state);
        assert_eq!(record.files.len(), MAX_FILES);
        assert_eq!(record.effective_text(&at(last)).as_deref(), Some("former"));
        assert_eq!(record.effective_text(&user), None);
    }

    #[test]
    fn record_is_written_while_a_call_holds_its_lock() {
        let temp = tempfile::tempdir().unwrap();
        let (state, file) = (temp.path().join("state"), temp.path().join(PROJECT_FILE));
        fs::write(&file, "planted").unwrap();
        GuardedSettings::add(&state, []).unwrap();
        let lock = fs::File::open(state.join(LOCK_FILE_NAME)).unwrap();
        lock.lock().unwrap();
        GuardedSettings::add(&state, [(file.clone(), None)]).unwrap();
        assert_eq!(GuardedSettings::read(&state).effective_text(&file), None);
    }
}
