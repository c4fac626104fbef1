//! Assembles rules into a BPF program.
//!
//! seccompiler supports one action for all rules, and kills a process that uses another
//! architecture's system calls. Programs expect specific error numbers instead.

use seccompiler::{BpfProgram, sock_filter};

/// The rule for one system call. System calls without a rule are allowed.
pub(crate) struct Rule {
    pub(crate) number: i64,
    /// The first case that applies decides. If none applies, the call is allowed.
    pub(crate) cases: Vec<RuleCase>,
}

/// A case applies if all its tests hold.
pub(crate) struct RuleCase {
    pub(crate) tests: Vec<Test>,
    pub(crate) action: FilterAction,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FilterAction {
    /// Fail with this errno.
    Error(i32),
    /// Wait until the listener has inspected the call.
    Notify,
}

/// The action for system calls of other architectures.
pub(crate) enum OtherArchitectures<'a> {
    /// 32-bit calls raise `SIGSYS`: with `ENOSYS`, a 32-bit program would end with `SIGSEGV`. x32
    /// calls fail with `ENOSYS`.
    Absent,
    /// The calls with these 32-bit numbers, and every x32 call, wait for the listener. All others
    /// are allowed.
    Notify(&'a [u32]),
}

/// Compares one half of an argument.
#[derive(Clone, Copy)]
pub(crate) struct Test {
    pub(crate) argument: u8,
    pub(crate) half: ArgumentHalf,
    /// The compared bits.
    pub(crate) mask: u32,
    pub(crate) value: u32,
    /// True: the bits must be equal. False: they must differ.
    pub(crate) equal: bool,
}

/// One half of a 64-bit argument.
#[derive(Clone, Copy)]
pub(crate) enum ArgumentHalf {
    Low,
    High,
}

/// The kernel's value for this architecture.
pub(crate) const AUDIT_ARCH: Option<u32> = if cfg!(target_arch = "x86_64") {
    Some(0xC000_003E)
} else if cfg!(target_arch = "aarch64") {
    Some(0xC000_00B7)
} else {
    None
};

/// This bit marks system call numbers of the x32 ABI.
const X32_BIT: u32 = 0x4000_0000;

// Instructions of linux/bpf_common.h: "load a word", "and", "jump if equal", "jump if any bit is
// set", "return".
const BPF_LOAD: u16 = 0x20;
const BPF_AND: u16 = 0x54;
const JUMP_EQUAL: u16 = 0x15;
const JUMP_SET: u16 = 0x45;
const BPF_RETURN: u16 = 0x06;

// Offsets in `struct seccomp_data`.
const NUMBER_OFFSET: u32 = 0;
const ARCH_OFFSET: u32 = 4;
const ARGUMENTS_OFFSET: u32 = 16;

// Actions, as in linux/seccomp.h.
const RET_ALLOW: u32 = 0x7FFF_0000;
const RET_ERRNO: u32 = 0x0005_0000;
const RET_USER_NOTIF: u32 = 0x7FC0_0000;
/// Raises `SIGSYS`.
const RET_TRAP: u32 = 0x0003_0000;

/// Returns the instructions; `None` if a rule is longer than a jump reaches.
pub(crate) fn assemble(
    architecture: u32,
    other_architectures: &OtherArchitectures<'_>,
    rules: &[Rule],
) -> Option<BpfProgram> {
    let (others, x32) = match other_architectures {
        OtherArchitectures::Absent => {
            let absent = return_action(FilterAction::Error(libc::ENOSYS));
            (vec![statement(BPF_RETURN, RET_TRAP)], absent)
        }
        OtherArchitectures::Notify(numbers) => {
            let notify = return_action(FilterAction::Notify);
            let mut others = vec![statement(BPF_LOAD, NUMBER_OFFSET)];
            for number in *numbers {
                others.extend([jump(JUMP_EQUAL, *number, 0, 1), notify.clone()]);
            }
            others.push(statement(BPF_RETURN, RET_ALLOW));
            (others, notify)
        }
    };
    let mut program = vec![
        statement(BPF_LOAD, ARCH_OFFSET),
        jump(
            JUMP_EQUAL,
            architecture,
            u8::try_from(others.len()).ok()?,
            0,
        ),
    ];
    program.extend(others);
    program.push(statement(BPF_LOAD, NUMBER_OFFSET));
    if cfg!(target_arch = "x86_64") {
        program.extend([jump(JUMP_SET, X32_BIT, 0, 1), x32]);
    }
    for rule in rules {
        let body = body(rule)?;
        let skipped = u8::try_from(body.len()).ok()?;
        program.push(jump(JUMP_EQUAL, rule.number as u32, 0, skipped));
        program.extend(body);
    }
    program.push(statement(BPF_RETURN, RET_ALLOW));
    Some(program)
}

/// Returns the instructions of a rule. Every path through them ends with a return, so the next rule
/// still finds the number loaded.
fn body(rule: &Rule) -> Option<BpfProgram> {
    let mut body = Vec::new();
    for case in &rule.cases {
        let mut rest = vec![return_action(case.action)];
        for test in case.tests.iter().rev() {
            let skipped = u8::try_from(rest.len()).ok()?;
            let (holds, fails) = if test.equal {
                (0, skipped)
            } else {
                (skipped, 0)
            };
            let mut tested = vec![statement(BPF_LOAD, offset(test))];
            if test.mask != u32::MAX {
                tested.push(statement(BPF_AND, test.mask));
            }
            tested.push(jump(JUMP_EQUAL, test.value, holds, fails));
            tested.extend(rest);
            rest = tested;
        }
        body.extend(rest);
    }
    if rule.cases.iter().all(|case| !case.tests.is_empty()) {
        body.push(statement(BPF_RETURN, RET_ALLOW));
    }
    Some(body)
}

fn offset(test: &Test) -> u32 {
    let high_first = cfg!(target_endian = "big");
    let second = match test.half {
        ArgumentHalf::Low => high_first,
        ArgumentHalf::High => !high_first,
    };
    ARGUMENTS_OFFSET + 8 * u32::from(test.argument) + if second { 4 } else { 0 }
}

fn return_action(action: FilterAction) -> sock_filter {
    let code = match action {
        FilterAction::Error(errno) => RET_ERRNO | errno as u32,
        FilterAction::Notify => RET_USER_NOTIF,
    };
    statement(BPF_RETURN, code)
}

fn statement(code: u16, k: u32) -> sock_filter {
    jump(code, k, 0, 0)
}

fn jump(code: u16, k: u32, jt: u8, jf: u8) -> sock_filter {
    sock_filter { code, jt, jf, k }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn assemble_refuses_a_rule_that_is_longer_than_a_jump() {
        let test = Test {
            argument: 0,
            half: ArgumentHalf::Low,
            mask: u32::MAX,
            value: 1,
            equal: true,
        };
        let rule = |tests: usize| Rule {
            number: 1,
            cases: vec![RuleCase {
                tests: vec![test; tests],
                action: FilterAction::Error(1),
            }],
        };
        // Each test has two instructions, and there are two returns.
        assert!(assemble(1, &OtherArchitectures::Absent, &[rule(126)]).is_some());
        assert!(assemble(1, &OtherArchitectures::Absent, &[rule(127)]).is_none());
    }
}
