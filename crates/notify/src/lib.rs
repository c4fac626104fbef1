//! Seccomp notifications: a filter makes system calls wait until a listener has inspected them.
//! This is the only crate with `unsafe`. So the crate contains only wrappers: for these
//! notifications, for the duplication of an inherited descriptor, and for `fork`.
//!
//! A waiting process may die, and its pid may be reused, while a listener reads its memory: the
//! data is valid only if [`Listener::still_waits`] returns true afterwards. A process can change
//! the memory that its system call refers to after the inspection. Therefore no listener may let a
//! system call continue because of its memory or descriptors. [`Listener::finish`] ends a system
//! call that the listener has executed itself with its own copies.

#![cfg(target_os = "linux")]

mod fork;
mod inherited;
mod install;
mod listener;

pub use fork::fork;
pub use inherited::inherited;
pub use install::{Instruction, install};
pub use listener::{Listener, WaitingCall};

#[cfg(test)]
mod tests;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
