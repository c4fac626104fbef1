//! Traces the file changes of a program: a filter makes each changing system call wait until a
//! listener in another process has inspected it. The filter denies nothing.

mod indirect;
pub mod memory;
mod table;

pub use indirect::{IndirectEffect, indirect};
pub use table::{Call, FileArgument, FileEffect, FileOperand, FlagsPosition, LinkHandling, call};

use crate::base::seccomp::program::{
    AUDIT_ARCH, FilterAction, OtherArchitectures, Rule, RuleCase, assemble,
};
use crate::base::seccomp::rules::any_of;
use crate::plan::TraceScope;
use agent_bash_notify::{Instruction, Listener, install};
use rustix::fs::{Mode, OFlags};
use rustix::thread::CapabilitySet;
use std::io;
use std::os::fd::OwnedFd;
use table::CHANGING_FLAGS;

/// True for a system call of this architecture, whose arguments [`call`] knows.
pub fn is_native(table: u32, number: i32) -> bool {
    let x32 = cfg!(target_arch = "x86_64") && number & 0x4000_0000 != 0;
    Some(table) == AUDIT_ARCH && !x32
}

/// Begins the trace of this thread and its children, for the holder of the returned listener. Sets
/// `no_new_privs` where the system requires it.
///
/// # Errors
/// The kernel is too old, or a listener exists already.
pub fn begin(scope: TraceScope) -> io::Result<OwnedFd> {
    let program = program(scope).ok_or(io::ErrorKind::Unsupported)?;
    let current = rustix::thread::capabilities(None)?;
    if !current.effective.contains(CapabilitySet::SYS_ADMIN) {
        rustix::thread::set_no_new_privs(true)?;
    }
    install(&program)
}

/// Checks whether programs of this process can be traced, in a temporary thread.
///
/// # Errors
/// The kernel is too old, or a listener exists already.
pub fn is_possible() -> io::Result<()> {
    let thread = std::thread::Builder::new().name("agent-bash-try".to_owned());
    let begin_trace = || begin(TraceScope::Changes).and_then(Listener::new).map(drop);
    let tried = thread.spawn(begin_trace)?;
    let tried = tried.join();
    tried.unwrap_or_else(|_| Err(io::Error::other("the test of tracing failed")))
}

/// Makes a traced system call, which returns once the listener has inspected it.
pub(crate) fn wait_to_be_traced(scope: TraceScope) {
    // The calls fail, since the file is not a socket.
    let no_socket = || std::fs::File::open("/dev/null");
    match scope {
        TraceScope::Changes | TraceScope::Refusals => {}
        TraceScope::Sockets => {
            let _ = no_socket().map(|file| rustix::net::listen(file, 0));
            return;
        }
        TraceScope::Connections => {
            let _ = no_socket().map(rustix::net::connect_unspec);
            return;
        }
    }
    let flags = OFlags::WRONLY | OFlags::CLOEXEC;
    // The result of the open does not matter.
    let _ = rustix::fs::open("/dev/null", flags, Mode::empty());
}

fn program(scope: TraceScope) -> Option<Vec<Instruction>> {
    let mut rules = indirect::socket_rules();
    if matches!(scope, TraceScope::Connections | TraceScope::Refusals) {
        rules.retain(|rule| rule.number == libc::SYS_connect);
    }
    if matches!(scope, TraceScope::Changes | TraceScope::Refusals) {
        rules.extend(table::all().map(rule));
    }
    match scope {
        TraceScope::Changes => rules.extend(indirect::file_rules()),
        TraceScope::Refusals => rules.extend(table::QUERIES.iter().map(rule)),
        TraceScope::Sockets | TraceScope::Connections => {}
    }
    // The requests of `io_uring` are in memory, which a filter cannot read. Programs fall back to
    // other system calls.
    let absent = |number| {
        let action = FilterAction::Error(libc::ENOSYS);
        let tests = Vec::new();
        let cases = vec![RuleCase { tests, action }];
        Rule { number, cases }
    };
    rules.push(absent(libc::SYS_io_uring_setup));
    let other_architectures = OtherArchitectures::Notify(match scope {
        TraceScope::Changes => table::CALLS_32_BIT,
        TraceScope::Sockets => table::SOCKET_CALLS_32_BIT,
        // The filter of the sandbox refuses 32-bit calls.
        TraceScope::Connections | TraceScope::Refusals => &[],
    });
    let program = assemble(AUDIT_ARCH?, &other_architectures, &rules)?;
    let instructions = program.into_iter().map(|instruction| Instruction {
        code: instruction.code,
        jt: instruction.jt,
        jf: instruction.jf,
        k: instruction.k,
    });
    Some(instructions.collect())
}

/// Returns the rule: an open waits if it may change the file, a query if it is about writing, and
/// every other listed call always waits.
fn rule(call: &Call) -> Rule {
    let mut tests = Vec::new();
    for operand in call.operands {
        match operand.effect {
            FileEffect::Opens(FlagsPosition::In(argument)) => {
                tests.push(any_of(argument, CHANGING_FLAGS as u32));
            }
            FileEffect::AsksToWrite(mode) => tests.push(any_of(mode, libc::W_OK as u32)),
            _ => {}
        }
    }
    let action = FilterAction::Notify;
    Rule {
        number: call.number,
        cases: vec![RuleCase { tests, action }],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_builds_a_program_and_has_each_call_once() {
        let numbers: std::collections::BTreeSet<i64> =
            table::all().map(|call| call.number).collect();
        assert_eq!(numbers.len(), table::all().count());
        for scope in [TraceScope::Changes, TraceScope::Refusals] {
            assert!(program(scope).is_some_and(|program| program.len() > numbers.len()));
        }
        assert_eq!(
            call(i32::try_from(libc::SYS_unlinkat).unwrap()).map(|call| call.operands.len()),
            Some(1)
        );
        assert!(call(i32::try_from(libc::SYS_read).unwrap()).is_none());
        // `file_setattr` has an effect that a record cannot restore; `file_getattr` has none.
        let effect = |number| call(number).map(|call| call.operands[0].effect);
        assert_eq!(effect(469), Some(FileEffect::Flags));
        assert_eq!(effect(468), None);
    }
}
