//! The links that stand in for the shells of agents, after their removal from the settings.

use super::change::{Connection, confirm};
use super::file::remove_made_directories;
use crate::args::SetupArgs;
use crate::output;
use crate::process_start::StartContext;
use agent_bash::process::{ProcessInfo, read_arguments, read_environment};
use agent_bash_hooks::SUPPORTED;
use agent_bash_hooks::install::SettingsScope;
use agent_bash_hooks::take_over::{ShellLink, ShellWay, link_directory};
use anyhow::Context;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Programs that run an agent's script, which is their first argument.
const INTERPRETERS: [&[u8]; 4] = [b"bun", b"deno", b"node", b"python3"];

/// The end of [`remove_links`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LinkRemoval {
    /// No link can be removed: the directory has none, or the settings name them.
    Nothing,
    /// The links are removed, or the user or `--dry-run` has decided otherwise.
    Done,
    /// The links stay, because a running agent may use them.
    InUse,
}

/// Removes the links after confirmation.
///
/// The links stay if the settings of an agent name them, or if a running agent may use them: each
/// of its commands would fail. The settings of projects are not known.
pub(crate) fn remove_links(args: &SetupArgs, start: &StartContext) -> anyhow::Result<LinkRemoval> {
    let Some(directory) = link_directory(&start.host) else {
        return Ok(LinkRemoval::Nothing);
    };
    let links = [ShellLink::Bash, ShellLink::Prefix].map(|link| directory.join(link.name()));
    let links: Vec<&PathBuf> = links.iter().filter(|link| link.is_symlink()).collect();
    if links.is_empty() || !args.dry_run && is_in_settings(start) {
        return Ok(LinkRemoval::Nothing);
    }
    if let Some(user) = running_user(&directory, start) {
        output::say(&format!(
            "agent-bash: {} stays: {user} may start its commands by the links in it. \
             When it has ended, run again: agent-bash setup --undo",
            directory.display()
        ));
        return Ok(LinkRemoval::InUse);
    }
    if !args.yes {
        for link in &links {
            output::print(&format!("remove {}\n", link.display()))?;
        }
    }
    if args.dry_run {
        return Ok(LinkRemoval::Done);
    }
    if !args.yes && !confirm("Remove this?")? {
        output::say("nothing was removed");
        return Ok(LinkRemoval::Done);
    }
    for link in &links {
        let shown = link.display();
        fs::remove_file(link).with_context(|| format!("cannot remove {shown}"))?;
        output::print(&format!("removed {shown}\n"))?;
    }
    remove_made_directories(&directory, start);
    Ok(LinkRemoval::Done)
}

/// True if the user's settings of an agent name a link.
fn is_in_settings(start: &StartContext) -> bool {
    SUPPORTED.iter().any(|agent| {
        let Some(ShellWay::Setting(setting)) = &agent.shell else {
            return false;
        };
        let connection = Connection::Shell(setting);
        let path = connection.file(SettingsScope::User, start);
        let text = path.and_then(|path| fs::read_to_string(path).ok());
        // Nothing is removed because of a file that cannot be parsed.
        text.is_some_and(|text| connection.is_installed(&text).unwrap_or(true))
    })
}

/// Returns a process that may use the links in this directory, as `claude (process 7)`: its
/// environment names the directory, or it is an agent with this home directory. `None` also if
/// `/proc` does not show it.
fn running_user(directory: &Path, start: &StartContext) -> Option<String> {
    let programs: Vec<&[u8]> = SUPPORTED
        .iter()
        .filter(|agent| !matches!(agent.shell, None | Some(ShellWay::Fixed(_))))
        .map(|agent| agent.hook.program.as_bytes())
        .collect();
    let home = start.host.home.as_deref().unwrap_or(Path::new("/"));
    let home = [b"HOME=", home.as_os_str().as_bytes()].concat();
    let own = std::process::id().cast_signed();
    let pids = fs::read_dir("/proc").ok()?.flatten();
    let pids = pids.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(|pid| *pid != own).find_map(|pid: i32| {
        let (_, name) = ProcessInfo::read_with_name(pid)?;
        let environment = read_environment(format!("/proc/{pid}")).ok()?;
        let arguments = read_arguments(format!("/proc/{pid}")).ok()?;
        let mut words = arguments.split(|byte| *byte == 0).map(|word| {
            let file_name = word.rsplit(|byte| *byte == b'/').next();
            file_name.unwrap_or_default()
        });
        let first = words.next().unwrap_or_default();
        let script = words.find(|word| !word.starts_with(b"-"));
        let script = script.filter(|_| INTERPRETERS.contains(&first));
        let mut names = [Some(name.as_bytes()), Some(first), script].into_iter();
        let is_agent = names.any(|name| name.is_some_and(|name| programs.contains(&name)));
        let has_home = || environment.split(|byte| *byte == 0).any(|it| it == home);
        let names_links = || contains(&environment, directory.as_os_str().as_bytes());
        (is_agent && has_home() || names_links()).then(|| format!("{name} (process {pid})"))
    })
}

/// True if `text` contains `part`.
fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}
