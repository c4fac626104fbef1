//! Confines inherited files that are open for reading only. The descriptor of such a file belongs
//! to a mount of the host: by `/proc/self/fd`, a process could open a protected file for writing,
//! and change the permissions, times and attributes of every file that the user owns.
//!
//! Such a descriptor is replaced by one of a read-only mount of the same file. The new descriptor
//! starts at the same position, but does not share it with processes outside, nor their locks.
//! Therefore the following descriptors stay as they are:
//!
//! - A file that is open for writing: the caller gave it to be written. The position must stay
//!   shared, because otherwise later output of the caller would overwrite the output of the call.
//! - A file in a place that the sandbox may write.
//! - A file that the user neither owns nor may write: there, nothing can be changed.
//! - A file without a name, which has no protected path.

use super::mounts::make_one_read_only;
use crate::error::SandboxError;
use crate::path_lookup::PathLookup;
use crate::plan::Order;
use agent_bash_core::sandbox::Plan;
use agent_bash_os::proc_path;
use rustix::fs::{
    Access, FileType, Mode, OFlags, SeekFrom, access, fcntl_getfl, fstat, open, seek,
};
use rustix::io::{Errno, FdFlags, fcntl_dupfd_cloexec, fcntl_setfd};
use rustix::mount::mount_bind;
use std::fs;
use std::os::fd::{AsRawFd, IntoRawFd, OwnedFd};
use std::path::{Path, PathBuf};

/// The numbers of the standard descriptors.
const STANDARD: [i32; 3] = [0, 1, 2];

/// The flags of a descriptor that its replacement gets too.
const KEPT_FLAGS: OFlags = OFlags::NONBLOCK
    .union(OFlags::DIRECT)
    .union(OFlags::PATH)
    .union(OFlags::APPEND);

/// An inherited file that is open for reading only, and which the sandbox must not change.
#[derive(Debug)]
pub(super) struct InheritedFile {
    number: i32,
    file: OwnedFd,
    path: PathBuf,
}

/// Returns the inherited files whose descriptors must be replaced. Runs outside of the sandbox,
/// where the kernel reports the paths of the host.
pub(super) fn to_confine(order: &Order, plan: &Plan) -> Result<Vec<InheritedFile>, SandboxError> {
    let numbers = STANDARD.into_iter().chain(order.inherited.iter().copied());
    let found: std::io::Result<Vec<_>> = numbers
        .filter_map(|number| InheritedFile::at(number).transpose())
        .collect();
    let mut found = found.map_err(SandboxError::step("reading the inherited files"))?;
    if !found.is_empty() {
        let hidden = PathLookup::default().existing(&plan.hidden);
        let hidden: Vec<&Path> = hidden.iter().map(PathBuf::as_path).collect();
        found.retain(|found| !may_write(&found.path, order, plan, &hidden));
    }
    Ok(found)
}

/// Replaces the descriptors. Runs after this process has its own mounts, and before other mounts
/// cover the files.
pub(super) fn confine(files: &[InheritedFile]) -> Result<(), SandboxError> {
    files.iter().try_for_each(|file| {
        let step = format!("confining the inherited file {}", file.path.display());
        file.confine().map_err(SandboxError::step(step))
    })
}

/// True if the sandbox may change this file of the host. A trial changes only a copy.
fn may_write(path: &Path, order: &Order, plan: &Plan, hidden: &[&Path]) -> bool {
    let is_within = |outer: &PathBuf| path.starts_with(outer);
    let caches = &plan.caches;
    let mut writable = plan.writable.iter().chain(&caches.writable);
    order.trial.is_none()
        && (writable.any(is_within) || order.writable.iter().any(is_within))
        && !plan.protected.iter().any(is_within)
        && !caches.mounts.iter().any(|(_, covered)| is_within(covered))
        && !hidden.iter().any(|outer| path.starts_with(outer))
}

impl InheritedFile {
    /// Returns the file of a descriptor; `None` for one that stays as it is in every sandbox.
    fn at(number: i32) -> std::io::Result<Option<Self>> {
        let file = match agent_bash_notify::inherited(number) {
            Err(error) if error.raw_os_error() == Some(Errno::BADF.raw_os_error()) => {
                return Ok(None);
            }
            file => file?,
        };
        let stat = fstat(&file)?;
        let is_read_only = fcntl_getfl(&file)? & OFlags::ACCMODE == OFlags::RDONLY;
        let kind = FileType::from_raw_mode(stat.st_mode);
        let is_named = kind == FileType::RegularFile && stat.st_nlink > 0;
        let link = proc_path(&file);
        let may_change = || {
            stat.st_uid == rustix::process::geteuid().as_raw()
                || access(&link, Access::WRITE_OK).is_ok()
        };
        if !is_read_only || !is_named || !may_change() {
            return Ok(None);
        }
        let path = fs::read_link(&link)?;
        Ok(Some(Self { number, file, path }))
    }

    fn confine(&self) -> rustix::io::Result<()> {
        mount_bind(&self.path, &self.path)?;
        make_one_read_only(&self.path)?;
        let kept = fcntl_getfl(&self.file)? & KEPT_FLAGS;
        let flags = kept | OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened = open(&self.path, flags, Mode::empty())?;
        let (former, found) = (fstat(&self.file)?, fstat(&opened)?);
        if (former.st_dev, former.st_ino) != (found.st_dev, found.st_ino) {
            // Another file has got the name.
            return Err(Errno::STALE);
        }
        if !kept.contains(OFlags::PATH) {
            let position = seek(&self.file, SeekFrom::Current(0))?;
            seek(&opened, SeekFrom::Start(position))?;
        }
        replace(self.number, &opened)
    }
}

/// Makes the descriptor with this number a copy of another one. This process has no other thread.
fn replace(number: i32, by: &OwnedFd) -> rustix::io::Result<()> {
    let _ = nix::unistd::close(number);
    let copy = fcntl_dupfd_cloexec(by, number)?;
    if copy.as_raw_fd() != number {
        return Err(Errno::BADF);
    }
    fcntl_setfd(&copy, FdFlags::empty())?;
    // The program inherits the descriptor, so this process never closes it.
    let _ = copy.into_raw_fd();
    Ok(())
}
