//! The slot directory, whose files are exchanged with those of the tree by renames. The slot
//! directory is in the change set's directory. If the store is on another mount, a hidden directory
//! of the tree contains the slots, and new files are copied there first.

use crate::error::ChangesError;
use crate::files::file_stat::FileStat;
use crate::files::rooted_dir::{RootedDir, mount_of};
use crate::files::system::mknodat;
use crate::plan::apply::set_attributes;
use crate::plan::file_comparison::file_attributes;
use crate::plan::{ApplyPlan, SlotRename};
use crate::store::meta::Meta;
use crate::store::numbers::numbers;
use crate::store::set::{ChangeSet, SLOTS_DIR};
use agent_bash_os::{PrivateDir, proc_path};
use rustix::fs::{AtFlags, FileType, Mode, OFlags, SeekFrom, linkat, mkdirat, openat};
use rustix::fs::{readlinkat, seek, symlinkat};
use rustix::io::Errno;
use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::fs::{File, FileTimes};
use std::io::{self, Read, Seek, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The name of the hidden directory. It is in `.git`, where git ignores unknown files, or, without
/// a repository, in the root.
const HIDDEN_SLOTS_DIR: &str = ".agent-bash-changes";

/// The file that shows the clock of the tree's file system by its times.
const MARK_FILE: &str = "mark";

/// Returns the hidden directory for a change set with the unique `name`.
pub(crate) fn slot_directory(root: &Path, name: &str) -> Result<PathBuf, ChangesError> {
    let git = root.join(".git");
    let is_dir = git.symlink_metadata().is_ok_and(|it| it.is_dir());
    let can_rename = is_dir && mount_of(&git)? == mount_of(root)?;
    let parent = if can_rename { git } else { root.to_owned() };
    Ok(parent.join(HIDDEN_SLOTS_DIR).join(name))
}

/// Creates the hidden directory, if this change set needs one, and restores the times of its
/// parent.
pub(crate) fn make(meta: &Meta) -> Result<(), ChangesError> {
    let Some(path) = meta.slot_directory() else {
        return Ok(());
    };
    let failed = || ChangesError::io("making", path.clone());
    let name = path.file_name().and_then(OsStr::to_str);
    let (Some(hidden_directory), Some(name)) = (path.parent(), name) else {
        return Err(failed()(io::ErrorKind::InvalidInput.into()));
    };
    let parent = hidden_directory.parent().unwrap_or(hidden_directory);
    let mut tree = RootedDir::open_same(&meta.root(), meta.identity)?;
    let parent = opened_directory(&mut tree, parent)?;
    let times = parent.metadata().and_then(|it| it.modified());
    let made = PrivateDir::create(&parent, &[HIDDEN_SLOTS_DIR, name]).map_err(failed())?;
    if let (Ok(modified), Ok(parent)) = (times, File::open(&parent)) {
        // Failing to restore the times does no harm.
        let _ = parent.set_times(FileTimes::new().set_modified(modified));
    }
    // A command may have put a link in the place of the file.
    let hidden = PrivateDir::open(&parent, &[HIDDEN_SLOTS_DIR]).map_err(failed())?;
    match hidden.create_new(".gitignore") {
        Ok(mut ignore) => ignore.write_all(b"*\n").map_err(failed())?,
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(failed()(error)),
    }
    match made.make_dir(SLOTS_DIR) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(failed()(error)),
        _ => Ok(()),
    }
}

/// Opens a directory of the tree, and returns a path that leads to it even if a command puts a link
/// in its place. A link that is there already is an error.
fn opened_directory(tree: &mut RootedDir, directory: &Path) -> Result<PathBuf, ChangesError> {
    let below = directory.strip_prefix(tree.path());
    let below = below.map_or_else(|_| directory.to_owned(), Path::to_owned);
    let opened = tree.directory(&below).map_err(|error| {
        let error = match error {
            Errno::LOOP => io::Error::other("a link is in its place; remove the link"),
            error => error.into(),
        };
        ChangesError::io("opening", directory)(error)
    })?;
    Ok(if cfg!(target_os = "linux") {
        proc_path(opened).into()
    } else {
        directory.to_owned()
    })
}

impl ChangeSet {
    /// Returns the directory with the slots of this change set's journal.
    pub(crate) fn slots(&self) -> PathBuf {
        let in_tree = self.meta.slot_directory().filter(|path| path.is_dir());
        in_tree.unwrap_or_else(|| self.dir().to_owned())
    }

