//! The system calls that change files, their file arguments, and their effects.

/// Open flags that may change a file.
pub(super) const CHANGING_FLAGS: i32 =
    libc::O_WRONLY | libc::O_RDWR | libc::O_CREAT | libc::O_TRUNC;

/// A system call that changes files.
#[derive(Debug, Clone, Copy)]
pub struct Call {
    /// The number on this architecture.
    pub number: i64,
    /// The changed files.
    pub operands: &'static [FileOperand],
}

/// A file that a system call changes.
#[derive(Debug, Clone, Copy)]
pub struct FileOperand {
    /// The arguments that name the file.
    pub argument: FileArgument,
    /// The handling of a link as the last component.
    pub follow: LinkHandling,
    /// The effect on the file.
    pub effect: FileEffect,
}

/// The positions of arguments that name a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileArgument {
    /// A path.
    Path(u8),
    /// A directory descriptor and a path; an empty path means the descriptor's own file.
    At(u8, u8),
    /// A descriptor.
    Open(u8),
    /// A socket address, which may be a path, and its length.
    Address(u8, u8),
}

/// The handling of a link as the last component.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkHandling {
    /// Always.
    Yes,
    /// Never.
    No,
    /// Unless this argument contains `AT_SYMLINK_NOFOLLOW`.
    Flags(u8),
}

/// The effect on a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileEffect {
    /// The contents change.
    Content,
    /// The name is created.
    Appears,
    /// The name is removed; a directory only if it is empty.
    Goes,
    /// The name is removed or replaced.
    Moves,
    /// Permissions, owner, times or extended attributes change.
    Attributes,
    /// The file is opened with flags.
    Opens(FlagsPosition),
}

/// The position of the open flags.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FlagsPosition {
    /// In this argument.
    In(u8),
    /// In memory, at the address in this argument.
    InMemory(u8),
    /// The fixed flags of `creat`.
    OfCreat,
}

/// Returns the entry of a system call number.
pub fn call(number: i32) -> Option<&'static Call> {
    all().find(|call| call.number == i64::from(number))
}

/// Returns all entries.
pub(super) fn all() -> impl Iterator<Item = &'static Call> {
    COMMON_CALLS.iter().chain(X86_CALLS)
}

/// System call numbers that libc lacks; equal on all architectures.
const SYS_FCHMODAT2: i64 = 452;
const SYS_SETXATTRAT: i64 = 463;
const SYS_REMOVEXATTRAT: i64 = 466;
const SYS_FILE_SETATTR: i64 = 469;

const fn operand(argument: FileArgument, follow: LinkHandling, effect: FileEffect) -> FileOperand {
    FileOperand {
        argument,
        follow,
        effect,
    }
}

const fn created(argument: FileArgument) -> FileOperand {
    operand(argument, No, FileEffect::Appears)
}

const fn removed(argument: FileArgument) -> FileOperand {
    operand(argument, No, FileEffect::Goes)
}

const fn moved(argument: FileArgument) -> FileOperand {
    operand(argument, No, FileEffect::Moves)
}

const fn attributes(argument: FileArgument, follow: LinkHandling) -> FileOperand {
    operand(argument, follow, FileEffect::Attributes)
}

const fn opens(argument: FileArgument, flags: FlagsPosition) -> FileOperand {
    operand(argument, Yes, FileEffect::Opens(flags))
}

macro_rules! calls {
    ($($number:expr => [$($operand:expr),+];)*) => {
        &[$(Call { number: $number, operands: &[$($operand),+] }),*]
    };
}

use FileArgument::{Address, At, Open, Path};
use LinkHandling::{Flags as ByFlags, No, Yes};

