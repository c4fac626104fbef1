//! Determines the files that a system call is about to change, if it succeeds.

use super::named_file::NamedFile;
use super::paths::PathArgument;
use agent_bash_changes::Touch;
use agent_bash_notify::WaitingCall;
use agent_bash_sandbox::trace::{
    Call, FileArgument, FileEffect, FileOperand, FlagsPosition, LinkHandling, memory,
};
use nix::errno::Errno;
use rustix::fs::{AtFlags, FileType, OFlags, ResolveFlags};

/// Offset of the path in the address of a socket that has one.
const SOCKET_PATH_OFFSET: usize = 2;

/// Maximum length of a socket's address in bytes.
const MAX_ADDRESS_BYTES: usize = 128;

/// An effect of a system call on a file.
#[derive(Debug)]
pub(super) enum CallEffect {
    /// Changes a file in this way.
    Touches(NamedFile, Touch),
    /// Sets flags of a file.
    SetsFlags(NamedFile),
    /// Creates a FIFO.
    MakesFifo(NamedFile),
    /// Opens a FIFO for writing.
    WritesToFifo(NamedFile),
    /// Opens a block device for writing.
    WritesToDevice(NamedFile),
    /// Changes nothing, but asks whether the process can write a file.
    AsksToWrite(NamedFile),
}

/// Returns the effects of a system call; empty if it will fail.
pub(super) fn effects(waiting: &WaitingCall, call: &Call) -> Result<Vec<CallEffect>, Errno> {
    let mut effects = Vec::new();
    for &operand in call.operands {
        let arguments = CallArguments { waiting };
        match arguments.effect(operand) {
            Ok(Some(effect)) => {
                // Removing a directory also changes its parent.
                if let CallEffect::Touches(file, Touch::Attributes) = &effect
                    && operand.effect == FileEffect::RemovesName
                    && let Some(directory) = file.directory()
                {
                    let directory = rustix::io::fcntl_dupfd_cloexec(directory, 0);
                    let directory = directory.and_then(NamedFile::of).map_err(nix_errno)?;
                    effects.push(CallEffect::Touches(directory, Touch::Attributes));
                }
                if arguments.makes_fifo()
                    && let CallEffect::Touches(file, Touch::Name) = &effect
                {
                    effects.push(CallEffect::MakesFifo(file.try_clone().map_err(nix_errno)?));
                }
                effects.push(effect);
            }
            // A system call with two names fails if either name is invalid.
            Ok(None) | Err(Errno::EFAULT) => return Ok(Vec::new()),
            Err(error) => return Err(error),
        }
    }
    Ok(effects)
}

/// The arguments of a waiting system call.
pub(super) struct CallArguments<'a> {
    pub(super) waiting: &'a WaitingCall,
}

