//! The private copy of a repository's `config` that sandboxed calls see and write. Before and after
//! a call, the host writes the harmless changes of the copy to the repository's file, and then
//! makes the copy equal to that file again.
//!
//! A call, and processes that outlive it, may replace the copy at any time by anything. So the copy
//! is only read as bytes of limited length, and git parses these bytes in a directory that calls
//! cannot write. The merge writes single keys, never a part of the copy's text.

mod harmless;
mod new_sections;
mod repository_file;
mod set_aside;

use agent_bash_core::hex;
use agent_bash_core::sandbox::{Plan, RedirectedFile, Tier};
use agent_bash_os::{PrivateDir, lock_file};
use agent_bash_process::{GitConfigProgram, GitConfigValues};
use agent_bash_sandbox::{ParentDirectories, repository_config};
use harmless::ChangedKey;
use repository_file::{RepositoryFile, limited};
pub(super) use set_aside::Removal;
use set_aside::set_aside;
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

/// The directory of the copies in the state directory, with one directory per repository and
/// sandbox.
const DIRECTORY: &str = "git-config";

/// The number of bytes of the SHA-256 sum that names such a directory.
const NAME_BYTES: usize = 8;

/// The entries of such a directory. Calls can write [`COPY_DIRECTORY`] only.
const COPY_DIRECTORY: &str = "copy";
const LINK: &str = "link";
/// The lock of a merge. Its time is that of the last merge.
const LOCK_FILE: &str = "lock";
/// The text to which the copy was last set.
const BASE_FILE: &str = "base";
/// A text for git to parse or to change, and git's lock of that file.
const DRAFT_FILE: &str = "draft";
const DRAFT_LOCK_FILE: &str = "draft.lock";
/// The next text of the copy. Calls cannot write this file, so they cannot prevent the move to the
/// copy's path.
const NEXT_COPY_FILE: &str = "next";

/// The copy in [`COPY_DIRECTORY`].
const COPY_FILE: &str = "config";

/// The age in seconds after which an unused copy is removed, when another one is created.
const RETENTION_SECS: i64 = 30 * 24 * 60 * 60;

/// The maximum number of attempts to replace a copy while other processes write at its path.
const MAX_REPLACE_ATTEMPTS: usize = 100;

/// The maximum number of values that one merge writes into new sections.
const MAX_NEW_VALUES: usize = 200;
/// The maximum number of values that the merge after a call writes into existing sections, and of
/// keys that it removes: git runs once for each.
pub(super) const MAX_GIT_RUNS: usize = 100;
/// [`MAX_GIT_RUNS`] of the merge before a call, whose time is more limited.
pub(super) const MAX_GIT_RUNS_BEFORE_CALL: usize = 10;
/// The maximum number of named keys.
const MAX_NAMED_KEYS: usize = 20;
/// The maximum number of letters of a named key.
const MAX_NAMED_LETTERS: usize = 100;

/// The files of the last merge that had nothing to do.
#[derive(Debug)]
pub(super) struct MergedConfig {
    redirected: RedirectedFile,
    files: ParentDirectories,
}

impl MergedConfig {
    /// True if the kernel's caches show that neither the repository's file nor the copy has changed
    /// since the merge.
    pub(super) fn is_current(&self, redirected: &RedirectedFile) -> bool {
        self.redirected == *redirected && self.files.are_unchanged()
    }
}

/// The result of a merge.
#[derive(Debug, Default)]
pub(super) struct MergeOutcome {
    /// The keys whose changes were not written, or the reason why none was written.
    pub(super) dropped: Vec<String>,
    /// The files, if the merge had nothing to do.
    pub(super) merged: Option<MergedConfig>,
}

