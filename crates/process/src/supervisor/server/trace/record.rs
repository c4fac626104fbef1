//! Records the changes of a traced system call before it continues.

use super::changes_without_path;
use super::named_file::NamedFile;
use super::recorded_root::{FileLocation, RecordedRoot};
use super::sockets::KnownSockets;
use super::touched::{self, CallEffect};
use agent_bash_changes::{
    BackgroundChanges, ChangesError, OutsideFile, RecordOutcome, Recorder, Touch,
};
use agent_bash_core::sandbox::{HiddenPaths, Plan, RedirectedFile, Tier};
use agent_bash_notify::{Listener, WaitingCall};
use agent_bash_sandbox::trace::{self, IndirectEffect};
use rustix::fs::FileType;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

/// A recorder of changes.
pub(super) trait ChangeRecord {
    /// True if this recorder records the running call, false for an earlier call.
    fn is_of_running_call(&self) -> bool;
    fn root(&self) -> &Path;
    /// Records the state of a file below the root, before the file is changed.
    fn before(&mut self, path: &Path, touch: Touch) -> Result<RecordOutcome, ChangesError>;
    /// Records the state of a file outside the root, before the file is changed.
    fn before_outside(
        &mut self,
        file: &OutsideFile<'_>,
        touch: Touch,
    ) -> Result<RecordOutcome, ChangesError>;
}

macro_rules! change_record {
    ($type:ty, $is_of_running_call:literal) => {
        impl ChangeRecord for $type {
            fn is_of_running_call(&self) -> bool {
                $is_of_running_call
            }

            fn root(&self) -> &Path {
                self.root()
            }

            fn before(&mut self, path: &Path, touch: Touch) -> Result<RecordOutcome, ChangesError> {
                self.before(path, touch)
            }

            fn before_outside(
                &mut self,
                file: &OutsideFile<'_>,
                touch: Touch,
            ) -> Result<RecordOutcome, ChangesError> {
                self.before_outside(file, touch)
            }
        }
    };
}

change_record!(Recorder, true);
change_record!(BackgroundChanges, false);

/// The reason why a record is incomplete.
pub(super) struct IncompleteReason {
    pub(super) reason: String,
    /// True if the change set has reached its size limit.
    pub(super) reached_limit: bool,
}

impl IncompleteReason {
    pub(super) fn of(reason: impl Into<String>) -> Self {
        Self {
            reason: reason.into(),
            reached_limit: false,
        }
    }

    pub(super) fn unreadable_path(error: rustix::io::Errno) -> Self {
        Self::of(format!("a path could not be read: {error}"))
    }
}

impl From<ChangesError> for IncompleteReason {
    fn from(error: ChangesError) -> Self {
        match error {
            ChangesError::PreimageLimit { limit } => Self {
                reason: format!(
                    "it was ended, because the former contents of its files exceed {limit} MiB \
                     (`changes.max_set_mb`); its changes until then are listed, and can be undone"
                ),
                reached_limit: true,
            },
            error => Self::of(error.to_string()),
        }
    }
}

/// The context of traced system calls, shared by all change sets of a shell.
#[derive(Debug)]
pub(super) struct TraceContext {
    /// Files and directories that are not recorded.
    pub(super) excluded: Vec<PathBuf>,
    /// The root of the change set of the last recorded change.
    recorded_root: Option<RecordedRoot>,
    pub(super) sockets: KnownSockets,
    /// True if all connections stay among sandboxes.
    is_guarded: bool,
    /// The plan of the shell's sandbox.
    plan: Option<Plan>,
    /// The last writes of the call that the plan refuses, the latest last.
    refused: Vec<PathBuf>,
    /// The last protected files that the call has checked for write permission, the latest last.
    refused_queries: Vec<PathBuf>,
}

/// The maximum number of reported refused writes.
const MAX_REFUSED: usize = 20;

/// The directory in which Python tries to store compiled modules. Python ignores the failure.
const IGNORED_DIRECTORY: &str = "__pycache__";

