//! Where a session's shell stands, and how another shell gets there: there or nowhere.
//!
//! What a shell says of it can be wrong: a script may set PWD, a directory may be moved or removed while a shell is in it. The
//! system knows, but not by which name the shell got there (a symbolic link).

use agent_bash_call::Reader;
use agent_bash_process::{directory_of, quoted};
use std::ffi::OsStr;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

/// What the system says behind the name of a directory that was removed.
const REMOVED: &[u8] = b" (deleted)";

/// The directory of a shell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    /// Its name, as the shell has it.
    name: Vec<u8>,
    /// Its name, as the system has it; `None` where that does not tell.
    real: Option<Vec<u8>>,
}

impl Place {
    /// Where the shell with this pid stands at the moment, which it calls `name`.
    pub(super) fn of(pid: u32, name: Vec<u8>) -> Self {
        let real = directory_of(pid).map(|path| path.into_os_string().into_vec());
        Self { name, real }
    }

    /// As it is shown: what is known rather than what was said.
    pub(super) fn shown(&self) -> PathBuf {
        let real = self.real.as_ref().unwrap_or(&self.name);
        // Without what the system adds, where that is no part of the name.
        let shown = match real.strip_suffix(REMOVED) {
            Some(name) if *name == *self.name => name,
            _ => real,
        };
        OsStr::from_bytes(shown).into()
    }

    /// A list of commands that enters it, or fails and leaves the shell where it is. By the shell's own name only if that
    /// still leads there.
    pub(super) fn enter(&self) -> Vec<u8> {
        let Some(real) = &self.real else {
            return enter(&self.name);
        };
        let mut text = Vec::new();
        if self.name != *real {
            text.extend_from_slice(b"{ ");
            text.extend(enter(&self.name));
            text.extend_from_slice(b" && [[ . -ef ");
            text.extend(quoted(OsStr::from_bytes(real)));
            text.extend_from_slice(b" ]]; } || ");
        }
        text.extend(enter(real));
        // It may have been made again.
        if let Some(name) = real.strip_suffix(REMOVED) {
            text.extend_from_slice(b" || ");
            text.extend(enter(name));
        }
        text
    }
}

/// Enters a directory; fails where its name says nothing by itself.
fn enter(name: &[u8]) -> Vec<u8> {
    if name.first() != Some(&b'/') {
        return b"[[ '' ]]".to_vec();
    }
    let list = agent_bash_call::enter(&quoted(OsStr::from_bytes(name)), Reader::Bash);
    [b"{ ", &*list, b"; }"].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(name: &str, real: Option<&str>) -> String {
        let place = Place {
            name: name.into(),
            real: real.map(Into::into),
        };
        String::from_utf8(place.enter()).unwrap()
    }

    #[test]
    fn a_name_is_taken_where_it_leads_to_the_place() {
        let cd = |path: &str| String::from_utf8(enter(path.as_bytes())).unwrap();
        let nowhere = "[[ '' ]]".to_owned();
        for (name, real, wanted) in [
            ("/a", Some("/a"), cd("/a")),
            ("/a", None, cd("/a")),
            ("", None, nowhere),
            (
                "/link",
                Some("/a"),
                format!("{{ {} && [[ . -ef '/a' ]]; }} || {}", cd("/link"), cd("/a")),
            ),
            (
                "",
                Some("/a"),
                format!("{{ [[ '' ]] && [[ . -ef '/a' ]]; }} || {}", cd("/a")),
            ),
            (
                "/a (deleted)",
                Some("/a (deleted)"),
                format!("{} || {}", cd("/a (deleted)"), cd("/a")),
            ),
        ] {
            assert_eq!(text(name, real), wanted);
        }
    }
}
