//! The rules for system calls.

use super::program::{ArgumentHalf, FilterAction, Rule, RuleCase, Test};
use agent_bash_core::sandbox::{Network, Tier};
use libc::{EACCES, EAFNOSUPPORT, ENOSYS, EOPNOTSUPP, EPERM};

/// System call numbers that libc lacks; equal on all architectures.
const SYS_FCHMODAT2: i64 = 452;
const SYS_OPEN_TREE_ATTR: i64 = 467;
const SYS_FILE_SETATTR: i64 = 469;

/// System calls that a sandbox refuses with `EPERM`, as the kernel does for a process without
/// privileges.
const FORBIDDEN_CALLS: [i64; 26] = [
    // Mounts.
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_open_tree,
    SYS_OPEN_TREE_ATTR,
    libc::SYS_move_mount,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    // Namespaces of other processes.
    libc::SYS_setns,
    // Files without a path.
    libc::SYS_open_by_handle_at,
    // Keys of the user's session.
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    // Programs in the kernel, and tracing of the kernel.
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_fanotify_init,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    // Information about the machine and other processes, and changes of the machine. Some systems
    // allow them to every user.
    libc::SYS_syslog,
    libc::SYS_acct,
    libc::SYS_swapon,
];

/// System calls that a sandbox refuses with `ENOSYS`, so that programs use alternatives that can be
/// filtered. The arguments of these calls are in memory, which a filter cannot read.
const ABSENT_CALLS: [i64; 5] = [
    libc::SYS_openat2,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_clone3,
];

/// `CLONE_NEW…` of every namespace. The bit of the time namespace is part of the exit signal in
/// `clone`, which cannot create one.
const NAMESPACE_FLAGS: [i32; 7] = [
    libc::CLONE_NEWNS,
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNET,
];
const CLONE_NEWTIME: u32 = 0x80;

/// The set-user-ID and set-group-ID bits.
const SET_ID_BITS: u32 = 0o6000;

/// Requests that insert input into a terminal.
const TERMINAL_INPUT: [u32; 3] = [
    0x5412, // TIOCSTI
    0x541C, // TIOCLINUX
    0x541D, // TIOCCONS
];

/// `ioctl` requests of file systems, which work on any descriptor, even a read-only one: the second
/// byte of a request, and the allowed requests with effects beyond reading. They clone readable
/// data into writable files, or query extents.
const FILE_SYSTEM_REQUESTS: [(u32, &[u32]); 5] = [
    // ext4, and requests shared with others: attributes, versions, encryption, verity.
    (
        0x66,
        &[
            0xC020_660B, // FS_IOC_FIEMAP
            0xC009_6616, // FS_IOC_GET_ENCRYPTION_POLICY_EX
            0xC004_6686, // FS_IOC_MEASURE_VERITY
        ],
    ),
    (0x76, &[]),
    // XFS, and project attributes.
    (0x58, &[]),
    // btrfs: a directory descriptor suffices to create and remove subvolumes.
    (
        0x94,
        &[
            0x4004_9409, // FICLONE
            0x4020_940D, // FICLONERANGE
            0xC018_9436, // FIDEDUPERANGE
        ],
    ),
    // f2fs.
    (0xF5, &[]),
];

/// This request sets a policy, although its number marks it as a read.
const FS_IOC_SET_ENCRYPTION_POLICY: u32 = 0x800C_6613;

/// The request for a lease. A process that opens the file for writing waits for the lease holder,
/// up to 45 seconds.
const F_SETLEASE: u32 = 1024;

