//! Records system calls that change files without naming them.

use super::changes_without_path::{self, controlled_process_reason};
use super::named_file::NamedFile;
use super::record::{ChangeRecord, IncompleteReason, TraceContext};
use super::recorded_root::FileLocation;
use super::touched::CallArguments;
use agent_bash_changes::Touch;
use agent_bash_core::words;
use agent_bash_notify::WaitingCall;
use agent_bash_os::process_of_thread;
use agent_bash_sandbox::trace::{IndirectEffect, memory};
use rustix::fs::FileType;
use std::fs::read_to_string;

/// File systems that do not store their files in a file or a directory, and read-only file systems.
const UNBACKED_FILE_SYSTEMS: &[&str] = words![
    "none bind tmpfs ramfs proc sysfs devtmpfs devpts mqueue cgroup cgroup2 bpf tracefs debugfs",
    "securityfs hugetlbfs configfs pstore efivarfs binfmt_misc selinuxfs squashfs erofs iso9660",
    "cramfs romfs",
];

impl TraceContext {
    /// Records the effect of a system call that names no changed file, or returns why its effect is
    /// unknown.
    pub(super) fn record_indirect(
        &mut self,
        call: &WaitingCall,
        indirect: IndirectEffect,
        record: &mut dyn ChangeRecord,
    ) -> Result<(), IncompleteReason> {
        let thread = call.thread;
        let opened = |argument| {
            NamedFile::from_descriptor(thread, CallArguments { waiting: call }.number(argument))
        };
        let reason = match indirect {
            IndirectEffect::Listens => None,
            IndirectEffect::Connects(_) | IndirectEffect::ConnectsByMessage => {
                self.external_change_reason(call)
            }
            IndirectEffect::OpensWhatOthersOpen => {
                Some("files were opened for writing by `fanotify`".to_owned())
            }
            IndirectEffect::ControlsProcess(argument) => {
                let process = CallArguments { waiting: call }.number(argument);
                let is_outside = changes_without_path::shares_pid_namespace(thread)
                    && changes_without_path::is_outside(process);
                is_outside.then(|| controlled_process_reason(process))
            }
            IndirectEffect::OpensByHandle => {
                Some("a file was opened for writing by its handle".to_owned())
            }
            IndirectEffect::Mounts(argument) => {
                let address = call.arguments.get(usize::from(argument)).copied();
                let kind = memory::text(thread, address.unwrap_or_default()).unwrap_or_default();
                let kind = String::from_utf8_lossy(&kind).into_owned();
                let stores = !kind.is_empty() && !UNBACKED_FILE_SYSTEMS.contains(&&*kind);
                stores.then(|| {
                    format!(
                        "a file system was mounted that may store its files in the directory ({kind})"
                    )
                })
            }
            IndirectEffect::SetsFlags => match opened(0) {
                Some(file) => return self.record_flags(&file, thread, record),
                None => None,
            },
            IndirectEffect::ChangesSubvolumes => {
                let recorded_root = self.recorded_root(record.root())?;
                recorded_root.is_btrfs().then(|| {
                    "subvolumes were made or removed (btrfs), which is not recorded".to_owned()
                })
            }
            IndirectEffect::TakesDescriptor => {
                if let Some(file) = copied_file(call) {
                    self.record_touch(&file, Touch::Content, thread, false, record)?;
                }
                None
            }
        };
        reason.map_or(Ok(()), |reason| Err(IncompleteReason::of(reason)))
    }

    /// Returns why the record lacks a change of a file's flags, if the file may be recorded.
    pub(super) fn record_flags(
        &mut self,
        file: &NamedFile,
        thread: i32,
        record: &dyn ChangeRecord,
    ) -> Result<(), IncompleteReason> {
        if self.may_be_within(file, thread, record)? {
            return Err(IncompleteReason::of(
                "flags of files were set (as by `chattr`), which are not recorded",
            ));
        }
        Ok(())
    }

    pub(super) fn may_be_within(
        &mut self,
        file: &NamedFile,
        thread: i32,
        record: &dyn ChangeRecord,
    ) -> Result<bool, IncompleteReason> {
        let path = file.path().map_err(IncompleteReason::unreadable_path)?;
        let recorded_root = self.recorded_root(record.root())?;
        let location = recorded_root.locate(file, path, Touch::Attributes, thread);
        Ok(match location.map_err(IncompleteReason::unreadable_path)? {
            FileLocation::Inside(_) | FileLocation::Unknown => true,
            FileLocation::Outside {
                names,
                is_same_file_system,
                ..
            } => is_same_file_system && file.links() > names,
        })
    }
}

/// Returns the file whose descriptor a system call copies from another process.
fn copied_file(call: &WaitingCall) -> Option<NamedFile> {
    let arguments = CallArguments { waiting: call };
    let process = format!("/proc/{}/fdinfo/{}", call.thread, arguments.number(0));
    let process = read_to_string(process).ok()?;
    let pid = process.lines().find_map(|line| line.strip_prefix("Pid:"));
    let pid: i32 = pid?.trim().parse().ok()?;
    let file = NamedFile::from_descriptor(process_of_thread(pid)?, arguments.number(1))?;
    (file.kind() == Some(FileType::RegularFile)).then_some(file)
}
