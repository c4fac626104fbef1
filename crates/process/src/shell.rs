//! Selects the shell that runs a script.

use agent_bash_core::{NotStarted, Shell, ShellChoice, words};
use rustix::fs::Access;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Returns the shell at `explicit`, or else the first shell of `choice` that exists. Accesses
/// files, so call this function once per host.
///
/// `env` is the command's environment; the function reads `SHELL` and `PATH`.
///
/// # Errors
/// The explicit shell is not an executable file, is this program, or has another syntax than `sh`;
/// or no shell of the choice exists.
pub fn resolve_shell(
    explicit: Option<&Path>,
    choice: ShellChoice,
    env: &BTreeMap<OsString, OsString>,
) -> Result<Shell, NotStarted> {
    if let Some(path) = explicit {
        if !is_executable(path) {
            let path = path.to_path_buf();
            return Err(NotStarted::ShellUnusable { path });
        }
        if is_this_program(path) {
            let path = path.to_path_buf();
            return Err(NotStarted::ShellIsThisProgram { path });
        }
        if has_other_language(path) {
            let path = path.to_path_buf();
            return Err(NotStarted::ShellUnsupported { path });
        }
        return Ok(shell(path.to_path_buf(), &[]));
    }
    let found = match choice {
        ShellChoice::UserBash => user_bash(env)
            .or_else(|| find("bash", env))
            .or_else(|| find("sh", env))
            .map(|path| shell(path, &[])),
        ShellChoice::Bash => find("bash", env).map(|path| shell(path, &[])),
        ShellChoice::ZshOrBashLogin => workspace_shell(env),
    };
    found.ok_or(match choice {
        ShellChoice::Bash => NotStarted::NoBash,
        _ => NotStarted::NoShell,
    })
}

/// Shells with another syntax than `sh`, by the names of their programs.
const OTHER_LANGUAGES: &[&str] =
    words!["csh elvish es fish ion murex nu nushell powershell pwsh rc scsh tclsh tcsh xonsh ysh",];

/// True if the shell, or the target of its link, is one of [`OTHER_LANGUAGES`].
fn has_other_language(path: &Path) -> bool {
    let is_other = |path: &Path| {
        let name = path.file_name().and_then(OsStr::to_str);
        // Removes a version, as in `pwsh-7` and `xonsh3.11`.
        let name = name.map(|name| name.trim_end_matches(|c: char| !c.is_ascii_alphabetic()));
        name.is_some_and(|name| OTHER_LANGUAGES.contains(&name))
    };
    is_other(path) || std::fs::canonicalize(path).is_ok_and(|path| is_other(&path))
}

fn shell(path: PathBuf, args: &[&str]) -> Shell {
    let shell = Shell {
        is_bash: false,
        path,
        args: args.iter().map(|argument| (*argument).to_owned()).collect(),
    };
    // A login bash reads the profile when it starts, so it cannot be started ahead of a call.
    Shell {
        is_bash: shell.is_any_bash() && shell.args.is_empty(),
        ..shell
    }
}

fn user_bash(env: &BTreeMap<OsString, OsString>) -> Option<PathBuf> {
    let path = PathBuf::from(env.get(OsStr::new("SHELL"))?);
    let is_bash = shell(path.clone(), &[]).is_bash;
    (is_bash && path.is_absolute() && is_usable(&path)).then_some(path)
}

/// Returns the shell of the `workspace` tool: `/bin/zsh -c`, `/bin/bash -lc`, `sh -c`.
fn workspace_shell(env: &BTreeMap<OsString, OsString>) -> Option<Shell> {
    for (path, args) in [("/bin/zsh", &[][..]), ("/bin/bash", &["-l"][..])] {
        if is_executable(Path::new(path)) {
            return Some(shell(PathBuf::from(path), args));
        }
    }
    find("sh", env).map(|path| shell(path, &[]))
}

/// Finds a program in the absolute directories of `PATH`, then in `/bin` and `/usr/bin`.
fn find(name: &str, env: &BTreeMap<OsString, OsString>) -> Option<PathBuf> {
    let path = env.get(OsStr::new("PATH")).cloned().unwrap_or_default();
    std::env::split_paths(&path)
        .filter(|directory| directory.is_absolute())
        .chain(["/bin", "/usr/bin"].map(PathBuf::from))
        .map(|directory| directory.join(name))
        .find(|candidate| is_usable(candidate))
}