/// Returns the private copy for calls with this plan in `workspace`, and creates its directory in
/// the state directory. `None` if the file stays protected without a copy: the sandbox has no
/// mounts or hides the file, git is not installed, or one of the paths `user_protected` has the
/// file.
pub(super) fn redirected(
    plan: &Plan,
    workspace: &Path,
    user_protected: &[PathBuf],
    state: &Path,
) -> Option<RedirectedFile> {
    let file = repository_config(workspace).filter(|_| plan.tier == Tier::Full)?;
    let has_file =
        |path: &PathBuf| file.starts_with(fs::canonicalize(path).as_ref().unwrap_or(path));
    let is_kept = user_protected.iter().any(has_file);
    // A copy would show what the sandbox hides.
    let is_hidden = plan.covers(&file);
    if is_kept || is_hidden || !plan.is_writable(&file) || GitConfigProgram::find().is_none() {
        return None;
    }
    let created = create(plan, file, state);
    created
        .inspect_err(|error| tracing::warn!(%error, "calls cannot write the configuration of git"))
        .ok()
}

fn create(plan: &Plan, file: PathBuf, state: &Path) -> io::Result<RedirectedFile> {
    // The merge needs the same.
    RepositoryFile::open(&file)?;
    // A call with wider access does not read what calls with less access have left in their copy.
    // A list of hosts is a part of the access: git would run a command that a process with another
    // list has written to the copy.
    let files = (&plan.writable, &plan.hidden, &plan.devices);
    let access = serde_json::to_vec(&(&file, plan.network, &plan.hosts, files))?;
    let name = hex(&Sha256::digest(access)[..NAME_BYTES]);
    let is_new = PrivateDir::open(state, &[DIRECTORY, &name]).is_err();
    let private = PrivateDir::create(state, &[DIRECTORY, &name])?;
    let root = private.path().canonicalize()?;
    if plan.is_writable(&root) || plan.is_writable(state) || plan.covers(&root) {
        return Err(io::Error::other(
            "calls may write the state directory, or cannot see it",
        ));
    }
    if is_new {
        sweep(state, fs::metadata(&root)?.mtime());
    }
    let directory = copy_directory(&root)?.path().to_owned();
    let (link, target) = (root.join(LINK), directory.join(COPY_FILE));
    if let Err(error) = symlink(&target, &link)
        && fs::read_link(&link).ok().as_ref() != Some(&target)
    {
        return Err(error);
    }
    Ok(RedirectedFile {
        file,
        directory,
        link,
    })
}

/// Sets the copies aside that were not merged for long. `now` is in seconds since 1970.
fn sweep(state: &Path, now: i64) {
    let Ok(all) = PrivateDir::open(state, &[DIRECTORY]) else {
        return;
    };
    let is_old = |lock: &File| {
        let found = lock.metadata();
        found.is_ok_and(|found| now.saturating_sub(found.mtime()) > RETENTION_SECS)
    };
    for name in all.directories().into_iter().flatten() {
        let Ok(private) = PrivateDir::open(state, &[DIRECTORY, &name]) else {
            continue;
        };
        // Another host may be creating a directory without a lock, or may hold the lock to merge.
        let lock = private.read(LOCK_FILE).ok();
        let lock = lock.filter(|lock| lock.try_lock().is_ok());
        if let Some(_lock) = lock.filter(is_old)
            && let Err(error) = set_aside(all.path(), &name, (&all, &name))
        {
            let root = private.path().display();
            tracing::warn!(%error, %root, "an old copy of git's configuration cannot be removed");
        }
    }
}

/// Opens the directory of the copy.
fn copy_directory(root: &Path) -> io::Result<PrivateDir> {
    let open = || PrivateDir::create(root, &[COPY_DIRECTORY]);
    open().or_else(|_| {
        // A call may have removed the permissions. It cannot put a link in the directory's place.
        fs::set_permissions(root.join(COPY_DIRECTORY), Permissions::from_mode(0o700))?;
        open()
    })
}

/// Writes the harmless changes of the copy to the repository's file, and makes the copy equal to
/// that file.
pub(super) fn merge(redirected: &RedirectedFile, max_git_runs: usize) -> MergeOutcome {
    try_merge(redirected, max_git_runs).unwrap_or_else(|error| {
        tracing::warn!(%error, file = %redirected.file.display(), "the configuration of git cannot be merged");
        let has_changes = has_changes(redirected);
        MergeOutcome {
            dropped: has_changes.then(|| all_changes(redirected, &error)).into_iter().collect(),
            merged: None,
        }
    })
}

