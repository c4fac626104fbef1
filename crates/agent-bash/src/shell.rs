//! Which shell runs what a model asks for: the user's choice, where the profile leaves one.

use agent_bash_core::{NotStarted, Profile, Shell, ShellChoice};
use agent_bash_process::resolve_shell;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;

/// Finds the shell of a profile. `named` is the user's own (`shell.path`); it counts where the profile is not one that
/// always runs bash, and not in safe mode, which reads bash.
///
/// # Errors
/// There is no such shell.
pub fn shell_in_force(
    profile: &Profile,
    named: Option<&Path>,
    is_safe_mode: bool,
    env: &BTreeMap<OsString, OsString>,
) -> Result<Shell, NotStarted> {
    if is_safe_mode || profile.shell == ShellChoice::Bash {
        return resolve_shell(None, ShellChoice::Bash, env);
    }
    resolve_shell(named, profile.shell, env)
}
