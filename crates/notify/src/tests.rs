//! Threads whose system calls wait for the test's thread.

use crate::{Instruction, Listener, inherited, install};
use std::io;
use std::os::fd::OwnedFd;
use std::sync::mpsc;
use std::thread::{self, JoinHandle};

/// Returns a filter program that makes one system call wait and allows all others.
fn filter_program(number: i64) -> Vec<Instruction> {
    let instruction = |code, jt, jf, k| Instruction { code, jt, jf, k };
    vec![
        instruction(0x20, 0, 0, 0),
        instruction(0x15, 0, 1, u32::try_from(number).unwrap()),
        instruction(0x06, 0, 0, libc::SECCOMP_RET_USER_NOTIF),
        instruction(0x06, 0, 0, libc::SECCOMP_RET_ALLOW),
    ]
}

/// Starts a thread that installs the filter and calls `call`. Returns the descriptor of the
/// listener and the thread.
fn spawn_filtered<T: Send + 'static>(
    program: Vec<Instruction>,
    call: impl FnOnce() -> T + Send + 'static,
) -> (OwnedFd, JoinHandle<T>) {
    let (sender, receiver) = mpsc::channel();
    let thread = thread::spawn(move || {
        rustix::thread::set_no_new_privs(true).unwrap();
        sender.send(install(&program).unwrap()).unwrap();
        call()
    });
    (receiver.recv().unwrap(), thread)
}

#[test]
fn call_waits_until_the_listener_lets_it_continue() {
    let number = libc::SYS_getpgid;
    let (descriptor, thread) =
        spawn_filtered(filter_program(number), || rustix::process::getpgid(None));
    let listener = Listener::new(descriptor).unwrap();
    let call = listener.next().unwrap().unwrap();
    assert_eq!((i64::from(call.number), call.arguments[0]), (number, 0));
    assert!(call.thread > 0 && listener.still_waits(&call));
    assert!(!thread.is_finished());
    listener.let_continue(&call).unwrap();
    let own = rustix::process::getpgid(None).unwrap();
    assert_eq!(thread.join().unwrap().unwrap(), own);
    // The thread continued, so data read since then is not valid.
    assert!(!listener.still_waits(&call) && listener.let_continue(&call).is_err());
}

#[test]
fn without_a_listener_the_call_fails_with_enosys() {
    let (sender, receiver) = mpsc::channel();
    let (descriptor, thread) = spawn_filtered(filter_program(libc::SYS_getpgid), move || {
        receiver.recv().unwrap();
        rustix::process::getpgid(None)
    });
    drop(descriptor);
    sender.send(()).unwrap();
    assert_eq!(thread.join().unwrap(), Err(rustix::io::Errno::NOSYS));
}

#[test]
fn second_listener_and_invalid_program_are_errors() {
    let thread = thread::spawn(|| {
        rustix::thread::set_no_new_privs(true).unwrap();
        let nonsense = install(&filter_program(0)[..1]).map_err(|error| error.kind());
        let first = install(&filter_program(libc::SYS_getpgid));
        let second = install(&filter_program(libc::SYS_getpgid));
        (nonsense.unwrap_err(), first.is_ok(), second.unwrap_err())
    });
    let (nonsense, first, second) = thread.join().unwrap();
    assert_eq!((nonsense, first), (io::ErrorKind::InvalidInput, true));
    assert_eq!(second.raw_os_error(), Some(libc::EBUSY));
}

#[test]
fn inherited_descriptor_is_copied_and_a_closed_one_is_an_error() {
    use std::io::{Read, Write};
    use std::os::fd::AsRawFd;
    let (mut read, write) = io::pipe().unwrap();
    let copy = inherited(write.as_raw_fd()).unwrap();
    assert_ne!(copy.as_raw_fd(), write.as_raw_fd());
    drop(write);
    let mut copy = std::fs::File::from(copy);
    copy.write_all(b"x").unwrap();
    drop(copy);
    let mut text = String::new();
    read.read_to_string(&mut text).unwrap();
    assert_eq!(text, "x");
    assert!(inherited(-1).is_err());
}
