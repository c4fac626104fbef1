//! The host of a command: on this machine, on another one, or in a container.

use std::rc::Rc;

/// The machine or container of a command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum CommandHost {
    /// On this machine.
    #[default]
    Local,
    /// On another machine.
    Remote,
    /// In a container that exists already.
    Container,
    /// In a new container. Of this machine, it can only change these directories.
    Disposable(Rc<[Mount]>),
}

/// A directory of this machine that is mounted in a container. Both paths are absolute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mount {
    /// The directory's path on this machine.
    pub source: String,
    /// The directory's path in the container.
    pub target: String,
}
