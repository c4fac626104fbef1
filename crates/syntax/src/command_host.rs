//! The host of a command: this machine, another machine, or a container.

use std::rc::Rc;

/// The machine or container of a command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum CommandHost {
    /// This machine.
    #[default]
    Local,
    /// Another machine.
    Remote,
    /// A container that exists already.
    Container,
    /// A new container, in which commands can change only these directories of this machine.
    Disposable(Rc<[Mount]>),
}

impl CommandHost {
    /// True for a container.
    pub fn is_container(&self) -> bool {
        matches!(self, CommandHost::Container | CommandHost::Disposable(_))
    }
}

/// A directory of this machine that is mounted in a container. Both paths are absolute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mount {
    /// The directory's path on this machine.
    pub source: String,
    /// The directory's path in the container.
    pub target: String,
}
