//! Seccomp's notifications: a filter makes system calls wait until a listener has looked at them. Wraps the calls of the
//! kernel's that this takes, and nothing else: it is the one crate with `unsafe`.
//!
//! What a listener reads of a waiting process may be of another one if that has died meanwhile: it counts only if
//! [`Listener::still_waits`] says so afterwards. A process can change what its call refers to in memory after it was
//! looked at, so that nothing may be allowed or denied on these grounds; that is not offered here.

#![cfg(target_os = "linux")]

mod install;
mod listener;

pub use install::{Instruction, install};
pub use listener::{Listener, Waiting};

#[cfg(test)]
mod tests;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
