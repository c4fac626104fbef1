//! System calls that change files without a path argument: requests to file systems, mounts, files
//! by handle, descriptors of other processes, and sockets.

use super::table::CHANGING_FLAGS;
use crate::base::seccomp::program::FilterAction::Notify;
use crate::base::seccomp::program::{ArgumentHalf, Rule, RuleCase, Test};
use crate::base::seccomp::rules::any_of;

/// The effect of a system call that changes files without a path argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IndirectEffect {
    /// Opens a file for writing by its handle.
    OpensByHandle,
    /// Sets flags of the file in the first argument.
    SetsFlags,
    /// Creates or removes a subvolume below the directory in the first argument.
    ChangesSubvolumes,
    /// Opens for writing each file that another process opens (`fanotify`).
    OpensWhatOthersOpen,
    /// Mounts a file system, whose type is in the argument with this number.
    Mounts(u8),
    /// Controls the process in the argument with this number, or writes to its memory.
    ControlsProcess(u8),
    /// Copies a descriptor of another process: the first argument is the process, the second its
    /// descriptor.
    TakesDescriptor,
    /// Connects or sends to the address in the argument with this number; the next argument is its
    /// length.
    Connects(u8),
    /// Connects to the address in the message in the second argument.
    ConnectsByMessage,
    /// Listens on the socket in the first argument.
    Listens,
}

/// Returns the effect of a system call; `None` for a system call without such an effect.
pub fn indirect(number: i32, arguments: &[u64; 6]) -> Option<IndirectEffect> {
    let number = i64::from(number);
    match number {
        libc::SYS_open_by_handle_at => Some(IndirectEffect::OpensByHandle),
        libc::SYS_ioctl => Some(request(arguments[1] as u32)),
        libc::SYS_fanotify_init => Some(IndirectEffect::OpensWhatOthersOpen),
        // A bind mount or a changed mount has no type.
        libc::SYS_mount if arguments[3] & TYPELESS_MOUNT_FLAGS != 0 => None,
        libc::SYS_mount => Some(IndirectEffect::Mounts(2)),
        libc::SYS_fsopen => Some(IndirectEffect::Mounts(0)),
        libc::SYS_pidfd_getfd => Some(IndirectEffect::TakesDescriptor),
        libc::SYS_ptrace => Some(IndirectEffect::ControlsProcess(1)),
        libc::SYS_process_vm_writev => Some(IndirectEffect::ControlsProcess(0)),
        libc::SYS_sendmsg | libc::SYS_sendmmsg => Some(IndirectEffect::ConnectsByMessage),
        libc::SYS_connect => Some(IndirectEffect::Connects(1)),
        libc::SYS_sendto => Some(IndirectEffect::Connects(4)),
        libc::SYS_listen => Some(IndirectEffect::Listens),
        _ => None,
    }
}

/// Requests that set flags, attributes or protection of a file that is open for reading.
const FLAG_REQUESTS: [u32; 8] = [
    // FS_IOC_SETFLAGS, also of 32 bits; FS_IOC_FSSETXATTR
    0x4008_6602, 0x4004_6602, 0x401c_5820, // FS_IOC_SETVERSION
    0x4008_7602, // FS_IOC_ENABLE_VERITY, FS_IOC_SET_ENCRYPTION_POLICY
    0x4080_6685, 0x800c_6613, // FAT_IOCTL_SET_ATTRIBUTES
    0x4004_7211, // EXT4_IOC_SWAP_BOOT
    0x6611,
];

/// Requests of btrfs that create, remove or unlock subvolumes and snapshots.
const SUBVOLUME_REQUESTS: [u32; 8] = [
    0x5000_9401, 0x5000_940e, 0x5000_940f, 0x5000_9417, 0x5000_9418, 0x5000_943f,
    // BTRFS_IOC_SUBVOL_SETFLAGS, BTRFS_IOC_DEFAULT_SUBVOL
    0x4008_941a, 0x4008_9413,
];

/// `MS_REMOUNT`, `MS_BIND`, `MS_MOVE`, and the flags of propagation.
const TYPELESS_MOUNT_FLAGS: u64 = libc::MS_REMOUNT
    | libc::MS_BIND
    | libc::MS_MOVE
    | libc::MS_UNBINDABLE
    | libc::MS_PRIVATE
    | libc::MS_SLAVE
    | libc::MS_SHARED;