    /// Returns a file whose times show the clock of the tree's file system, and the path of the
    /// file.
    pub(crate) fn clock(&self) -> Result<(File, PathBuf), ChangesError> {
        let slots = self.slots();
        let path = slots.join(MARK_FILE);
        if slots == self.dir() {
            let lock = self.lock.try_clone();
            return lock
                .map(|file| (file, path.clone()))
                .map_err(ChangesError::io("opening", path));
        }
        let opened = PrivateDir::open(&slots, &[]).and_then(|dir| dir.open_or_create(MARK_FILE));
        opened
            .map(|file| (file, path.clone()))
            .map_err(ChangesError::io("opening", path))
    }

    /// If files cannot be renamed from the upper directory into the tree, copies new files to the
    /// slot directory.
    pub(crate) fn stage(
        &self,
        upper: &mut RootedDir,
        plan: &mut ApplyPlan,
    ) -> Result<(), ChangesError> {
        let slots = self.slots();
        if slots == self.dir() {
            return Ok(());
        }
        let slot_dir = PrivateDir::open(&slots, &[SLOTS_DIR])
            .map_err(ChangesError::io("opening", slots.join(SLOTS_DIR)))?;
        // Files of an earlier attempt stay, since they may belong to another process.
        let first = numbers(&slot_dir)?.last().map_or(0, |last| last + 1);
        let mut known = HashMap::new();
        for (number, op) in (first..).zip(&mut plan.ops) {
            let name = OsString::from(number.to_string());
            let slot = PathBuf::from(OsStr::from_bytes(&op.slot));
            op.slot = Path::new(SLOTS_DIR)
                .join(&name)
                .into_os_string()
                .into_encoded_bytes();
            if op.act != SlotRename::Take {
                let copied = copy_file(upper, &slot, &slot_dir, &name, &mut known)
                    .and_then(|()| Ok(FileStat::at(&slot_dir, &name)?));
                op.in_slot = copied.map_err(ChangesError::io("copying", self.dir().join(slot)))?;
            }
        }
        Ok(())
    }
}

/// Copies one file with its attributes. `known` has the copies of files with several names, by
/// inode.
fn copy_file(
    from: &mut RootedDir,
    slot: &Path,
    to: &PrivateDir,
    name: &OsStr,
    known: &mut HashMap<u64, OsString>,
) -> io::Result<()> {
    let Some(stat) = from.stat(slot)? else {
        return Err(io::ErrorKind::NotFound.into());
    };
    if !stat.is_dir() && stat.links > 1 {
        if let Some(first) = known.get(&stat.ino) {
            return Ok(linkat(to, first, to, name, AtFlags::empty())?);
        }
        known.insert(stat.ino, name.to_owned());
    }
    match stat.kind() {
        FileType::RegularFile => {
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
            let to = openat(to, name, flags, Mode::RUSR | Mode::WUSR)?;
            copy_content(from.file(slot)?, to, stat.size)?;
        }
        FileType::Directory => mkdirat(to, name, Mode::RWXU)?,
        FileType::Symlink => {
            let (dir, link) = from.parent(slot)?;
            symlinkat(readlinkat(dir, link, Vec::new())?, to, name)?;
        }
        kind => mknodat(to, name, kind, Mode::RUSR | Mode::WUSR, stat.device)?,
    }
    let attributes = file_attributes(from, slot, &stat)?;
    let is_link = stat.kind() == FileType::Symlink;
    Ok(set_attributes(to.as_fd(), name, &attributes, is_link)?)
}

/// Copies the contents of a file, preserving holes.
fn copy_content(from: OwnedFd, to: OwnedFd, size: u64) -> io::Result<()> {
    let (mut from, mut to) = (File::from(from), File::from(to));
    to.set_len(size)?;
    let mut offset = 0;
    loop {
        let begin = match seek(&from, SeekFrom::Data(offset)) {
            Ok(begin) => begin,
            Err(Errno::NXIO) => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        offset = seek(&from, SeekFrom::Hole(begin))?;
        from.seek(io::SeekFrom::Start(begin))?;
        to.seek(io::SeekFrom::Start(begin))?;
        io::copy(&mut Read::by_ref(&mut from).take(offset - begin), &mut to)?;
    }
}