impl CallArguments<'_> {
    fn argument(&self, index: u8) -> u64 {
        let argument = self.waiting.arguments.get(usize::from(index));
        argument.copied().unwrap_or_default()
    }

    /// Returns an argument of 32 bits, such as a descriptor or flags.
    pub(super) fn number(&self, index: u8) -> i32 {
        (self.argument(index) as u32).cast_signed()
    }

    fn makes_fifo(&self) -> bool {
        let mode = match i64::from(self.waiting.number) {
            #[cfg(target_arch = "x86_64")]
            nix::libc::SYS_mknod => self.number(1),
            nix::libc::SYS_mknodat => self.number(2),
            _ => return false,
        };
        FileType::from_raw_mode(mode.cast_unsigned()) == FileType::Fifo
    }

    fn effect(&self, operand: FileOperand) -> Result<Option<CallEffect>, Errno> {
        let open_mode = match operand.effect {
            FileEffect::Opens(flags) => Some(self.flags(flags)?),
            _ => None,
        };
        if open_mode.is_some_and(|open_mode| !may_change(open_mode.flags)) {
            return Ok(None);
        }
        let follow = match (operand.follow, open_mode) {
            (_, Some(OpenMode { flags, .. })) => {
                !flags.contains(OFlags::NOFOLLOW) && !flags.contains(OFlags::CREATE | OFlags::EXCL)
            }
            (LinkHandling::Yes, None) => true,
            (LinkHandling::No, None) => false,
            (LinkHandling::Flags(index), None) => {
                let flags = AtFlags::from_bits_retain(self.number(index).cast_unsigned());
                !flags.contains(AtFlags::SYMLINK_NOFOLLOW)
            }
        };
        let in_root = open_mode.is_some_and(|open_mode| open_mode.in_root);
        let Some(file) = self.file(operand, follow, in_root)? else {
            return Ok(None);
        };
        let kind = file.kind();
        let touch = match (operand.effect, open_mode) {
            (_, Some(OpenMode { flags, .. })) => {
                if kind == Some(FileType::Fifo) && opens_for_writing(flags) {
                    return Ok(Some(CallEffect::WritesToFifo(file)));
                }
                if kind == Some(FileType::BlockDevice) && opens_for_writing(flags) {
                    return Ok(Some(CallEffect::WritesToDevice(file)));
                }
                touch_by_open(flags, kind)
            }
            (FileEffect::AsksToWrite(_), _) => {
                return Ok(kind.map(|_| CallEffect::AsksToWrite(file)));
            }
            (FileEffect::Flags, _) => {
                return Ok(kind.map(|_| CallEffect::SetsFlags(file)));
            }
            (FileEffect::CreatesName, _) => kind.is_none().then_some(Touch::Name),
            (FileEffect::RemovesName, _) => touch_by_removal(kind),
            (FileEffect::MovesName, _) => Some(Touch::Name),
            (FileEffect::Content, _) => is_regular(kind).then_some(Touch::Content),
            (FileEffect::Attributes | FileEffect::Opens(_), _) => {
                kind.is_some().then_some(Touch::Attributes)
            }
        };
        Ok(touch.map(|touch| CallEffect::Touches(file, touch)))
    }

    fn file(
        &self,
        operand: FileOperand,
        follow: bool,
        in_root: bool,
    ) -> Result<Option<NamedFile>, Errno> {
        let thread = self.waiting.thread;
        let (directory_fd, path) = match operand.argument {
            FileArgument::Open(index) => {
                return Ok(NamedFile::from_descriptor(thread, self.number(index)));
            }
            FileArgument::Address(index, length) => match self.socket_path(index, length)? {
                Some(path) => (None, path),
                None => return Ok(None),
            },
            FileArgument::Path(index) => (None, self.path(index)?),
            FileArgument::At(directory, index) => {
                let number = self.number(directory);
                let path = match self.argument(index) {
                    0 => Vec::new(),
                    _ => self.path(index)?,
                };
                if path.is_empty() {
                    let by_descriptor =
                        matches!(operand.effect, FileEffect::Attributes | FileEffect::Flags);
                    let by_descriptor =
                        by_descriptor.then(|| NamedFile::from_descriptor(thread, number));
                    return Ok(by_descriptor.flatten());
                }
                (Some(number).filter(|number| *number >= 0), path)
            }
        };
        if path.is_empty() {
            return Ok(None);
        }
        let argument = PathArgument {
            thread,
            directory_fd,
            path: &path,
            follow,
            in_root,
        };
        argument.resolve().map_err(nix_errno)
    }

    /// Returns the file at a path of the calling process, relative to its working directory.
    pub(super) fn file_at(&self, path: &[u8]) -> Result<Option<NamedFile>, Errno> {
        let argument = PathArgument {
            thread: self.waiting.thread,
            directory_fd: None,
            path,
            follow: true,
            in_root: false,
        };
        argument.resolve().map_err(nix_errno)
    }

    pub(super) fn path(&self, index: u8) -> Result<Vec<u8>, Errno> {
        match memory::text(self.waiting.thread, self.argument(index)) {
            // The kernel rejects such a path, too.
            Err(Errno::ENAMETOOLONG) => Err(Errno::EFAULT),
            read => read,
        }
    }

    fn flags(&self, flags: FlagsPosition) -> Result<OpenMode, Errno> {
        let mut in_root = false;
        let bits = match flags {
            FlagsPosition::In(index) => self.number(index).cast_unsigned(),
            FlagsPosition::InMemory(index) => {
                let bytes = memory::exactly::<24>(self.waiting.thread, self.argument(index))?;
                let word = |at: usize| {
                    let bytes = bytes[at..].first_chunk::<8>().copied();
                    u64::from_ne_bytes(bytes.unwrap_or_default())
                };
                let resolve = ResolveFlags::from_bits_retain(word(16));
                in_root = resolve.contains(ResolveFlags::IN_ROOT);
                word(0) as u32
            }
            FlagsPosition::OfCreat => (OFlags::CREATE | OFlags::WRONLY | OFlags::TRUNC).bits(),
        };
        let flags = OFlags::from_bits_retain(bits);
        Ok(OpenMode { flags, in_root })
    }

    /// Returns the address of a socket: its family, and the bytes after the family. `index` and
    /// `length` are the indexes of the arguments with the address and its length.
    pub(super) fn address(&self, index: u8, length: u8) -> Result<Option<(u16, Vec<u8>)>, Errno> {
        self.address_at(self.argument(index), self.number(length))
    }

    /// Returns the address in the message in the second argument, as [`Self::address`] returns it.
    pub(super) fn address_of_message(&self) -> Result<Option<(u16, Vec<u8>)>, Errno> {
        // `struct msghdr` begins with the pointer and the length.
        let header = memory::exactly::<12>(self.waiting.thread, self.argument(1))?;
        let (pointer, length) = header.split_first_chunk::<8>().ok_or(Errno::EFAULT)?;
        let length = length.first_chunk::<4>().ok_or(Errno::EFAULT)?;
        self.address_at(u64::from_ne_bytes(*pointer), i32::from_ne_bytes(*length))
    }

    fn address_at(&self, pointer: u64, length: i32) -> Result<Option<(u16, Vec<u8>)>, Errno> {
        let mut address = [0; MAX_ADDRESS_BYTES];
        let length = usize::try_from(length).unwrap_or_default();
        let part = &mut address[..length.min(MAX_ADDRESS_BYTES)];
        let read = memory::read(self.waiting.thread, pointer, part)?;
        let address = address[..read].split_first_chunk::<SOCKET_PATH_OFFSET>();
        Ok(address.map(|(family, rest)| (u16::from_ne_bytes(*family), rest.to_vec())))
    }

    /// Returns the path in a socket's address, if it is a path.
    fn socket_path(&self, index: u8, length: u8) -> Result<Option<Vec<u8>>, Errno> {
        let address = self.address(index, length)?;
        let is_unix = |family| family == rustix::net::AddressFamily::UNIX.as_raw();
        let path = address.filter(|(family, _)| is_unix(*family));
        Ok(path.and_then(|(_, path)| address_path(&path)))
    }
}