/// Returns the name of all changes, with the file and the reason why none was written.
fn all_changes(redirected: &RedirectedFile, error: &io::Error) -> String {
    let file = redirected.file.display();
    format!("all changes of {file} ({error})")
}

/// True if the copy differs from the text to which it was last set.
fn has_changes(redirected: &RedirectedFile) -> bool {
    let at = |directory: &Path, name| text(&PrivateDir::open(directory, &[]).ok()?, name);
    let base = at(root(redirected), BASE_FILE);
    base.is_some() && base != at(&redirected.directory, COPY_FILE)
}

/// Returns the directory of the repository and the sandbox.
fn root(redirected: &RedirectedFile) -> &Path {
    redirected.directory.parent().unwrap_or(Path::new("/"))
}

/// Returns the text of a file that is not too large.
fn text(directory: &PrivateDir, name: &str) -> Option<Vec<u8>> {
    directory.read(name).and_then(limited).ok()
}

fn try_merge(redirected: &RedirectedFile, max_git_runs: usize) -> io::Result<MergeOutcome> {
    let root = root(redirected);
    let private = PrivateDir::open(root, &[])?;
    let lock = lock_file(&private, LOCK_FILE)?;
    // The kernel sets the time of the file.
    lock.set_len(0)?;
    let copies = copy_directory(root)?;
    let copy_path = copies.path().join(COPY_FILE);
    // Read first, so that a later merge notices changes from now on.
    let files = ParentDirectories::known_paths([redirected.file.clone(), copy_path.clone()]);
    let base = text(&private, BASE_FILE);
    let copy = text(&copies, COPY_FILE);
    let mut file = RepositoryFile::open(&redirected.file)?;
    let mut dropped = Vec::new();
    if let Some(base) = base.as_ref().filter(|base| copy.as_ref() != Some(base)) {
        let written = match &copy {
            Some(copy) => write_changes(&private, (base, copy), &mut file, max_git_runs),
            None => Err(io::Error::other("the copy is not a file, or is too large")),
        };
        dropped = written.unwrap_or_else(|error| vec![all_changes(redirected, &error)]);
    }
    let text = file.text();
    let (is_new_base, is_new_copy) = (base.as_deref() != Some(text), copy.as_deref() != Some(text));
    if is_new_base {
        private.replace(BASE_FILE, text)?;
    }
    if is_new_copy {
        replace_copy(&private, &copies, text)?;
    }
    let files = files.ok().filter(|_| !is_new_base && !is_new_copy);
    let merged = files.map(|files| MergedConfig {
        redirected: redirected.clone(),
        files,
    });
    Ok(MergeOutcome { dropped, merged })
}

/// Replaces the copy, and sets aside what cannot be replaced: a directory of any size. A process of
/// an earlier call may create such a directory at any time.
fn replace_copy(private: &PrivateDir, copies: &PrivateDir, text: &[u8]) -> io::Result<()> {
    private.replace(NEXT_COPY_FILE, text)?;
    let root = private.path();
    let name = root.file_name().unwrap_or_default().to_string_lossy();
    let all = root.parent().unwrap_or(Path::new("/"));
    let mut result = private.move_to(NEXT_COPY_FILE, copies, COPY_FILE);
    for _ in 0..MAX_REPLACE_ATTEMPTS {
        result = match result {
            Ok(()) => return Ok(()),
            Err(_) => set_aside(all, &name, (copies, COPY_FILE))
                .or_else(ignore_missing)
                .and_then(|()| private.move_to(NEXT_COPY_FILE, copies, COPY_FILE)),
        };
    }
    result.map_err(|error| {
        let path = copies.path().join(COPY_FILE);
        let path = path.display();
        let reason = format!(
            "cannot replace {path}: {error}; end the processes that use this path (`fuser {path}` prints their pids), and remove it"
        );
        io::Error::new(error.kind(), reason)
    })
}