impl TraceContext {
    pub(super) fn new(excluded: Vec<PathBuf>, is_guarded: bool, plan: Option<Plan>) -> Self {
        Self {
            excluded,
            recorded_root: None,
            sockets: KnownSockets::default(),
            is_guarded,
            plan,
            refused: Vec::new(),
            refused_queries: Vec::new(),
        }
    }

    /// Returns the paths of the sandbox whose files must not be read.
    pub(super) fn hidden(&self) -> HiddenPaths {
        let plan = self.plan.as_ref();
        plan.map_or_else(HiddenPaths::default, |plan| plan.hidden.clone())
    }

    /// Returns the writes that the sandbox has refused since the last call of this function. If the
    /// sandbox has refused none, returns the protected files that the call has checked for write
    /// permission.
    pub(super) fn take_refused(&mut self) -> Vec<PathBuf> {
        let queries = std::mem::take(&mut self.refused_queries);
        let refused = std::mem::take(&mut self.refused);
        if refused.is_empty() { queries } else { refused }
    }

    /// Remembers the writes of a system call that the sandbox refuses. Catches panics, as
    /// [`Self::record`] does.
    pub(super) fn note_refusals(&mut self, listener: &Listener, call: &WaitingCall) {
        let note = AssertUnwindSafe(|| {
            for effect in effects(listener, call).unwrap_or_default() {
                let (file, is_query) = match effect {
                    CallEffect::Touches(file, _) | CallEffect::SetsFlags(file) => (file, false),
                    CallEffect::AsksToWrite(file) => (file, true),
                    _ => continue,
                };
                if let Ok(path) = file.path()
                    && !self.excludes(&path)
                {
                    self.note_refused(&file, &path, is_query);
                }
            }
        });
        // A refusal that could not be examined is not reported.
        let _ = catch_unwind(note);
    }

    /// Remembers a write that the sandbox refuses, or a query about one. The tier base refuses no
    /// queries.
    fn note_refused(&mut self, file: &NamedFile, path: &Path, is_query: bool) {
        let is_device = matches!(
            file.kind(),
            Some(FileType::CharacterDevice | FileType::BlockDevice)
        );
        let refuses = |plan: &Plan| {
            let is_ignored = path
                .components()
                .any(|component| component.as_os_str() == IGNORED_DIRECTORY);
            let is_observed = !is_query || plan.tier == Tier::Full;
            is_observed
                && plan.refuses_write(path)
                && !is_ignored
                && !is_device
                && !is_virtual(path)
        };
        if !self.plan.as_ref().is_some_and(refuses) {
            return;
        }
        let remembered = if is_query {
            &mut self.refused_queries
        } else {
            &mut self.refused
        };
        remembered.retain(|earlier| earlier != path);
        if remembered.len() == MAX_REFUSED {
            remembered.remove(0);
        }
        remembered.push(path.to_owned());
    }

    /// True if a mount of the sandbox refuses the change. The mount is lost if a process outside
    /// replaces the file, so the plan alone does not decide. A directory with a protected path is a
    /// mount, too, so its name stays.
    fn is_refused_by_mount(&self, file: &NamedFile, path: &Path, touch: Touch) -> bool {
        let plan = self.plan.as_ref().filter(|plan| plan.tier == Tier::Full);
        plan.is_some_and(|plan| {
            touch == Touch::Name && file.is_mount_point()
                || plan.refuses_write(path) && file.is_on_read_only_mount()
        })
    }

    /// Returns the file whose private copy is in the directory of this path.
    fn redirected_by(&self, path: &Path) -> Option<&RedirectedFile> {
        let redirected = self.plan.as_ref()?.git_config.as_ref();
        redirected.filter(|file| path.starts_with(&file.directory))
    }

    pub(super) fn excludes(&self, path: &Path) -> bool {
        self.excluded
            .iter()
            .any(|excluded| path.starts_with(excluded))
    }

    /// Remembers the sockets of traced processes, even while no change set is open.
    pub(super) fn remember(&mut self, call: &WaitingCall) {
        if !trace::is_native(call.architecture, call.number) {
            return;
        }
        match i64::from(call.number) {
            nix::libc::SYS_bind => self.sockets.record_bind(call),
            nix::libc::SYS_listen => self.sockets.record_listen(call),
            _ => {}
        }
    }

