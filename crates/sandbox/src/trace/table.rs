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
    CreatesName,
    /// The name is removed; a directory only if it is empty.
    RemovesName,
    /// The name is removed or replaced.
    MovesName,
    /// Permissions, owner, times or extended attributes change.
    Attributes,
    /// Flags change, as by `chattr`. A record cannot restore them.
    Flags,
    /// The file is opened with flags.
    Opens(FlagsPosition),
    /// Nothing changes: the program asks whether it can write the file. The argument has the mode.
    AsksToWrite(u8),
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
    all()
        .chain(QUERIES)
        .find(|call| call.number == i64::from(number))
}

/// Returns the entries of calls that change files.
pub(super) fn all() -> impl Iterator<Item = &'static Call> {
    COMMON_CALLS.iter().chain(X86_CALLS)
}

/// System call numbers that libc lacks; equal on all architectures.
const SYS_FACCESSAT2: i64 = 439;
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
    operand(argument, No, FileEffect::CreatesName)
}

const fn removed(argument: FileArgument) -> FileOperand {
    operand(argument, No, FileEffect::RemovesName)
}

const fn moved(argument: FileArgument) -> FileOperand {
    operand(argument, No, FileEffect::MovesName)
}

const fn attributes(argument: FileArgument, follow: LinkHandling) -> FileOperand {
    operand(argument, follow, FileEffect::Attributes)
}

const fn opens(argument: FileArgument, flags: FlagsPosition) -> FileOperand {
    operand(argument, Yes, FileEffect::Opens(flags))
}

const fn asks(argument: FileArgument, mode: u8) -> FileOperand {
    operand(argument, Yes, FileEffect::AsksToWrite(mode))
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
    SYS_FILE_SETATTR => [operand(At(0, 1), ByFlags(4), FileEffect::Flags)];
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

/// The system calls by which a program asks whether it can write a file. If it cannot, the program
/// may fail without a message.
pub(super) const QUERIES: &[Call] = &[
    Call {
        number: libc::SYS_faccessat,
        operands: &[asks(At(0, 1), 2)],
    },
    Call {
        number: SYS_FACCESSAT2,
        operands: &[asks(At(0, 1), 2)],
    },
    #[cfg(target_arch = "x86_64")]
    Call {
        number: libc::SYS_access,
        operands: &[asks(Path(0), 1)],
    },
];

/// A system call of 32-bit programs: the name, and the numbers on x86 and on ARM.
/// `cargo xtask system-calls` compares them with the kernel's headers.
type Call32 = (&'static str, u32, u32);

/// `connect` of 32-bit programs.
const CONNECT_32_BIT: Call32 = ("connect", 362, 283);

/// 32-bit system calls that reveal file changes of 32-bit programs: calls that only change files,
/// `open` and `openat`, and `connect`, as a server may change files for the program.
const CHANGING_CALLS_32_BIT: [Call32; 24] = [
    ("open", 5, 5),
    ("creat", 8, 8),
    ("link", 9, 9),
    ("unlink", 10, 10),
    ("mknod", 14, 14),
    ("chmod", 15, 15),
    ("rename", 38, 38),
    ("mkdir", 39, 39),
    ("rmdir", 40, 40),
    ("symlink", 83, 83),
    ("truncate", 92, 92),
    ("ftruncate", 93, 93),
    ("openat", 295, 322),
    ("mkdirat", 296, 323),
    ("mknodat", 297, 324),
    ("unlinkat", 301, 328),
    ("renameat", 302, 329),
    ("linkat", 303, 330),
    ("symlinkat", 304, 331),
    ("fchmodat", 306, 333),
    ("utimensat", 320, 348),
    ("renameat2", 353, 382),
    ("openat2", 437, 437),
    CONNECT_32_BIT,
];

/// The numbers of [`CHANGING_CALLS_32_BIT`].
pub(super) const CALLS_32_BIT: &[u32] = &numbers(&CHANGING_CALLS_32_BIT);

/// The 32-bit numbers of system calls for sockets.
pub(super) const SOCKET_CALLS_32_BIT: &[u32] = &numbers(&[CONNECT_32_BIT]);

/// Returns the numbers on this machine's 32-bit architecture.
const fn numbers<const COUNT: usize>(calls: &[Call32; COUNT]) -> [u32; COUNT] {
    let mut numbers = [0; COUNT];
    let mut index = 0;
    while index < COUNT {
        let (_, x86, arm) = calls[index];
        numbers[index] = if cfg!(target_arch = "x86_64") {
            x86
        } else {
            arm
        };
        index += 1;
    }
    numbers
}
