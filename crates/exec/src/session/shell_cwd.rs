//! The directory of a session's shell, and the commands with which another shell enters that
//! directory.
//!
//! The path that the shell reports can be wrong. A script may set PWD, or a process may move or
//! remove the current directory of the shell. The kernel knows the directory, but not the symbolic
//! link by which the shell entered it.

use agent_bash_call::ShellDialect;
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
    /// Returns the current directory of the shell with this pid, whose own path for the directory
    /// is `name`.
    pub(super) fn of(pid: u32, name: Vec<u8>) -> Self {
        let real = directory_of(pid).map(|path| path.into_os_string().into_vec());
        Self { name, real }
    }

    /// Returns the path to show: the kernel's if known, otherwise the shell's.
    pub(super) fn display_path(&self) -> PathBuf {
        let real = self.real.as_ref().unwrap_or(&self.name);
        // Removes the kernel's suffix, unless the suffix is part of the name.
        let display_path = match real.strip_suffix(REMOVED_SUFFIX) {
            Some(name) if *name == *self.name => name,
            _ => real,
        };
        OsStr::from_bytes(display_path).into()
    }

    /// Returns the commands that enter the directory, or fail without an effect. The commands use
    /// the shell's own path only if this path still names the same directory.
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
        // A removed directory may exist again.
        if let Some(name) = real.strip_suffix(REMOVED_SUFFIX) {
            text.extend_from_slice(b" || ");
            text.extend(enter(name));
        }
        text
    }
}

/// Returns the commands that enter a directory; they fail if its path is not absolute.
fn enter(name: &[u8]) -> Vec<u8> {
    if name.first() != Some(&b'/') {
        return b"[[ '' ]]".to_vec();
    }
    let list =
        agent_bash_call::enter_directory(&quoted(OsStr::from_bytes(name)), ShellDialect::Bash);
    [b"{ ", &*list, b"; }"].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(name: &str, real: Option<&str>) -> String {
        let cwd = ShellCwd {
            name: name.into(),
            real: real.map(Into::into),
        };
        String::from_utf8(cwd.enter()).unwrap()
    }

    #[test]
    fn enter_uses_the_shells_path_only_for_the_same_directory() {
        let cd = |path: &str| String::from_utf8(enter(path.as_bytes())).unwrap();
        let failure = "[[ '' ]]".to_owned();
        for (name, real, wanted) in [
            ("/a", Some("/a"), cd("/a")),
            ("/a", None, cd("/a")),
            ("", None, failure),
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
