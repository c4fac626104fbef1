//! Watching what a program does to files: a filter makes the system calls that change any wait until a listener, in
//! another process, has looked at them. Nothing is denied by it.

mod table;

pub use table::{Call, Effect, FileArgument, Flags, Follow, Operand, call};

use crate::base::seccomp::program::{ARCHITECTURE, Case, Elsewhere, FilterAction, Rule, assemble};
use crate::base::seccomp::rules::any_of;
use agent_bash_notify::{Instruction, install};
use rustix::fs::{Mode, OFlags};
use rustix::thread::CapabilitySet;
use std::io;
use std::os::fd::OwnedFd;

/// What a file is opened with that may change it.
const CHANGES: i32 = libc::O_WRONLY | libc::O_RDWR | libc::O_CREAT | libc::O_TRUNC;

/// Whether a call is of this processor's own table, the one whose arguments [`call`] knows.
pub fn is_native(table: u32, number: i32) -> bool {
    let x32 = cfg!(target_arch = "x86_64") && number & 0x4000_0000 != 0;
    Some(table) == ARCHITECTURE && !x32
}

/// Begins: from here on this thread and everything that it starts is watched by whoever has the listener that is returned. Gives
/// up new privileges where the system demands that.
///
/// # Errors
/// The kernel is too old, or somebody watches already.
pub fn begin() -> io::Result<OwnedFd> {
    let program = program().ok_or(io::ErrorKind::Unsupported)?;
    let had = rustix::thread::capabilities(None)?;
    if !had.effective.contains(CapabilitySet::SYS_ADMIN) {
        rustix::thread::set_no_new_privs(true)?;
    }
    install(&program)
}

/// Whether this process may have programs watched: tried in a thread that ends with it.
///
/// # Errors
/// The kernel is too old, or somebody watches this process already.
pub fn is_possible() -> io::Result<()> {
    let thread = std::thread::Builder::new().name("agent-bash-try".to_owned());
    let tried = thread.spawn(|| begin().map(drop))?.join();
    tried.unwrap_or_else(|_| Err(io::Error::other("trying it failed")))
}

/// Makes a call that waits, and so returns only once somebody has looked at it.
pub(crate) fn wait_to_be_watched() {
    let flags = OFlags::WRONLY | OFlags::CLOEXEC;
    // Whether it can be opened is of no interest.
    let _ = rustix::fs::open("/dev/null", flags, Mode::empty());
}

fn program() -> Option<Vec<Instruction>> {
    let mut rules: Vec<Rule> = table::all().map(rule).collect();
    // Its requests are in memory, out of sight; programs have another way.
    let absent = |number| {
        let answer = FilterAction::Error(libc::ENOSYS);
        let tests = Vec::new();
        let cases = vec![Case { tests, answer }];
        Rule { number, cases }
    };
    rules.push(absent(libc::SYS_io_uring_setup));
    let elsewhere = Elsewhere::Notify(table::ELSEWHERE);
    let program = assemble(ARCHITECTURE?, &elsewhere, &rules)?;
    let same = program.into_iter().map(|one| Instruction {
        code: one.code,
        jt: one.jt,
        jf: one.jf,
        k: one.k,
    });
    Some(same.collect())
}

/// Opening a file is looked at if it may change it; what else is in the table always is.
fn rule(call: &Call) -> Rule {
    let mut tests = Vec::new();
    for operand in call.operands {
        if let Effect::Opens(Flags::In(argument)) = operand.effect {
            tests.push(any_of(argument, CHANGES as u32));
        }
    }
    let answer = FilterAction::Notify;
    Rule {
        number: call.number,
        cases: vec![Case { tests, answer }],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_makes_a_program_and_has_each_call_once() {
        let numbers: std::collections::BTreeSet<i64> =
            table::all().map(|call| call.number).collect();
        assert_eq!(numbers.len(), table::all().count());
        assert!(program().is_some_and(|program| program.len() > numbers.len()));
        assert_eq!(
            call(i32::try_from(libc::SYS_unlinkat).unwrap()).map(|call| call.operands.len()),
            Some(1)
        );
        assert!(call(i32::try_from(libc::SYS_read).unwrap()).is_none());
    }
}