/// The requests of `ptrace` that begin to control a process: `PTRACE_ATTACH`, `PTRACE_SEIZE`.
const CONTROL_REQUESTS: [u32; 2] = [16, 0x4206];

/// `XFS_IOC_OPEN_BY_HANDLE`
const XFS_OPEN: u32 = 0xc038_586b;

fn request(request: u32) -> IndirectEffect {
    if SUBVOLUME_REQUESTS.contains(&request) {
        IndirectEffect::ChangesSubvolumes
    } else if request == XFS_OPEN {
        IndirectEffect::OpensByHandle
    } else {
        IndirectEffect::SetsFlags
    }
}

/// Rules for calls that change files.
pub(super) fn file_rules() -> Vec<Rule> {
    let requests = FLAG_REQUESTS
        .iter()
        .chain(&SUBVOLUME_REQUESTS)
        .chain([&XFS_OPEN]);
    let requests = requests.map(|request| vec![compares(1, ArgumentHalf::Low, *request, true)]);
    vec![
        rule(
            libc::SYS_open_by_handle_at,
            [vec![any_of(2, CHANGING_FLAGS as u32)]],
        ),
        rule(libc::SYS_ioctl, requests),
        rule(
            libc::SYS_fanotify_init,
            [vec![any_of(1, CHANGING_FLAGS as u32)]],
        ),
        rule(
            libc::SYS_ptrace,
            CONTROL_REQUESTS.map(|request| vec![compares(0, ArgumentHalf::Low, request, true)]),
        ),
        rule(libc::SYS_process_vm_writev, [Vec::new()]),
        rule(libc::SYS_mount, [Vec::new()]),
        rule(libc::SYS_fsopen, [Vec::new()]),
        rule(libc::SYS_pidfd_getfd, [Vec::new()]),
    ]
}

pub(super) fn socket_rules() -> Vec<Rule> {
    let connects = |flags| vec![any_of(flags, libc::MSG_FASTOPEN as u32)];
    let addressed =
        [ArgumentHalf::Low, ArgumentHalf::High].map(|half| vec![compares(4, half, 0, false)]);
    vec![
        rule(libc::SYS_connect, [Vec::new()]),
        rule(libc::SYS_listen, [Vec::new()]),
        rule(libc::SYS_sendto, addressed),
        // Other messages go to a peer that `connect` has named, or are datagrams.
        rule(libc::SYS_sendmsg, [connects(2)]),
        rule(libc::SYS_sendmmsg, [connects(3)]),
    ]
}

fn compares(argument: u8, half: ArgumentHalf, value: u32, equal: bool) -> Test {
    Test {
        argument,
        half,
        mask: u32::MAX,
        value,
        equal,
    }
}

fn rule(number: i64, cases: impl IntoIterator<Item = Vec<Test>>) -> Rule {
    let cases = cases.into_iter();
    let cases = cases.map(|tests| RuleCase {
        tests,
        action: Notify,
    });
    Rule {
        number,
        cases: cases.collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn effect_depends_on_number_and_arguments() {
        let of = |number: i64, arguments| indirect(i32::try_from(number).unwrap(), &arguments);
        let bind = [0, 0, 0, libc::MS_BIND, 0, 0];
        assert_eq!(of(libc::SYS_mount, bind), None);
        for (number, want) in [
            (libc::SYS_mount, IndirectEffect::Mounts(2)),
            (libc::SYS_ptrace, IndirectEffect::ControlsProcess(1)),
            (
                libc::SYS_process_vm_writev,
                IndirectEffect::ControlsProcess(0),
            ),
            (libc::SYS_fanotify_init, IndirectEffect::OpensWhatOthersOpen),
            (libc::SYS_sendmmsg, IndirectEffect::ConnectsByMessage),
        ] {
            assert_eq!(of(number, [0; 6]), Some(want));
        }
        let traced: Vec<i64> = file_rules()
            .iter()
            .chain(&socket_rules())
            .map(|rule| rule.number)
            .collect();
        for number in [
            libc::SYS_ptrace,
            libc::SYS_process_vm_writev,
            libc::SYS_fanotify_init,
        ] {
            assert!(traced.contains(&number));
        }
    }
}
