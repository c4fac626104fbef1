//! Records the changes of a traced system call before it continues.

use super::memory;
use super::named_file::NamedFile;
use super::paths::leader;
use super::sockets::KnownSockets;
use super::touched::{self, CallArguments, CallEffect};
use super::watched_tree::{FileLocation, WatchedTree};
use agent_bash_changes::{
    BackgroundChanges, BeyondRoot, ChangesError, KeepOutcome, Recorder, Touch,
};
use agent_bash_notify::{Listener, WaitingCall};
use agent_bash_sandbox::trace::{self, IndirectEffect};
use rustix::fs::FileType;
use std::fs::read_to_string;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

/// A recorder of changes.
pub(super) trait ChangeRecord {
    fn root(&self) -> &Path;
    fn before(&mut self, path: &Path, touch: Touch) -> Result<KeepOutcome, ChangesError>;
    fn before_beyond(
        &mut self,
        file: &BeyondRoot<'_>,
        touch: Touch,
    ) -> Result<KeepOutcome, ChangesError>;
}

impl ChangeRecord for Recorder {
    fn root(&self) -> &Path {
        self.root()
    }

    fn before(&mut self, path: &Path, touch: Touch) -> Result<KeepOutcome, ChangesError> {
        self.before(path, touch)
    }

    fn before_beyond(
        &mut self,
        file: &BeyondRoot<'_>,
        touch: Touch,
    ) -> Result<KeepOutcome, ChangesError> {
        self.before_beyond(file, touch)
    }
}

impl ChangeRecord for BackgroundChanges {
    fn root(&self) -> &Path {
        self.root()
    }

    fn before(&mut self, path: &Path, touch: Touch) -> Result<KeepOutcome, ChangesError> {
        self.before(path, touch)
    }

    fn before_beyond(
        &mut self,
        file: &BeyondRoot<'_>,
        touch: Touch,
    ) -> Result<KeepOutcome, ChangesError> {
        self.before_beyond(file, touch)
    }
}

/// The reason why a record is incomplete.
pub(super) struct IncompleteReason {
    pub(super) reason: String,
    /// The change set is full.
    pub(super) full: bool,
}

impl IncompleteReason {
    fn of(reason: impl Into<String>) -> Self {
        Self {
            reason: reason.into(),
            full: false,
        }
    }

    fn unread(error: rustix::io::Errno) -> Self {
        Self::of(format!("a path could not be read: {error}"))
    }
}

impl From<ChangesError> for IncompleteReason {
    fn from(error: ChangesError) -> Self {
        match error {
            ChangesError::TooMuch { limit } => Self {
                reason: format!(
                    "it was ended, as more than {limit} MiB of former contents would have had to be kept \
                     (`changes.max_set_mb`); what it did until then is listed, and can be undone"
                ),
                full: true,
            },
            error => Self::of(error.to_string()),
        }
    }
}

/// The context of traced calls, shared by all change sets of a shell.
#[derive(Debug)]
pub(super) struct TraceContext {
    /// Private directories of this program, which are not recorded.
    excluded: Vec<PathBuf>,
    /// The root of the last recorded change.
    tree: Option<WatchedTree>,
    sockets: KnownSockets,
}

impl TraceContext {
    pub(super) fn new(excluded: Vec<PathBuf>) -> Self {
        Self {
            excluded,
            tree: None,
            sockets: KnownSockets::default(),
        }
    }

    fn excludes(&self, path: &Path) -> bool {
        self.excluded.iter().any(|own| path.starts_with(own))
    }

    /// Remembers the sockets of traced processes, also while no change set is open.
    pub(super) fn remember(&mut self, waiting: &WaitingCall) {
        if !trace::is_native(waiting.table, waiting.number) {
            return;
        }
        match i64::from(waiting.number) {
            nix::libc::SYS_bind => self.sockets.binds(waiting),
            nix::libc::SYS_listen => self.sockets.listens(waiting),
            _ => {}
        }
    }

    /// Returns why this call may cause changes by a process outside; `None` if it cannot.
    pub(super) fn asks(&self, waiting: &WaitingCall) -> Option<String> {
        if !trace::is_native(waiting.table, waiting.number) {
            return Some("a program of 32 bits may have asked a process outside".to_owned());
        }
        let Some(IndirectEffect::Connects(argument)) = indirect(waiting) else {
            return None;
        };
        self.sockets.connects(waiting, argument, &self.excluded)
    }