/// Returns the rules of a sandbox. Rules with argument tests come first: for system calls that pass
/// without such a test, the kernel caches the result. With `unix_is_guarded`, connections of Unix
/// sockets are guarded, so streams are allowed.
pub(super) fn rules(
    network: Network,
    tier: Tier,
    refuse_truncation: bool,
    unix_is_guarded: bool,
) -> Vec<Rule> {
    let mut rules = vec![
        ioctl(),
        rule(
            libc::SYS_fcntl,
            vec![deny(EPERM, vec![equals(1, F_SETLEASE)])],
        ),
        rule(libc::SYS_clone, vec![namespaces(0)]),
        rule(
            libc::SYS_unshare,
            vec![namespaces(0), deny(EPERM, vec![any_of(0, CLONE_NEWTIME)])],
        ),
        rule(libc::SYS_socket, socket(network, tier, unix_is_guarded)),
        rule(libc::SYS_socketpair, socketpair()),
        // Refuses to set limits of another process.
        rule(
            libc::SYS_prlimit64,
            [ArgumentHalf::Low, ArgumentHalf::High]
                .map(|half| deny(EPERM, vec![differs(0, 0), half_differs(2, half, 0)]))
                .into(),
        ),
    ];
    rules.extend(modes());
    rules.extend(opening(refuse_truncation));
    let always = |errno| move |number| rule(number, vec![deny(errno, vec![])]);
    rules.extend(FORBIDDEN_CALLS.map(always(EPERM)));
    rules.extend(ABSENT_CALLS.map(always(ENOSYS)));
    rules.push(always(EOPNOTSUPP)(SYS_FILE_SETATTR));
    if network == Network::Off && tier == Tier::Base {
        // Only an inherited socket could be connected.
        rules.push(always(EACCES)(libc::SYS_connect));
    }
    rules
}

fn ioctl() -> Rule {
    let input = TERMINAL_INPUT.map(|request| deny(EPERM, vec![equals(1, request)]));
    let policy = deny(EOPNOTSUPP, vec![equals(1, FS_IOC_SET_ENCRYPTION_POLICY)]);
    let mut cases: Vec<RuleCase> = input.into_iter().chain([policy]).collect();
    cases.extend(FILE_SYSTEM_REQUESTS.map(|(family, allowed)| {
        let of_family = Test {
            mask: 0xFF00,
            ..equals(1, family << 8)
        };
        // The two highest bits are the direction of transfer; `_IOC_READ` alone only reads.
        let not_only_reading = Test {
            mask: 0xC000_0000,
            ..differs(1, 0x8000_0000)
        };
        let others = allowed.iter().map(|request| differs(1, *request));
        let tests = [of_family, not_only_reading].into_iter().chain(others);
        deny(EOPNOTSUPP, tests.collect())
    }));
    rule(libc::SYS_ioctl, cases)
}

fn namespaces(argument: u8) -> RuleCase {
    let all = NAMESPACE_FLAGS.iter().fold(0, |all, one| all | *one as u32);
    deny(EPERM, vec![any_of(argument, all)])
}

/// Filters sockets by family. Families that the settings forbid are refused with `EACCES`, unknown
/// families with `EAFNOSUPPORT`.
fn socket(network: Network, tier: Tier, unix_is_guarded: bool) -> Vec<RuleCase> {
    let forbidden = |families: &[i32]| -> Vec<RuleCase> {
        let one = |family: &i32| deny(EACCES, vec![equals(0, *family as u32)]);
        families.iter().map(one).collect()
    };
    let families = [libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];
    let mut cases = if unix_is_guarded {
        // A datagram socket could send to any address without connecting.
        vec![no_datagrams()]
    } else {
        forbidden(&[libc::AF_UNIX])
    };
    if network == Network::Off && tier == Tier::Base {
        cases.extend(forbidden(&families));
        cases.push(deny(EAFNOSUPPORT, vec![]));
        return cases;
    }
    // Netlink is limited to requests about interfaces and addresses.
    let netlink = libc::AF_NETLINK as u32;
    let routes = libc::NETLINK_ROUTE as u32;
    cases.push(deny(EACCES, vec![equals(0, netlink), differs(2, routes)]));
    let others = families.iter().chain(&[libc::AF_UNIX]);
    let others = others.map(|family| differs(0, *family as u32));
    cases.push(deny(EAFNOSUPPORT, others.collect()));
    cases
}

/// Refuses Unix sockets that are neither streams nor sequences of packets.
fn no_datagrams() -> RuleCase {
    let unix_family = equals(0, libc::AF_UNIX as u32);
    let [stream, packets] = [libc::SOCK_STREAM, libc::SOCK_SEQPACKET].map(is_other_type);
    deny(EACCES, vec![unix_family, stream, packets])
}

/// Tests that the type of a socket differs from `kind`.
fn is_other_type(kind: i32) -> Test {
    const SOCKET_TYPE_BITS: u32 = 0xF;
    Test {
        mask: SOCKET_TYPE_BITS,
        ..differs(1, kind as u32)
    }
}