fn is_usable(path: &Path) -> bool {
    is_executable(path) && !is_this_program(path)
}

fn is_executable(path: &Path) -> bool {
    path.is_file() && rustix::fs::access(path, Access::EXEC_OK).is_ok()
}

/// True if the file is this program under another name: agents start it by links in place of their
/// shell. As the shell of a call, it would check and record the call again.
fn is_this_program(path: &Path) -> bool {
    let file = |path: &Path| path.metadata().ok().map(|it| (it.dev(), it.ino()));
    let own = std::env::current_exe().ok().and_then(|own| file(&own));
    own.is_some() && own == file(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn env(pairs: &[(&str, &str)]) -> BTreeMap<OsString, OsString> {
        pairs
            .iter()
            .map(|(name, value)| (name.into(), value.into()))
            .collect()
    }

    #[test]
    fn missing_explicit_shell_is_named_in_error() {
        let error =
            resolve_shell(Some(Path::new("/nope/bash")), ShellChoice::Bash, &env(&[])).unwrap_err();
        assert_eq!(
            error.to_string(),
            "shell `/nope/bash` is not an executable file"
        );
    }

    #[test]
    fn explicit_shell_with_another_language_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        let sh = find("sh", &env(&[])).unwrap();
        for name in ["fish", "nu", "xonsh", "pwsh-7", "dash"] {
            std::os::unix::fs::symlink(&sh, path(name)).unwrap();
        }
        let resolve = |name: &str| resolve_shell(Some(&path(name)), ShellChoice::Bash, &env(&[]));
        for name in ["fish", "nu", "xonsh", "pwsh-7"] {
            let error = resolve(name).unwrap_err().to_string();
            assert!(error.contains("not a POSIX shell"), "{name}: {error}");
        }
        assert!(resolve("dash").is_ok());
    }

    #[test]
    fn user_shell_is_selected_only_if_it_is_bash() {
        let bash = resolve_shell(None, ShellChoice::Bash, &env(&[])).unwrap();
        assert!(bash.is_bash && bash.path.is_absolute());
        for user in ["/bin/zsh", "/bin/sh", "/nope/bash", "bash", ""] {
            let env = env(&[("SHELL", user)]);
            assert_eq!(
                resolve_shell(None, ShellChoice::UserBash, &env).unwrap(),
                bash,
                "{user}"
            );
        }
        let env = env(&[("SHELL", "/usr/bin/bash"), ("PATH", "/nope")]);
        let found = resolve_shell(None, ShellChoice::UserBash, &env).unwrap();
        assert_eq!(found.path, Path::new("/usr/bin/bash"));
    }

    #[test]
    fn links_to_this_program_are_no_shells() {
        let dir = tempfile::tempdir().unwrap();
        let link = dir.path().join("bash");
        let real = find("bash", &env(&[])).unwrap();
        for (target, is_shell) in [(std::env::current_exe().unwrap(), false), (real, true)] {
            std::os::unix::fs::symlink(target, &link).unwrap();
            let explicit = resolve_shell(Some(&link), ShellChoice::Bash, &env(&[]));
            assert_eq!(explicit.is_ok(), is_shell, "{explicit:?}");
            for variables in [
                [("SHELL", link.to_str().unwrap()), ("PATH", "")],
                [("PATH", dir.path().to_str().unwrap()), ("SHELL", "")],
            ] {
                let found = resolve_shell(None, ShellChoice::UserBash, &env(&variables)).unwrap();
                assert_eq!(found.path == link, is_shell, "{variables:?}");
            }
            std::fs::remove_file(&link).unwrap();
        }
    }

    #[test]
    fn relative_path_directories_are_ignored() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("bash"), "").unwrap();
        let found = find("bash", &env(&[("PATH", ".:relative")])).unwrap();
        assert!(found.starts_with("/bin") || found.starts_with("/usr/bin"));
    }
}
