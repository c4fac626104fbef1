//! Finds the shell for which agent-bash stands in. Links to agent-bash and scripts are skipped.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The directories that are searched for shells before `$PATH`.
const SHELL_DIRECTORIES: [&str; 3] = ["/bin", "/usr/bin", "/usr/local/bin"];

/// Why no shell was found.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoRealShell {
    /// The file that the setting `shell.path` names cannot be used.
    #[error("shell.path is {}, which {reason}; name a program such as /bin/bash", path.display())]
    Configured {
        /// The setting.
        path: PathBuf,
        /// The reason, as the end of a sentence.
        reason: &'static str,
    },
    /// No shell has this name.
    #[error(
        "there is no `{0}` in /bin, /usr/bin, /usr/local/bin or PATH besides agent-bash's own links; install it, or set shell.path"
    )]
    Missing(String),
}

/// Returns the path of the shell `name` (`bash` or `sh`): the setting `configured` if it ends with
/// that name, else the first such file in `SHELL_DIRECTORIES` and in `$PATH`. `own_program` is the
/// path of agent-bash.
///
/// # Errors
/// [`NoRealShell`].
pub fn real_shell(
    name: &str,
    configured: Option<&Path>,
    env: &BTreeMap<OsString, OsString>,
    own_program: &Path,
) -> Result<PathBuf, NoRealShell> {
    let own_file = fs::metadata(own_program).ok();
    let own_file = own_file.map(|file| (file.dev(), file.ino()));
    let configured = configured.filter(|path| path.file_name() == Some(OsStr::new(name)));
    if let Some(path) = configured {
        return match unusable_reason(path, own_file) {
            None => Ok(path.to_owned()),
            Some(reason) => Err(NoRealShell::Configured {
                path: path.to_owned(),
                reason,
            }),
        };
    }
    let searched = env.get(OsStr::new("PATH")).map(std::env::split_paths);
    let searched = searched
        .into_iter()
        .flatten()
        .filter(|path| path.is_absolute());
    let directories = SHELL_DIRECTORIES.iter().map(PathBuf::from).chain(searched);
    let found = directories
        .map(|directory| directory.join(name))
        .find(|path| unusable_reason(path, own_file).is_none());
    found.ok_or_else(|| NoRealShell::Missing(name.to_owned()))
}

/// Returns why this file cannot be the shell; `None` if it can. `own_file` is the device and inode
/// of agent-bash's own file.
fn unusable_reason(path: &Path, own_file: Option<(u64, u64)>) -> Option<&'static str> {
    let Ok(metadata) = fs::metadata(path) else {
        return Some("does not exist");
    };
    if !metadata.is_file() || metadata.mode() & 0o111 == 0 {
        return Some("is not an executable file");
    }
    if Some((metadata.dev(), metadata.ino())) == own_file {
        return Some("is agent-bash itself");
    }
    let mut start = [0; 2];
    match File::open(path).and_then(|mut file| file.read_exact(&mut start)) {
        // A script may start agent-bash again.
        Ok(()) if start == *b"#!" => Some("is a script"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn real_shell_skips_this_program_and_scripts() {
        let temp = tempfile::tempdir().unwrap();
        let at = |name: &str| temp.path().join(name);
        let program = |path: &Path, text: &str| {
            fs::write(path, text).unwrap();
            fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
        };
        program(&at("own"), "\x7fELF");
        for directory in ["link", "script", "good"] {
            fs::create_dir(at(directory)).unwrap();
        }
        symlink(at("own"), at("link/fancysh")).unwrap();
        program(
            &at("script/fancysh"),
            "#!/bin/sh\nexec agent-bash shell \"$@\"",
        );
        program(&at("good/fancysh"), "\x7fELF and more");
        let path = ["link", "script", "good"].map(at);
        let path = std::env::join_paths(path).unwrap();
        let env = BTreeMap::from([("PATH".into(), path)]);
        let find = |configured: Option<&Path>| real_shell("fancysh", configured, &env, &at("own"));
        assert_eq!(find(None), Ok(at("good/fancysh")));
        for (configured, reason) in [
            ("link/fancysh", "is agent-bash itself"),
            ("script/fancysh", "is a script"),
            ("none/fancysh", "does not exist"),
        ] {
            let error = find(Some(&at(configured))).unwrap_err();
            assert!(error.to_string().contains(reason), "{error}");
        }
        // A configured shell with another name is ignored.
        assert_eq!(find(Some(Path::new("/bin/zsh"))), Ok(at("good/fancysh")));
        let none = real_shell("fancysh", None, &BTreeMap::new(), &at("own"));
        assert_eq!(none, Err(NoRealShell::Missing("fancysh".into())));
    }
}