/// Counts a missing entry as moved.
fn ignore_missing(error: io::Error) -> io::Result<()> {
    match error.kind() {
        io::ErrorKind::NotFound => Ok(()),
        _ => Err(error),
    }
}

/// Writes the harmless differences between `base` and `copy` to the repository's file. Returns the
/// other keys.
fn write_changes(
    private: &PrivateDir,
    (base, copy): (&[u8], &[u8]),
    file: &mut RepositoryFile,
    max_git_runs: usize,
) -> io::Result<Vec<String>> {
    let git = GitConfigProgram::find();
    let git = git.ok_or_else(|| io::Error::other("git is not installed"))?;
    let path = private.path().join(DRAFT_FILE);
    // A host that was killed leaves the lock.
    private.remove(DRAFT_LOCK_FILE)?;
    let parsed = |text: &[u8]| {
        private.replace(DRAFT_FILE, text)?;
        git.list(&path)
    };
    let (after, before) = (parsed(copy)?, parsed(base)?);
    // git changes the text that was parsed last.
    let now = if base == file.text() {
        before.clone()
    } else {
        parsed(file.text())?
    };
    let (mut new, mut changed) = (WrittenKeys::default(), WrittenKeys::default());
    let mut dropped = Vec::new();
    let keys: BTreeSet<&Vec<u8>> = before.keys().chain(after.keys()).collect();
    for key in keys {
        let [before_key, after_key, now_key] =
            [&before, &after, &now].map(|values| values.get(key).map_or(&[][..], Vec::as_slice));
        if after_key == before_key || after_key == now_key {
            continue;
        }
        let written = harmless::changed_key(key, (before_key, after_key), &now, &after);
        let written = written.filter(|_| now_key == before_key);
        let is_added = written.is_some_and(|written| {
            if new_sections::has_section_of(&now, key) {
                changed.add(written, max_git_runs)
            } else {
                new.add(written, MAX_NEW_VALUES)
            }
        });
        if !is_added {
            let name = String::from_utf8_lossy(key);
            dropped.push(name.chars().take(MAX_NAMED_LETTERS).collect());
        }
    }
    let mut expected = now;
    for ChangedKey { key, values } in new.keys.iter().chain(&changed.keys) {
        insert(&mut expected, key, values);
    }
    if !new.keys.is_empty() {
        private.replace(DRAFT_FILE, &new_sections::appended(file.text(), &new.keys))?;
    }
    for ChangedKey { key, values } in &changed.keys {
        git.set(&path, key, values)?;
    }
    if !new.keys.is_empty() || !changed.keys.is_empty() {
        let text = private.read(DRAFT_FILE).and_then(limited)?;
        if git.list(&path)? != expected {
            return Err(io::Error::other("git has read other keys"));
        }
        file.write(text)?;
    }
    dropped.truncate(MAX_NAMED_KEYS);
    Ok(dropped)
}

/// The keys that a merge writes.
#[derive(Default)]
struct WrittenKeys {
    keys: Vec<ChangedKey>,
    /// The number of their values and of the removed keys.
    values: usize,
}

impl WrittenKeys {
    /// Adds keys, unless the number of values becomes larger than `max`. Returns true if the keys
    /// were added.
    fn add(&mut self, keys: Vec<ChangedKey>, max: usize) -> bool {
        let added = keys.iter().map(|key| key.values.len().max(1));
        let values = self.values + added.sum::<usize>();
        let is_allowed = values <= max;
        if is_allowed {
            self.keys.extend(keys);
            self.values = values;
        }
        is_allowed
    }
}

fn insert(values: &mut GitConfigValues, key: &str, new: &[String]) {
    let new: Vec<_> = new.iter().map(|value| Some(value.clone().into())).collect();
    if new.is_empty() {
        values.remove(key.as_bytes());
    } else {
        values.insert(key.as_bytes().to_vec(), new);
    }
}

#[cfg(test)]
#[path = "git_config_tests.rs"]
mod tests;
