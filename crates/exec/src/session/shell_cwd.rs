//! The directory of a session's shell, and the commands by which another shell enters it, or fails.
//!
//! The path that the shell reports can be wrong: a script may set PWD, and a directory may be moved
//! or removed while a shell is in it. The kernel knows the directory, but not the name by which the
//! shell entered it (a symbolic link).

use agent_bash_call::Reader;
use agent_bash_process::{directory_of, quoted};
use std::ffi::OsStr;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

/// The kernel's suffix of a removed directory's path.
const REMOVED_SUFFIX: &[u8] = b" (deleted)";

/// The directory of a shell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ShellCwd {
    /// The directory's path according to the shell.
    name: Vec<u8>,
    /// The directory's path according to the kernel, if that is known.
    real: Option<Vec<u8>>,
}

impl ShellCwd {
    /// The current directory of the shell with this pid, which the shell calls `name`.
    pub(super) fn of(pid: u32, name: Vec<u8>) -> Self {
        let real = directory_of(pid).map(|path| path.into_os_string().into_vec());
        Self { name, real }
    }

    /// The path to show: the kernel's rather than the shell's.
    pub(super) fn shown(&self) -> PathBuf {
        let real = self.real.as_ref().unwrap_or(&self.name);
        // Without the kernel's suffix, unless that is part of the name.
        let shown = match real.strip_suffix(REMOVED_SUFFIX) {
            Some(name) if *name == *self.name => name,
            _ => real,
        };
        OsStr::from_bytes(shown).into()
    }

    /// Commands that enter it, or fail and leave the shell where it is. The shell's own path is
    /// used only if it still leads there.
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
        // The directory may have been created again.
        if let Some(name) = real.strip_suffix(REMOVED_SUFFIX) {
            text.extend_from_slice(b" || ");
            text.extend(enter(name));
        }
        text
    }
}

/// Enters a directory; fails if its path is not absolute.
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
        let place = ShellCwd {
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
