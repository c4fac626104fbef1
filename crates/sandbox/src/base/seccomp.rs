//! Restricts system calls with seccomp where Landlock has no rule.

pub(crate) mod program;
pub(crate) mod rules;

use crate::error::SandboxError;
use agent_bash_core::sandbox::Plan;
use program::OtherArchitectures;
use std::io;

/// Filters the system calls of this thread and its children. With `refuse_truncation`, the filter
/// treats truncation as a write, because Landlock does not. With `unix_is_guarded`, Unix sockets
/// are allowed, because their connections are guarded.
pub(crate) fn restrict(
    plan: &Plan,
    refuse_truncation: bool,
    unix_is_guarded: bool,
) -> Result<(), SandboxError> {
    apply(&rules::rules(
        plan.network, plan.tier, refuse_truncation, unix_is_guarded,
    ))
}

/// Refuses Unix sockets from now on, because their connections cannot be guarded.
pub(crate) fn refuse_unix_sockets() -> Result<(), SandboxError> {
    apply(&rules::no_unix_sockets())
}

fn apply(rules: &[program::Rule]) -> Result<(), SandboxError> {
    let Some(architecture) = program::AUDIT_ARCH else {
        return Err(SandboxError::missing_facility(
            "a filter of system calls for this processor",
        ));
    };
    let program =
        program::assemble(architecture, &OtherArchitectures::Absent, rules).ok_or_else(|| {
            SandboxError::step("filtering system calls")(io::Error::other("a rule is too long"))
        })?;
    seccompiler::apply_filter(&program).map_err(|error| match error {
        seccompiler::Error::Seccomp(error) if error.raw_os_error() == Some(libc::ENOSYS) => {
            SandboxError::missing_facility("seccomp")
        }
        other => SandboxError::step("filtering system calls")(io::Error::other(other)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use agent_bash_core::sandbox::{Network, Tier};

    /// Returns the error with which the filter refuses a system call.
    fn refusal(number: i64, arguments: [u64; 6]) -> Option<i32> {
        let table = 0xC000_003E;
        let rules = rules::rules(Network::Off, Tier::Base, false, false);
        let program =
            program::assemble(table, &OtherArchitectures::Absent, &rules).expect("it is short");
        let words = |value: u64| [value as u32, (value >> 32) as u32];
        let call: Vec<u32> = [number as u32, table, 0, 0]
            .into_iter()
            .chain(arguments.into_iter().flat_map(words))
            .collect();
        let (mut at, mut accumulator) = (0, 0);
        loop {
            let step = &program[at];
            let holds = match step.code {
                0x20 => {
                    accumulator = call[step.k as usize / 4];
                    true
                }
                0x54 => {
                    accumulator &= step.k;
                    true
                }
                0x15 => accumulator == step.k,
                0x45 => accumulator & step.k != 0,
                0x06 => return (step.k != 0x7FFF_0000).then_some((step.k & 0xFFFF).cast_signed()),
                other => panic!("no such instruction: {other:#x}"),
            };
            at += 1 + usize::from(if holds { step.jt } else { step.jf });
        }
    }

    #[test]
    fn file_system_requests_that_change_files_are_refused() {
        let requests = [
            (0x4008_6602, false), // FS_IOC_SETFLAGS
            (0x401C_5820, false), // FS_IOC_FSSETXATTR
            (0x800C_6613, false), // FS_IOC_SET_ENCRYPTION_POLICY
            (0x4008_6604, false), // EXT4_IOC_SETVERSION
            (0x0000_6609, false), // EXT4_IOC_MIGRATE
            (0x5000_940E, false), // BTRFS_IOC_SUBVOL_CREATE
            (0x5000_940F, false), // BTRFS_IOC_SNAP_DESTROY
            (0xC004_5877, false), // FIFREEZE
            (0x8008_6601, true),  // FS_IOC_GETFLAGS
            (0xC020_660B, true),  // FS_IOC_FIEMAP
            (0x4004_9409, true),  // FICLONE
            (0x4020_940D, true),  // FICLONERANGE
            (0xC018_9436, true),  // FIDEDUPERANGE
            (0x0000_5401, true),  // TCGETS
            (0x0000_541B, true),  // FIONREAD
        ];
        for (request, allowed) in requests {
            let error = refusal(libc::SYS_ioctl, [3, request, 0, 0, 0, 0]);
            let expected = (!allowed).then_some(libc::EOPNOTSUPP);
            assert_eq!(error, expected, "{request:#x}");
        }
    }

    #[test]
    fn device_files_are_refused_as_without_a_privilege() {
        let kinds = [
            (libc::S_IFCHR, true),
            (libc::S_IFBLK, true),
            (libc::S_IFIFO, false),
            (libc::S_IFREG, false),
        ];
        for (kind, is_refused) in kinds {
            let error = refusal(libc::SYS_mknodat, [3, 0, (kind | 0o600).into(), 0, 0, 0]);
            assert_eq!(error, is_refused.then_some(libc::EPERM), "{kind:#o}");
        }
    }

    #[test]
    fn rules_of_every_plan_are_assembled() {
        for network in [Network::Off, Network::Loopback, Network::On] {
            for tier in [Tier::Base, Tier::Full] {
                for refuse_truncation in [false, true] {
                    let rules = rules::rules(network, tier, refuse_truncation, !refuse_truncation);
                    assert!(!rules.is_empty());
                    assert!(program::assemble(0, &OtherArchitectures::Absent, &rules).is_some());
                }
            }
        }
    }
}