/// System calls of every architecture.
const COMMON_CALLS: &[Call] = calls! {
    libc::SYS_openat => [opens(At(0, 1), FlagsPosition::In(2))];
    libc::SYS_openat2 => [opens(At(0, 1), FlagsPosition::InMemory(2))];
    libc::SYS_truncate => [operand(Path(0), Yes, FileEffect::Content)];
    libc::SYS_acct => [operand(Path(0), Yes, FileEffect::Content)];
    libc::SYS_swapon => [operand(Path(0), Yes, FileEffect::Content)];
    libc::SYS_ftruncate => [operand(Open(0), Yes, FileEffect::Content)];
    libc::SYS_renameat => [moved(At(0, 1)), moved(At(2, 3))];
    libc::SYS_renameat2 => [moved(At(0, 1)), moved(At(2, 3))];
    libc::SYS_unlinkat => [removed(At(0, 1))];
    libc::SYS_mkdirat => [created(At(0, 1))];
    libc::SYS_mknodat => [created(At(0, 1))];
    libc::SYS_symlinkat => [created(At(1, 2))];
    libc::SYS_linkat => [created(At(2, 3))];
    libc::SYS_bind => [created(Address(1, 2))];
    libc::SYS_fchmod => [attributes(Open(0), Yes)];
    libc::SYS_fchmodat => [attributes(At(0, 1), Yes)];
    SYS_FCHMODAT2 => [attributes(At(0, 1), ByFlags(3))];
    libc::SYS_fchown => [attributes(Open(0), Yes)];
    libc::SYS_fchownat => [attributes(At(0, 1), ByFlags(4))];
    libc::SYS_utimensat => [attributes(At(0, 1), ByFlags(3))];
    libc::SYS_setxattr => [attributes(Path(0), Yes)];
    libc::SYS_lsetxattr => [attributes(Path(0), No)];
    libc::SYS_fsetxattr => [attributes(Open(0), Yes)];
    SYS_SETXATTRAT => [attributes(At(0, 1), ByFlags(2))];
    libc::SYS_removexattr => [attributes(Path(0), Yes)];
    libc::SYS_lremovexattr => [attributes(Path(0), No)];
    libc::SYS_fremovexattr => [attributes(Open(0), Yes)];
    SYS_REMOVEXATTRAT => [attributes(At(0, 1), ByFlags(2))];
    SYS_FILE_SETATTR => [attributes(At(0, 1), ByFlags(4))];
};

/// System calls that only x86 has. On other architectures, libraries use the calls of
/// [`COMMON_CALLS`].
#[cfg(target_arch = "x86_64")]
const X86_CALLS: &[Call] = calls! {
    libc::SYS_open => [opens(Path(0), FlagsPosition::In(1))];
    libc::SYS_creat => [opens(Path(0), FlagsPosition::OfCreat)];
    libc::SYS_rename => [moved(Path(0)), moved(Path(1))];
    libc::SYS_unlink => [removed(Path(0))];
    libc::SYS_rmdir => [removed(Path(0))];
    libc::SYS_mkdir => [created(Path(0))];
    libc::SYS_mknod => [created(Path(0))];
    libc::SYS_symlink => [created(Path(1))];
    libc::SYS_link => [created(Path(1))];
    libc::SYS_chmod => [attributes(Path(0), Yes)];
    libc::SYS_chown => [attributes(Path(0), Yes)];
    libc::SYS_lchown => [attributes(Path(0), No)];
    libc::SYS_utime => [attributes(Path(0), Yes)];
    libc::SYS_utimes => [attributes(Path(0), Yes)];
    libc::SYS_futimesat => [attributes(At(0, 1), Yes)];
};
#[cfg(not(target_arch = "x86_64"))]
const X86_CALLS: &[Call] = &[];

/// 32-bit system calls that reveal file changes of 32-bit programs: those that only change files,
/// and `open` and `openat`.
#[cfg(target_arch = "x86_64")]
pub(super) const CALLS_32_BIT: &[u32] = &[
    5, 8, 9, 10, 14, 15, 38, 39, 40, 83, 92, 93, 295, 296, 297, 301, 302, 303, 304, 306, 320, 353,
    362, 437,
];

/// The 32-bit numbers of system calls for sockets: `connect`.
#[cfg(target_arch = "x86_64")]
pub(super) const SOCKET_CALLS_32_BIT: &[u32] = &[362];
/// The numbers of 32-bit ARM.
#[cfg(not(target_arch = "x86_64"))]
pub(super) const SOCKET_CALLS_32_BIT: &[u32] = &[283];

/// The system calls of 32-bit ARM.
#[cfg(not(target_arch = "x86_64"))]
pub(super) const CALLS_32_BIT: &[u32] = &[
    5, 8, 9, 10, 14, 15, 38, 39, 40, 83, 92, 93, 322, 323, 324, 328, 329, 330, 331, 333, 348, 382,
    437,
];
