//! The system calls that fail in containers, by engine. Without an engine, the program `refuse`
//! makes them fail in the same way.
//!
//! Measured with the engines' default profiles, as root without further capabilities: `dockerd`
//! 20.10.24, moby's profile of June 2026, podman 4.3.1, `runsc` of December 2022.

use crate::product;
use crate::world::World;
use anyhow::{Context, Result};
use libc::{EINVAL, ENOSYS, EPERM};
use serde::Deserialize;
use std::path::Path;
use std::process::Command;

/// A system call that fails.
#[derive(Debug, Clone, Copy)]
pub struct Refusal {
    /// The number of the call.
    pub number: i64,
    /// The conditions on the arguments; all must hold.
    pub when: &'static [When],
    /// The error number.
    pub error: i32,
}

/// A condition on an argument, by its number from 0.
#[derive(Debug, Clone, Copy)]
pub enum When {
    /// The argument has this value.
    Is(u8, u64),
    /// The argument has another value.
    IsNot(u8, u64),
}

/// Makes all calls with this number fail.
pub const fn always(number: i64, error: i32) -> Refusal {
    when(number, &[], error)
}

/// Makes calls with this number fail if all conditions on their arguments hold.
pub const fn when(number: i64, when: &'static [When], error: i32) -> Refusal {
    Refusal {
        number,
        when,
        error,
    }
}

/// An engine with its default profile.
#[derive(Debug, Clone, Copy)]
pub struct Engine {
    /// The name in reports.
    pub name: &'static str,
    /// The system calls that it refuses.
    pub refusals: &'static [Refusal],
    /// The facilities that do not work in the engine. Tests compare them with the doctor's report.
    pub lacks: &'static [Facility],
}

/// A part of the product that an engine may make impossible.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Facility {
    /// Records of changes by tracing.
    Records,
    /// Trials.
    Trials,
    /// The sandbox, in full or in part.
    Sandbox,
    /// All promises of the sandbox.
    FullSandbox,
}

/// `fchmodat2`, which `libc` does not number everywhere.
const FCHMODAT2: i64 = 452;

/// Namespaces and mounts, which take `CAP_SYS_ADMIN` in Docker.
const NO_NAMESPACES: [Refusal; 12] = [
    always(libc::SYS_unshare, EPERM),
    always(libc::SYS_setns, EPERM),
    always(libc::SYS_mount, EPERM),
    always(libc::SYS_umount2, EPERM),
    always(libc::SYS_pivot_root, EPERM),
    always(libc::SYS_open_tree, EPERM),
    always(libc::SYS_move_mount, EPERM),
    always(libc::SYS_fsopen, EPERM),
    always(libc::SYS_mount_setattr, EPERM),
    always(libc::SYS_open_by_handle_at, EPERM),
    always(libc::SYS_keyctl, EPERM),
    always(libc::SYS_clone3, ENOSYS),
];

/// The calls by which a process reaches into another one, and which take `CAP_SYS_PTRACE`.
const NO_PIDFD_GETFD: Refusal = always(libc::SYS_pidfd_getfd, EPERM);

/// The calls of Linux 6.13 and later for attributes: `setxattrat`, `getxattrat`, `listxattrat`,
/// `removexattrat`, `open_tree_attr`, `file_getattr` and `file_setattr`.
const NO_ATTRIBUTE_CALLS: [Refusal; 7] = [
    always(463, ENOSYS),
    always(464, ENOSYS),
    always(465, ENOSYS),
    always(466, ENOSYS),
    always(467, ENOSYS),
    always(468, ENOSYS),
    always(469, ENOSYS),
];

const DOCKER_20: [Refusal; 24] = joined::<19, 5, 24>(
    joined(NO_NAMESPACES, NO_ATTRIBUTE_CALLS),
    [
        NO_PIDFD_GETFD,
        always(libc::SYS_process_vm_readv, EPERM),
        always(libc::SYS_process_vm_writev, EPERM),
        always(libc::SYS_kcmp, EPERM),
        always(FCHMODAT2, ENOSYS),
    ],
);