/// Returns the path in the address of a local socket, if there is one.
pub(super) fn address_path(address: &[u8]) -> Option<Vec<u8>> {
    let path = address.split(|byte| *byte == 0).next()?;
    (!path.is_empty()).then(|| path.to_vec())
}

/// How a file is opened.
#[derive(Debug, Clone, Copy)]
struct OpenMode {
    flags: OFlags,
    /// See [`PathArgument::in_root`].
    in_root: bool,
}

fn nix_errno(error: rustix::io::Errno) -> Errno {
    Errno::from_raw(error.raw_os_error())
}

/// True if an open with these flags may change a named file.
fn may_change(flags: OFlags) -> bool {
    let is_nameless = flags.contains(OFlags::TMPFILE) || flags.contains(OFlags::PATH);
    (opens_for_writing(flags) || flags.contains(OFlags::CREATE)) && !is_nameless
}

fn opens_for_writing(flags: OFlags) -> bool {
    flags.intersects(OFlags::WRONLY | OFlags::RDWR | OFlags::TRUNC)
}

/// Returns how an open with these flags touches a file; `None` if the file does not change.
fn touch_by_open(flags: OFlags, kind: Option<FileType>) -> Option<Touch> {
    let creates = flags.contains(OFlags::CREATE);
    match kind {
        None => creates.then_some(Touch::Name),
        // The file exists, so the call fails.
        Some(_) if creates && flags.contains(OFlags::EXCL) => None,
        kind => (opens_for_writing(flags) && is_regular(kind)).then_some(Touch::Content),
    }
}

fn is_regular(kind: Option<FileType>) -> bool {
    kind == Some(FileType::RegularFile)
}

/// Returns how a removal touches a file. A directory that is removed is empty, so only its
/// attributes are recorded.
fn touch_by_removal(kind: Option<FileType>) -> Option<Touch> {
    kind.map(|kind| match kind {
        FileType::Directory => Touch::Attributes,
        _ => Touch::Name,
    })
}