    /// Returns why this system call may cause changes by a process outside the trace; `None` if it
    /// cannot.
    pub(super) fn external_change_reason(&self, call: &WaitingCall) -> Option<String> {
        if !trace::is_native(call.architecture, call.number) {
            return Some("a program of 32 bits may have asked a process outside".to_owned());
        }
        let argument = match indirect(call)? {
            IndirectEffect::Connects(_) if self.is_guarded => return None,
            IndirectEffect::Connects(argument) => Some(argument),
            IndirectEffect::ConnectsByMessage => None,
            _ => return None,
        };
        self.sockets
            .connection_reason(call, argument, &self.excluded)
    }

    /// True if a system call certainly changes no recorded file. This check is used while the root
    /// is not known.
    pub(super) fn changes_nothing(&self, listener: &Listener, call: &WaitingCall) -> bool {
        let certain = AssertUnwindSafe(|| {
            if !trace::is_native(call.architecture, call.number) {
                return false;
            }
            match indirect(call) {
                // The script may run before the order to record arrives. So a connection that may
                // cause changes waits for that order, like a change.
                Some(IndirectEffect::Connects(_) | IndirectEffect::ConnectsByMessage) => {
                    return self.external_change_reason(call).is_none();
                }
                Some(IndirectEffect::Listens) => return true,
                Some(_) => return false,
                None => {}
            }
            let Ok(effects) = effects(listener, call) else {
                return false;
            };
            effects.iter().all(|effect| match effect {
                CallEffect::Touches(file, _) => {
                    let path = file.path();
                    let is_harmless = |path: &Path| {
                        changes_without_path::is_kernel_file(file)
                            && changes_without_path::process_of_memory(path).is_none()
                    };
                    path.is_ok_and(|path| self.excludes(&path) || is_harmless(&path))
                }
                CallEffect::MakesFifo(_) | CallEffect::AsksToWrite(_) => true,
                CallEffect::WritesToFifo(file) => {
                    let path = file.path();
                    path.is_ok_and(|path| self.excludes(&path) || self.sockets.knows_fifo(&path))
                }
                CallEffect::WritesToDevice(_) | CallEffect::SetsFlags(_) => false,
            })
        });
        catch_unwind(certain).unwrap_or(false)
    }

    /// Records the changes of a system call. Catches panics: without this thread, every traced
    /// system call would fail.
    pub(super) fn record(
        &mut self,
        listener: &Listener,
        call: &WaitingCall,
        record: &mut dyn ChangeRecord,
    ) -> Result<(), IncompleteReason> {
        let attempt = AssertUnwindSafe(|| self.try_record(listener, call, record));
        catch_unwind(attempt).unwrap_or_else(|_| Err(IncompleteReason::of("recording it failed")))
    }

    fn try_record(
        &mut self,
        listener: &Listener,
        call: &WaitingCall,
        record: &mut dyn ChangeRecord,
    ) -> Result<(), IncompleteReason> {
        if !trace::is_native(call.architecture, call.number) {
            return Err(IncompleteReason::of(
                "a program of 32 bits has changed files",
            ));
        }
        if let Some(indirect) = indirect(call) {
            return self.record_indirect(call, indirect, record);
        }
        for effect in effects(listener, call)? {
            match effect {
                CallEffect::Touches(file, touch) => {
                    self.record_touch(&file, touch, call.thread, true, record)?;
                }
                CallEffect::SetsFlags(file) => {
                    self.record_flags(&file, call.thread, record)?;
                }
                CallEffect::MakesFifo(file) => {
                    let path = file.path().map_err(IncompleteReason::unreadable_path)?;
                    self.sockets.record_fifo(path);
                }
                CallEffect::AsksToWrite(_) => {}
                CallEffect::WritesToFifo(file) | CallEffect::WritesToDevice(file) => {
                    if let Some(reason) = self.open_file_reason(file) {
                        return Err(IncompleteReason::of(reason));
                    }
                }
            }
        }
        Ok(())
    }