/// Refuses all Unix sockets.
pub(super) fn no_unix_sockets() -> Vec<Rule> {
    let unix_family = equals(0, libc::AF_UNIX as u32);
    vec![rule(
        libc::SYS_socket,
        vec![deny(EACCES, vec![unix_family])],
    )]
}

/// Returns the cases for socket pairs. Stream and seqpacket pairs stay connected, but a datagram
/// pair could send to any address.
fn socketpair() -> Vec<RuleCase> {
    vec![
        deny(EAFNOSUPPORT, vec![differs(0, libc::AF_UNIX as u32)]),
        no_datagrams(),
    ]
}

/// Refuses to set set-ID bits, because the file would remain after the call, and to create device
/// files. Landlock refuses device files too, but with `EACCES`, which names no reason.
fn modes() -> Vec<Rule> {
    let set_id = |mode| vec![deny(EPERM, vec![any_of(mode, SET_ID_BITS)])];
    let creating = |mode| {
        let devices = [libc::S_IFCHR, libc::S_IFBLK].map(|kind| {
            let test = Test {
                mask: libc::S_IFMT,
                ..equals(mode, kind)
            };
            deny(EPERM, vec![test])
        });
        set_id(mode).into_iter().chain(devices).collect()
    };
    vec![
        rule(libc::SYS_fchmod, set_id(1)),
        rule(libc::SYS_fchmodat, set_id(2)),
        rule(SYS_FCHMODAT2, set_id(2)),
        rule(libc::SYS_mknodat, creating(2)),
        #[cfg(target_arch = "x86_64")]
        rule(libc::SYS_chmod, set_id(1)),
        #[cfg(target_arch = "x86_64")]
        rule(libc::SYS_mknod, creating(1)),
        #[cfg(target_arch = "x86_64")]
        rule(libc::SYS_creat, set_id(1)),
    ]
}

/// Refuses to create files with set-ID bits. With `refuse_truncation`, also refuses to truncate a
/// file that is not opened for writing. (`openat2` is in [`ABSENT_CALLS`], because its flags are in
/// memory.)
fn opening(refuse_truncation: bool) -> Vec<Rule> {
    // Only these flags use the mode argument; otherwise it is undefined.
    let creating_flags = (libc::O_CREAT | libc::O_TMPFILE & !libc::O_DIRECTORY) as u32;
    let denials = |flags: u8| {
        let mode = flags + 1;
        let mut denials = vec![deny(
            EPERM,
            vec![any_of(flags, creating_flags), any_of(mode, SET_ID_BITS)],
        )];
        if refuse_truncation {
            let test = Test {
                mask: (libc::O_ACCMODE | libc::O_TRUNC) as u32,
                ..equals(flags, libc::O_TRUNC as u32)
            };
            denials.push(deny(EACCES, vec![test]));
        }
        denials
    };
    let mut rules = vec![
        rule(libc::SYS_openat, denials(2)),
        #[cfg(target_arch = "x86_64")]
        rule(libc::SYS_open, denials(1)),
    ];
    if refuse_truncation {
        rules.push(rule(libc::SYS_truncate, vec![deny(EACCES, vec![])]));
    }
    rules
}

fn rule(number: i64, cases: Vec<RuleCase>) -> Rule {
    Rule { number, cases }
}

fn deny(errno: i32, tests: Vec<Test>) -> RuleCase {
    let action = FilterAction::Error(errno);
    RuleCase { tests, action }
}

/// Tests that the argument equals this value.
fn equals(argument: u8, value: u32) -> Test {
    Test {
        argument,
        half: ArgumentHalf::Low,
        mask: u32::MAX,
        value,
        equal: true,
    }
}

fn differs(argument: u8, value: u32) -> Test {
    half_differs(argument, ArgumentHalf::Low, value)
}

fn half_differs(argument: u8, half: ArgumentHalf, value: u32) -> Test {
    Test {
        half,
        equal: false,
        ..equals(argument, value)
    }
}

/// Tests that the argument has any of these bits.
pub(crate) fn any_of(argument: u8, bits: u32) -> Test {
    Test {
        mask: bits,
        ..differs(argument, 0)
    }
}
