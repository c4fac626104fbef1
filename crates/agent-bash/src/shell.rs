//! Selects the shell for a model's commands: the user's choice, if the profile allows one.

use agent_bash_core::{NotStarted, Profile, Shell, ShellChoice};
use agent_bash_process::resolve_shell;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;

/// Finds the shell for a profile. `named` is the user's setting (`shell.path`). It is ignored if
/// the profile always runs bash, and in safe mode, which analyses scripts as bash.
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