    /// Records one file. `is_immediate` is true if the system call itself touches the file. Outside
    /// the root, only such files are counted.
    pub(super) fn record_touch(
        &mut self,
        file: &NamedFile,
        touch: Touch,
        thread: i32,
        is_immediate: bool,
        record: &mut dyn ChangeRecord,
    ) -> Result<(), IncompleteReason> {
        let path = file.path().map_err(IncompleteReason::unreadable_path)?;
        if let Some(redirected) = self.redirected_by(&path) {
            // The host may write the file itself when the call has ended.
            record.before(&redirected.file, Touch::Content)?;
            return Ok(());
        }
        if self.excludes(&path) {
            return Ok(());
        }
        if is_immediate && record.is_of_running_call() {
            self.note_refused(file, &path, false);
        }
        // A stored state is another name of the file, and would count as a change of it.
        if self.is_refused_by_mount(file, &path, touch) {
            return Ok(());
        }
        let recorded_root = self.recorded_root(record.root())?;
        let location = recorded_root.locate(file, path, touch, thread);
        match location.map_err(IncompleteReason::unreadable_path)? {
            FileLocation::Inside(path) => {
                if touch == Touch::Name && record.root().starts_with(&path) {
                    return Err(IncompleteReason::of(MOVED_REASON));
                }
                record.before(&path, touch)?;
            }
            FileLocation::Outside {
                path,
                names,
                is_same_file_system,
            } => {
                if touch == Touch::Name && record.root().starts_with(&path) {
                    return Err(IncompleteReason::of(MOVED_REASON));
                }
                if !is_same_file_system && is_virtual(&path) {
                    let reason = changes_without_path::memory_reason(&path);
                    return reason.map_or(Ok(()), |reason| Err(IncompleteReason::of(reason)));
                }
                if !is_same_file_system
                    && changes_without_path::is_stored_below(file, thread, record.root())
                {
                    return Err(IncompleteReason::of(format!(
                        "a file system that stores its files in the directory was changed ({})",
                        path.display()
                    )));
                }
                let file = OutsideFile {
                    path: &path,
                    reachable: &file.reachable_path(),
                    names,
                    is_same_file_system: is_same_file_system
                        && file.kind() == Some(FileType::RegularFile),
                    is_counted: is_immediate,
                };
                record.before_outside(&file, touch)?;
            }
            FileLocation::Unknown => {
                return Err(IncompleteReason::of(
                    "names were changed by a mount that is in no mount table and may show the directory",
                ));
            }
        }
        Ok(())
    }

    /// Returns the root of the record, opened on first use.
    pub(super) fn recorded_root(&mut self, root: &Path) -> Result<&RecordedRoot, IncompleteReason> {
        if self
            .recorded_root
            .as_ref()
            .is_none_or(|known| known.root() != root)
        {
            self.recorded_root =
                Some(RecordedRoot::new(root).map_err(IncompleteReason::unreadable_path)?);
        }
        self.recorded_root
            .as_ref()
            .ok_or_else(|| IncompleteReason::of(MOVED_REASON))
    }
}

const MOVED_REASON: &str = "the directory itself, or one that it is in, was moved";

fn indirect(call: &WaitingCall) -> Option<IndirectEffect> {
    trace::indirect(call.number, &call.arguments)
}

/// Returns the effects of a system call.
fn effects(
    listener: &Listener,
    waiting: &WaitingCall,
) -> Result<Vec<CallEffect>, IncompleteReason> {
    let Some(call) = trace::call(waiting.number) else {
        return Ok(Vec::new());
    };
    let effects = touched::effects(waiting, call);
    if !listener.still_waits(waiting) {
        return Ok(Vec::new());
    }
    effects.map_err(|error| IncompleteReason::of(format!("a path could not be read: {error}")))
}

/// True for paths of kernel file systems and devices, except shared memory, which contains files.
fn is_virtual(path: &Path) -> bool {
    let is_below = |directory| path.starts_with(directory);
    is_below("/proc") || is_below("/sys") || (is_below("/dev") && !is_below("/dev/shm"))
}