    /// True if a call certainly changes no recorded file, while the root is not known yet.
    pub(super) fn change_nothing(&self, listener: &Listener, waiting: &WaitingCall) -> bool {
        let certain = AssertUnwindSafe(|| {
            if !trace::is_native(waiting.table, waiting.number) {
                return false;
            }
            match indirect(waiting) {
                // The script may run before the order to record arrives here, so a connection by
                // which it may cause changes waits for that order as a change does.
                Some(IndirectEffect::Connects(_)) => return self.asks(waiting).is_none(),
                Some(IndirectEffect::Listens) => return true,
                Some(_) => return false,
                None => {}
            }
            let Ok(effects) = effects(listener, waiting) else {
                return false;
            };
            effects.iter().all(|effect| match effect {
                CallEffect::Touches(file, _) => {
                    let path = file.path();
                    path.is_ok_and(|path| self.excludes(&path) || is_virtual(&path))
                }
                CallEffect::MakesFifo(_) => true,
                CallEffect::WritesToFifo(file) => {
                    file.path().is_ok_and(|path| self.excludes(&path))
                }
            })
        });
        catch_unwind(certain).unwrap_or(false)
    }

    /// Records the changes of a call. A panic of this thread would fail every waiting call.
    pub(super) fn record(
        &mut self,
        listener: &Listener,
        waiting: &WaitingCall,
        record: &mut dyn ChangeRecord,
    ) -> Result<(), IncompleteReason> {
        let recorded = AssertUnwindSafe(|| self.recorded(listener, waiting, record));
        catch_unwind(recorded).unwrap_or_else(|_| Err(IncompleteReason::of("recording it failed")))
    }

    fn recorded(
        &mut self,
        listener: &Listener,
        waiting: &WaitingCall,
        record: &mut dyn ChangeRecord,
    ) -> Result<(), IncompleteReason> {
        if !trace::is_native(waiting.table, waiting.number) {
            return Err(IncompleteReason::of(
                "a program of 32 bits has changed files",
            ));
        }
        if let Some(indirect) = indirect(waiting) {
            return self.indirect(waiting, indirect, record);
        }
        for effect in effects(listener, waiting)? {
            match effect {
                CallEffect::Touches(file, touch) => {
                    self.touches(&file, touch, waiting.thread, true, record)?;
                }
                CallEffect::MakesFifo(file) => {
                    let path = file.path().map_err(IncompleteReason::unread)?;
                    self.sockets.makes_fifo(path);
                }
                CallEffect::WritesToFifo(file) => {
                    let path = file.path().map_err(IncompleteReason::unread)?;
                    let asks = self.sockets.writes_to_fifo(&path);
                    if let Some(asks) = asks.filter(|_| !self.excludes(&path)) {
                        return Err(IncompleteReason::of(asks));
                    }
                }
            }
        }
        Ok(())
    }

    /// Records one file. `is_done`: the call touches it now, so that it counts outside the root.
    pub(super) fn touches(
        &mut self,
        file: &NamedFile,
        touch: Touch,
        thread: i32,
        is_done: bool,
        record: &mut dyn ChangeRecord,
    ) -> Result<(), IncompleteReason> {
        let path = file.path().map_err(IncompleteReason::unread)?;
        if self.excludes(&path) {
            return Ok(());
        }
        let tree = self.tree(record.root())?;
        let location = tree.locate(file, path, touch, thread);
        match location.map_err(IncompleteReason::unread)? {
            FileLocation::Within(path) => {
                if touch == Touch::Name && record.root().starts_with(&path) {
                    return Err(IncompleteReason::of(MOVED_REASON));
                }
                record.before(&path, touch)?;
            }
            FileLocation::Beyond {
                path,
                names,
                is_near,
            } => {
                if touch == Touch::Name && record.root().starts_with(&path) {
                    return Err(IncompleteReason::of(MOVED_REASON));
                }
                if !is_near && is_virtual(&path) {
                    return Ok(());
                }
                let file = BeyondRoot {
                    path: &path,
                    reachable: &file.reachable_path(),
                    names,
                    is_near: is_near && file.kind() == Some(FileType::RegularFile),
                    is_counted: is_done,
                };
                record.before_beyond(&file, touch)?;
            }
            FileLocation::Unknown => {
                return Err(IncompleteReason::of(
                    "names were changed by a mount that is in no mount table and may show the directory",
                ));
            }
        }
        Ok(())
    }

    fn tree(&mut self, root: &Path) -> Result<&WatchedTree, IncompleteReason> {
        if self.tree.as_ref().is_none_or(|tree| tree.root() != root) {
            self.tree = Some(WatchedTree::new(root).map_err(IncompleteReason::unread)?);
        }
        self.tree
            .as_ref()
            .ok_or_else(|| IncompleteReason::of(MOVED_REASON))
    }

