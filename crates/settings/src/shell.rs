//! Selects the shell for a model's commands. If the profile allows it, this is the user's choice.

use agent_bash_core::{NotStarted, Profile, Shell, ShellChoice};
use agent_bash_process::resolve_shell;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;

/// Finds the shell for a profile. `configured` is the user's setting `shell.path`. The setting is
/// ignored if the profile always runs bash, and in safe mode, which analyses scripts as bash.
///
/// # Errors
/// No such shell exists.
pub fn shell_in_force(
    profile: &Profile,
    configured: Option<&Path>,
    is_safe_mode: bool,
    env: &BTreeMap<OsString, OsString>,
) -> Result<Shell, NotStarted> {
    if is_safe_mode || profile.shell == ShellChoice::Bash {
        return resolve_shell(None, ShellChoice::Bash, env);
    }
    resolve_shell(configured, profile.shell, env)
}
