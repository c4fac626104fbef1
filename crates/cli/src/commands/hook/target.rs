//! The program that an agent starts: this one, or a link to it.

use super::file::make_directories;
use crate::commands::shell_link::{self, LinkProbe, PROGRAM_NAME};
use crate::process_start::StartContext;
use crate::usage::UsageError;
use agent_bash_hooks::take_over::{ShellLink, ShellSetting};
use anyhow::{Context, anyhow, bail};
use std::path::{Path, PathBuf};

/// Returns the command for the agent to run: the bare name if `PATH` resolves it to this program,
/// else the full path.
pub(super) fn program(start: &StartContext) -> anyhow::Result<String> {
    let own = std::env::current_exe().context("cannot tell the path of this program")?;
    let own = own.canonicalize().with_context(|| {
        let own = own.display();
        format!("{own} does not exist any more, and the agent would start it; use an installed agent-bash")
    })?;
    let named =
        shell_link::find_on_path(PROGRAM_NAME, start).and_then(|path| path.canonicalize().ok());
    if named.as_ref() == Some(&own) {
        return Ok(PROGRAM_NAME.to_owned());
    }
    if own.file_name() != Some(PROGRAM_NAME.as_ref()) {
        bail!(
            "this program is {}, but only a program named {PROGRAM_NAME} can be set up and removed again; rename it",
            own.display()
        );
    }
    own.into_os_string().into_string().map_err(|own| {
        let own = PathBuf::from(own);
        UsageError(format!("{} is not UTF-8, as settings are", own.display())).into()
    })
}

/// Returns the link's path as text for the agent's settings.
pub(super) fn link_text<'a>(link: &'a Path, setting: &ShellSetting) -> Result<&'a str, UsageError> {
    let shown = link.display();
    let text = link
        .to_str()
        .ok_or_else(|| UsageError(format!("{shown} is not UTF-8, as settings are")))?;
    // The agent also inserts the prefix into a command line for `sh`.
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+@:,=%".contains(c);
    if setting.link == ShellLink::Prefix && !text.chars().all(is_plain) {
        return Err(UsageError(format!(
            "the agent accepts no path with a blank or a special character, such as {shown}; \
             set XDG_DATA_HOME to a directory whose path has none"
        )));
    }
    Ok(text)
}

/// Makes the link and runs a harmless command through it.
///
/// # Errors
/// The link cannot be made, or the command did not run.
pub(crate) fn make_and_probe(
    link: &Path,
    kind: ShellLink,
    start: &StartContext,
) -> anyhow::Result<()> {
    if let Some(directory) = link.parent() {
        let context = || format!("cannot create {}", directory.display());
        make_directories(directory).with_context(context)?;
    }
    shell_link::make(link, &shell_link::program(start)?)?;
    match shell_link::probe(link, kind, start) {
        LinkProbe::Failed(reason) => Err(anyhow!(
            "a call of {} failed, so the agent was not changed: {reason}",
            link.display()
        )),
        LinkProbe::Ran | LinkProbe::Recorded => Ok(()),
    }
}
