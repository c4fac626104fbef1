//! [`KnownNumbers`]: the numbers of change sets that this process has seen. If the state directory
//! is removed or replaced, no number of the old directory names a change set of the new one.

use crate::files::file_stat::wide;
use agent_bash_core::changes::ChangesId;
use agent_bash_core::lock;
use agent_bash_os::PrivateDir;
use rustix::fs::fstat;
use std::collections::BTreeMap;
use std::io;
use std::sync::{Mutex, MutexGuard};

/// The seen numbers of all sessions, by the session's name.
#[derive(Debug, Default)]
pub(crate) struct KnownNumbers {
    sessions: Mutex<BTreeMap<String, SessionNumbers>>,
}

#[derive(Debug)]
struct SessionNumbers {
    /// The session's directory. While it is open, no other directory gets its inode number.
    directory: PrivateDir,
    /// Lower numbers belong to a directory that has been removed or replaced.
    first: u64,
    /// The number after the highest seen number.
    next: u64,
}

impl KnownNumbers {
    /// Returns the lowest number that may name a change set of this directory.
    pub(crate) fn first(&self, directory: &PrivateDir) -> io::Result<ChangesId> {
        self.with_session(directory, |session| ChangesId(session.first))
    }

    /// Returns the lowest number that a new change set may have.
    pub(crate) fn next(&self, directory: &PrivateDir) -> io::Result<u64> {
        self.with_session(directory, |session| session.next)
    }

    /// Records that this process uses or shows the number.
    pub(crate) fn record(&self, directory: &PrivateDir, id: ChangesId) -> io::Result<()> {
        self.with_session(directory, |session| {
            session.next = session.next.max(id.0.saturating_add(1));
        })
    }

    /// Forgets the number of a removed change set, if it is the last one.
    pub(crate) fn give_back(&self, directory: &PrivateDir, id: ChangesId) {
        // If this fails, the number is not used again.
        let _ = self.with_session(directory, |session| {
            if session.next == id.0.saturating_add(1) && session.first <= id.0 {
                session.next = id.0;
            }
        });
    }

    fn with_session<T>(
        &self,
        directory: &PrivateDir,
        act: impl FnOnce(&mut SessionNumbers) -> T,
    ) -> io::Result<T> {
        let name = directory.path().file_name().unwrap_or_default();
        let name = name.to_string_lossy();
        let mut sessions = self.sessions();
        if let Some(session) = sessions.get_mut(&*name) {
            if identity(&session.directory)? != identity(directory)? {
                session.directory = directory.try_clone()?;
                session.first = session.next;
            }
            return Ok(act(session));
        }
        let mut session = SessionNumbers {
            directory: directory.try_clone()?,
            first: 0,
            next: 0,
        };
        let result = act(&mut session);
        sessions.insert(name.into_owned(), session);
        Ok(result)
    }

    fn sessions(&self) -> MutexGuard<'_, BTreeMap<String, SessionNumbers>> {
        lock(&self.sessions)
    }
}

fn identity(directory: &PrivateDir) -> io::Result<(u64, u64)> {
    let stat = fstat(directory)?;
    Ok((wide(stat.st_dev), stat.st_ino))
}