    fn indirect(
        &mut self,
        waiting: &WaitingCall,
        indirect: IndirectEffect,
        record: &mut dyn ChangeRecord,
    ) -> Result<(), IncompleteReason> {
        let thread = waiting.thread;
        let opened =
            |argument| NamedFile::opened(thread, CallArguments { waiting }.number(argument));
        let reason = match indirect {
            IndirectEffect::Listens => None,
            IndirectEffect::Connects(_) => self.asks(waiting),
            IndirectEffect::OpensByHandle => {
                Some("a file was opened for writing by its handle".to_owned())
            }
            IndirectEffect::Mounts(argument) => {
                let address = waiting.arguments.get(usize::from(argument)).copied();
                let kind = memory::text(thread, address.unwrap_or_default()).unwrap_or_default();
                let stacks = STACKING_FILE_SYSTEMS
                    .iter()
                    .any(|known| kind.starts_with(known.as_bytes()));
                let kind = String::from_utf8_lossy(&kind).into_owned();
                stacks.then(|| {
                    format!(
                        "a file system was mounted that stores its files in another one ({kind})"
                    )
                })
            }
            IndirectEffect::SetsFlags => match opened(0) {
                Some(file) if self.may_be_within(&file, thread, record)? => Some(
                    "flags of files were set (as by `chattr`), which are not recorded".to_owned(),
                ),
                _ => None,
            },
            IndirectEffect::ChangesSubvolumes => {
                let tree = self.tree(record.root())?;
                tree.is_btrfs().then(|| {
                    "subvolumes were made or removed (btrfs), which is not recorded".to_owned()
                })
            }
            IndirectEffect::TakesDescriptor => {
                if let Some(file) = copied_file(waiting) {
                    self.touches(&file, Touch::Content, thread, false, record)?;
                }
                None
            }
        };
        match reason {
            Some(reason) => Err(IncompleteReason::of(reason)),
            None => Ok(()),
        }
    }

    fn may_be_within(
        &mut self,
        file: &NamedFile,
        thread: i32,
        record: &dyn ChangeRecord,
    ) -> Result<bool, IncompleteReason> {
        let path = file.path().map_err(IncompleteReason::unread)?;
        let tree = self.tree(record.root())?;
        let location = tree.locate(file, path, Touch::Attributes, thread);
        Ok(match location.map_err(IncompleteReason::unread)? {
            FileLocation::Within(_) | FileLocation::Unknown => true,
            FileLocation::Beyond { names, is_near, .. } => is_near && file.links() > names,
        })
    }
}

const MOVED_REASON: &str = "the directory itself, or one that it is in, was moved";

/// File systems that store their files in another one.
const STACKING_FILE_SYSTEMS: &[&str] =
    &["overlay", "ecryptfs", "aufs", "unionfs", "fuse", "shiftfs"];

fn indirect(waiting: &WaitingCall) -> Option<IndirectEffect> {
    trace::indirect(waiting.number, &waiting.arguments)
}

/// Returns the effects of a call.
fn effects(
    listener: &Listener,
    waiting: &WaitingCall,
) -> Result<Vec<CallEffect>, IncompleteReason> {
    let Some(call) = trace::call(waiting.number) else {
        return Ok(Vec::new());
    };
    let effects = touched::by(waiting, call);
    if !listener.still_waits(waiting) {
        return Ok(Vec::new());
    }
    effects.map_err(|error| IncompleteReason::of(format!("a path could not be read: {error}")))
}

/// The file whose descriptor a call copies from another process.
fn copied_file(waiting: &WaitingCall) -> Option<NamedFile> {
    let arguments = CallArguments { waiting };
    let process = format!("/proc/{}/fdinfo/{}", waiting.thread, arguments.number(0));
    let process = read_to_string(process).ok()?;
    let pid = process.lines().find_map(|line| line.strip_prefix("Pid:"));
    let pid: i32 = pid?.trim().parse().ok()?;
    let file = NamedFile::opened(leader(pid)?, arguments.number(1))?;
    (file.kind() == Some(FileType::RegularFile)).then_some(file)
}

/// Returns true for paths of kernel file systems and devices. Shared memory contains files.
fn is_virtual(path: &Path) -> bool {
    let below = |directory| path.starts_with(directory);
    below("/proc") || below("/sys") || (below("/dev") && !below("/dev/shm"))
}