const DOCKER_2026: [Refusal; 22] = joined::<19, 3, 22>(
    joined(NO_NAMESPACES, NO_ATTRIBUTE_CALLS),
    [
        NO_PIDFD_GETFD,
        always(libc::SYS_io_uring_setup, EPERM),
        always(libc::SYS_kcmp, EPERM),
    ],
);

const PODMAN: [Refusal; 11] = joined(
    NO_ATTRIBUTE_CALLS,
    [
        NO_PIDFD_GETFD,
        always(libc::SYS_io_uring_setup, ENOSYS),
        always(libc::SYS_kcmp, EPERM),
        always(FCHMODAT2, ENOSYS),
    ],
);

const GVISOR: [Refusal; 21] = joined(NO_ATTRIBUTE_CALLS, GVISOR_ALONE);

const GVISOR_ALONE: [Refusal; 14] = [
    // A filter with a listener: SECCOMP_FILTER_FLAG_NEW_LISTENER, alone and with
    // WAIT_KILLABLE_RECV.
    when(libc::SYS_seccomp, &[When::Is(1, 0x8)], EINVAL),
    when(libc::SYS_seccomp, &[When::Is(1, 0x28)], EINVAL),
    // PR_SET_CHILD_SUBREAPER with another number than 1.
    when(
        libc::SYS_prctl,
        &[When::Is(0, 36), When::IsNot(1, 1)],
        EINVAL,
    ),
    always(libc::SYS_landlock_create_ruleset, ENOSYS),
    always(libc::SYS_landlock_add_rule, ENOSYS),
    always(libc::SYS_landlock_restrict_self, ENOSYS),
    always(libc::SYS_mount, EPERM),
    always(libc::SYS_process_vm_readv, ENOSYS),
    always(libc::SYS_clone3, ENOSYS),
    always(libc::SYS_openat2, ENOSYS),
    always(libc::SYS_pidfd_open, ENOSYS),
    always(libc::SYS_pidfd_send_signal, ENOSYS),
    always(libc::SYS_pidfd_getfd, ENOSYS),
    always(FCHMODAT2, ENOSYS),
];

/// The engines.
pub const ENGINES: [Engine; 4] = [
    Engine {
        name: "docker-20",
        refusals: &DOCKER_20,
        lacks: &[Facility::Trials, Facility::FullSandbox],
    },
    Engine {
        name: "docker-2026",
        refusals: &DOCKER_2026,
        lacks: &[Facility::Trials, Facility::FullSandbox],
    },
    Engine {
        name: "podman",
        refusals: &PODMAN,
        lacks: &[],
    },
    Engine {
        name: "gvisor",
        refusals: &GVISOR,
        lacks: &[
            Facility::Records,
            Facility::Trials,
            Facility::Sandbox,
            Facility::FullSandbox,
        ],
    },
];

const fn joined<const A: usize, const B: usize, const ALL: usize>(
    first: [Refusal; A],
    second: [Refusal; B],
) -> [Refusal; ALL] {
    assert!(ALL == A + B);
    let mut all = [always(0, 0); ALL];
    let mut at = 0;
    while at < ALL {
        all[at] = if at < A { first[at] } else { second[at - A] };
        at += 1;
    }
    all
}

impl Refusal {
    fn word(&self) -> String {
        let Self { number, error, .. } = self;
        let when: String = self
            .when
            .iter()
            .map(|when| match when {
                When::Is(index, value) => format!(":{index}={value}"),
                When::IsNot(index, value) => format!(":{index}!{value}"),
            })
            .collect();
        format!("{number}{when}={error}")
    }
}

/// Returns a command of the product in a world where these calls fail. `refuse` is the path of the
/// program `refuse`.
///
/// # Errors
/// The product could not be built.
pub fn agent_bash(world: &World, refuse: &Path, refusals: &[Refusal]) -> Result<Command> {
    let product = product::agent_bash().context("the product")?;
    let mut command = world.command(refuse);
    command.args(refusals.iter().map(Refusal::word));
    command.arg("--").arg(product);
    Ok(command)
}
