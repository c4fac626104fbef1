//! `agent-bash sandbox run`: runs a program on this terminal in a sandbox.

use crate::args::{ChosenSettings, SandboxArg, SandboxRunArgs};
use crate::commands::encryption;
use crate::commands::shell::signals::ShellSignals;
use crate::commands::shell::{run_in_place, with_supervisor};
use crate::commands::shell_link::find_on_path;
use crate::process_start::StartContext;
use crate::usage::UsageError;
use agent_bash::core::changes::ChangesLevel;
use agent_bash::core::sandbox::Network;
use agent_bash::core::{Invocation, SurvivorPolicy};
use agent_bash::process::own_process_group;
use agent_bash::settings::Settings;
use agent_bash_hooks::agent_shell::quoted;
use agent_bash_hooks::sandboxed_agent;
use anyhow::Context;
use std::ffi::OsStr;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

/// Runs the program and returns its exit code. If a signal ended the program, this process ends by
/// the same signal.
pub(crate) fn run(args: &SandboxRunArgs, start: &StartContext) -> anyhow::Result<u8> {
    let (name, arguments) = args.program.split_first().context("there is no program")?;
    let settings = settings(args, name, start)?;
    encryption::warn(&settings);
    let invocation = Invocation {
        program: program(name, start)?,
        arg0: name.clone(),
        args: arguments.to_vec(),
        captured: Vec::new(),
        group: own_process_group().map_or(0, rustix::process::Pid::as_raw_pid),
        unrecorded: Vec::new(),
    };
    let signals = if io::stdin().is_terminal() {
        ShellSignals::on_terminal()
    } else {
        ShellSignals::new()
    };
    with_supervisor(start, |supervisor| {
        let command = quoted(&args.program).into();
        run_in_place(&settings, start, supervisor, command, invocation, &signals)
    })
}

/// Returns the user's settings, overridden by the command line, with the needs of the agent.
fn settings(args: &SandboxRunArgs, name: &OsStr, start: &StartContext) -> anyhow::Result<Settings> {
    if matches!(args.level, SandboxArg::Off) {
        return Err(UsageError(
            "--level off is no sandbox: start the program without `agent-bash sandbox run`"
                .to_owned(),
        )
        .into());
    }
    let chosen = ChosenSettings {
        sandbox: Some(args.level),
        network: args.network.as_deref(),
        ..ChosenSettings::default()
    };
    let mut settings = start.settings(&chosen)?.settings;
    let writable = args.writable.iter().map(|path| start.cwd(Some(path)));
    settings.sandbox.writable.extend(writable);
    // A process that outlives the agent stays in the sandbox. With the terminal, it could read what
    // the user types there later.
    let on_terminal =
        io::stdin().is_terminal() || io::stdout().is_terminal() || io::stderr().is_terminal();
    settings.survivors = if on_terminal {
        SurvivorPolicy::Kill
    } else {
        SurvivorPolicy::Adopt
    };
    // A record of a whole conversation could only be undone as a whole.
    settings.changes.level = Some(ChangesLevel::Off);
    let program = Path::new(name).file_name().and_then(OsStr::to_str);
    if let Some(agent) = args.agent.as_deref().or(program).and_then(sandboxed_agent) {
        agent
            .add_files(&mut settings, &start.host)
            .context("the agent's files cannot be created")?;
        // A `--network` without a list was chosen for the agent, too.
        if args.network.is_none() || settings.sandbox.network == Network::Hosts {
            agent.add_hosts(&mut settings.sandbox);
        }
    }
    Ok(settings)
}

/// Finds the program: a path, or a name in `PATH`.
fn program(name: &OsStr, start: &StartContext) -> anyhow::Result<PathBuf> {
    if name.as_encoded_bytes().contains(&b'/') {
        return Ok(start.cwd(Some(Path::new(name))));
    }
    let found = name.to_str().and_then(|name| find_on_path(name, start));
    found.with_context(|| format!("there is no program `{}` in PATH", name.to_string_lossy()))
}
