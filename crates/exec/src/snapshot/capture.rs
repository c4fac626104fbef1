//! Reads a configuration in a separate shell below a supervisor, which lets that shell finish even
//! if the host ends. Then a second shell loads the definitions. Only definitions that the second
//! shell reports unchanged are used.

mod idle_terminal;

use super::cd_hook;
use super::compose;
use super::configured_variables::{self, ConfiguredVariables};
use super::dump::{
    AFTER_RC, BEFORE_RC, Definition, READ_PARTS, SET_DIRECTORY, SOURCE_RC, STOP_AT_EXEC, ShellDump,
    Variable,
};
use super::filter;
use super::options::SnapshotOptions;
use super::skipped::SkipReason;
use agent_bash_call::launch;
use agent_bash_core::{Clock, Shell};
use agent_bash_os::open_regular;
use agent_bash_process::quoted;
use agent_bash_process::supervisor::{
    Disconnected, Event, ShellEnd, ShellSandbox, ShellStart, StartError, Supervisor,
    SupervisorClient,
};
use idle_terminal::{IdleTerminal, REDIRECTION};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Maximum size of a shell's report in bytes.
const MAX_REPORT_BYTES: u64 = 32 << 20;

/// Maximum size of a configuration's definitions in bytes. Every waiting shell reads all of them.
const MAX_DEFINITION_BYTES: usize = 4 << 20;

/// The time between SIGTERM and SIGKILL for the processes of a configuration that takes too long.
const GRACE_PERIOD: Duration = Duration::from_secs(3);

/// Variables that the host sets for calls, and that terminals do not have. Configurations test them
/// to detect that no user is present.
const UNSET_IN_TERMINALS: &[&str] = &["CI", "NO_COLOR"];

/// The `TERM` of the shell that reads the configuration.
const TERMINAL_TYPE: &str = "xterm-256color";

/// The configuration to read, and the shell, environment and directory to read it in.
#[derive(Debug, Clone)]
pub(super) struct ConfigurationReader {
    pub(super) supervisor: Supervisor,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) shell: Shell,
    pub(super) base: Arc<BTreeMap<OsString, OsString>>,
    /// The directory in which the configuration is read.
    pub(super) directory: PathBuf,
    pub(super) options: SnapshotOptions,
}

/// The parts of a configuration that shells load.
#[derive(Debug)]
pub(super) struct Configuration {
    pub(super) dump: ShellDump,
    pub(super) variables: ConfiguredVariables,
    /// Names of functions and aliases that are excluded because they would fail.
    pub(super) excluded: BTreeSet<String>,
    /// The functions for a new directory, the commands that call them, and the commands that
    /// restore the shell's links; empty unless the configuration replaces `cd`.
    pub(super) cd_hook: [Vec<u8>; 3],
}

/// The mode of the shell that reads the configuration.
#[derive(Debug, Clone, Copy)]
enum CaptureMode {
    /// Interactive: many configurations do nothing in other shells.
    Interactive,
    /// Interactive, up to the first `command exec` or `builtin exec`.
    UpToExec,
    /// Non-interactive, but with a prompt: for configurations that replace an interactive shell in
    /// another way.
    Plain,
}

/// The modes, in the order in which they are tried until a shell reports its definitions.
const CAPTURE_MODES: [CaptureMode; 3] = [
    CaptureMode::Interactive,
    CaptureMode::UpToExec,
    CaptureMode::Plain,
];

impl ConfigurationReader {
    /// Reads the configuration. Daemons that the configuration starts continue, as after the start
    /// of a shell in a terminal.
    pub(super) async fn read(&self) -> Result<Configuration, SkipReason> {
        let begin = Duration::from_millis(self.clock.wall().0);
        let sandbox = self.sandbox().await?;
        let sandbox = sandbox.as_ref();
        let rc = &self.options.rc;
        let text = read_file(rc).map_err(|source| SkipReason::Unreadable {
            rc: rc.clone(),
            source,
        })?;
        let terminal = idle_terminal::is_wanted(&text).then(IdleTerminal::open);
        // Without a terminal, the file still makes the definitions that need no terminal.
        let terminal = terminal.and_then(|opened| {
            opened
                .inspect_err(
                    |error| tracing::debug!(%error, "cannot open a terminal for the configuration"),
                )
                .ok()
        });
        let mut dump = match &terminal {
            None => self.read_rc(sandbox, None).await?,
            Some(terminal) => {
                let dump = self.read_rc(sandbox, Some(terminal));
                let clock = &*self.clock;
                let mut dump = tokio::select! {
                    dump = dump => dump?,
                    never = terminal.serve(clock) => match never {},
                };
                dump.remove_variables(terminal.path());
                dump
            }
        };
        let secrets = self.options.secrets.as_ref();
        let state = &mut dump.after;
        let mut replaced = cd_hook::replaced_commands(state);
        if let Some(filter) = secrets {
            replaced.retain(|function| !filter::holds_secret(&function.text, filter));
        }
        for list in [&mut state.functions, &mut state.aliases] {
            let mut allowed = Vec::new();
            for definition in std::mem::take(list) {
                if filter::is_allowed(&definition, secrets) {
                    allowed.push(definition);
                }
                // The search for secrets in thousands of functions must not delay calls.
                tokio::task::yield_now().await;
            }
            *list = allowed;
        }
        let mut variables = configured_variables::configured(&dump, &self.base, &self.options);
        let state = &mut dump.after;
        let (functions, aliases) = (&mut state.functions, &mut state.aliases);
        functions.append(&mut replaced);
        let none = BTreeSet::new();
        let mut excluded =
            configured_variables::drop_broken(functions, aliases, &variables.withheld, &none);
        configured_variables::retain_used(&mut variables.changed, functions, aliases);
        let reloaded = self.reload(sandbox, &variables, functions, aliases).await?;
        let unreadable =
            retain_reloaded_variables(&mut variables.changed, &reloaded.after.variables);
        retain_reloaded(functions, &reloaded.after.functions);
        retain_reloaded(aliases, &reloaded.after.aliases);
        excluded.extend(configured_variables::drop_broken(
            functions, aliases, &unreadable, &excluded,
        ));
        let length = |list: &[Definition]| {
            list.iter()
                .map(|definition| definition.text.len())
                .sum::<usize>()
        };
        if length(functions) + length(aliases) > MAX_DEFINITION_BYTES {
            return Err(SkipReason::TooLong);
        }
        let replaced = cd_hook::take_replaced(functions);
        let cd_hook = if replaced.is_empty() {
            Default::default()
        } else {
            let path = variables.path.as_deref().unwrap_or_default();
            let links = cd_hook::shell_links(&variables.changed, path, begin);
            [
                cd_hook::load_text(&replaced, &links),
                cd_hook::define(&replaced),
                cd_hook::restore_links(&links),
            ]
        };
        Ok(Configuration {
            dump,
            variables,
            excluded,
            cd_hook,
        })
    }

    /// Returns the sandbox of the shells that read the configuration; `None` without one.
    async fn sandbox(&self) -> Result<Option<ShellSandbox>, SkipReason> {
        let Some(sandbox) = &self.options.sandbox else {
            return Ok(None);
        };
        let refused = |reason| SkipReason::NoSandbox {
            rc: self.options.rc.clone(),
            reason,
        };
        let directory = sandbox.directory();
        let report = self.supervisor.sandbox_report(&directory, &self.clock);
        let report = report.await.map_err(|error| refused(error.to_string()))?;
        let plan = sandbox.plan(report.tier).await.map_err(refused)?;
        Ok(Some(ShellSandbox {
            plan: Some(plan),
            directory,
            ..ShellSandbox::default()
        }))
    }

    /// Reads the configuration in one mode after another, until a shell reports its state.
    async fn read_rc(
        &self,
        sandbox: Option<&ShellSandbox>,
        terminal: Option<&IdleTerminal>,
    ) -> Result<ShellDump, SkipReason> {
        let mut ended = ShellEnd::Exited(0);
        for mode in CAPTURE_MODES {
            let supervised = &mut self.launch().await?;
            supervised
                .let_finish(self.options.capture_timeout, GRACE_PERIOD)
                .map_err(|_| StartError::Disconnected)?;
            let args = mode.args(&self.options.rc, &self.directory, terminal.is_some());
            let start = ShellStart {
                env_changes: self.terminal_environment(),
                inherits_stdin: terminal.is_some(),
                sandbox: sandbox.cloned(),
                ..ShellStart::of(&self.shell, args)
            };
            let terminal = terminal.map(IdleTerminal::program_side);
            let fds = supervised.start(start, terminal).await?;
            ended = until_ended(supervised).await?;
            if let Some(dump) = ShellDump::parse(&read_from(fds.script, 0)?) {
                return Ok(dump);
            }
        }
        Err(SkipReason::NoReport {
            rc: self.options.rc.clone(),
            how: end_text(ended),
        })
    }

    /// Loads the definitions in another shell, and returns that shell's report of them.
    async fn reload(
        &self,
        sandbox: Option<&ShellSandbox>,
        variables: &ConfiguredVariables,
        functions: &[Definition],
        aliases: &[Definition],
    ) -> Result<ShellDump, SkipReason> {
        let variables = variables.changed.iter();
        let variables = variables.map(|(name, value)| compose::variable(name, value.as_ref()));
        let functions = functions.iter().map(compose::function);
        let aliases = aliases.iter().map(compose::alias);
        let mut parts = Vec::new();
        for mut part in variables.chain(functions).chain(aliases) {
            parts.append(&mut part);
            parts.push(0);
        }
        let args = ["--norc", "--noprofile", "-c", READ_PARTS].map(OsString::from);
        let start = ShellStart {
            sandbox: sandbox.cloned(),
            ..ShellStart::of(&self.shell, args.into())
        };
        let mut supervised = self.launch().await?;
        let fds = supervised.start(start, None).await?;
        let script = File::from(fds.script);
        // `write_all_at` does not move the file offset, which the shell shares.
        script
            .write_all_at(&parts, 0)
            .map_err(SkipReason::Transfer)?;
        File::from(fds.control)
            .write_all(b"\0")
            .map_err(SkipReason::Transfer)?;
        let ended = until_ended(&mut supervised).await?;
        let report = read_from(script.into(), parts.len() as u64)?;
        ShellDump::parse(&report).ok_or_else(|| SkipReason::NoReport {
            rc: self.options.rc.clone(),
            how: end_text(ended),
        })
    }

    async fn launch(&self) -> Result<SupervisorClient, StartError> {
        launch(&self.supervisor, &self.base, &self.clock, true).await
    }

    /// Returns the changes that make the environment like the environment of a terminal.
    fn terminal_environment(&self) -> Vec<(OsString, Option<OsString>)> {
        let unset = UNSET_IN_TERMINALS.iter().filter(|name| {
            // A variable that the user's settings set is set for the configuration, too.
            !self.options.fixed_variables.contains(**name)
        });
        let unset = unset.map(|name| (OsString::from(name), None));
        let functions = self.options.functions.iter();
        let functions = functions.map(|(name, text)| (name.clone(), Some(text.clone())));
        let terminal_type = ("TERM".into(), Some(TERMINAL_TYPE.into()));
        unset.chain(functions).chain([terminal_type]).collect()
    }
}

impl CaptureMode {
    /// Returns the arguments of the shell.
    fn args(self, rc: &Path, directory: &Path, has_terminal: bool) -> Vec<OsString> {
        let interactive: &[&str] = &["--norc", "--noprofile", "-i", "-c"];
        let (options, before_source): (&[&str], &str) = match self {
            Self::Interactive => (interactive, ""),
            Self::UpToExec => (interactive, STOP_AT_EXEC),
            Self::Plain => (
                &["--norc", "--noprofile", "-c"],
                r"PS1='$ '; \builtin shopt -s expand_aliases; ",
            ),
        };
        let mut text = SET_DIRECTORY.as_bytes().to_vec();
        text.extend(quoted(directory.as_os_str()));
        text.extend_from_slice(BEFORE_RC.as_bytes());
        if has_terminal {
            text.extend_from_slice(REDIRECTION.as_bytes());
        }
        text.extend_from_slice(before_source.as_bytes());
        text.extend_from_slice(SOURCE_RC.as_bytes());
        text.extend(quoted(rc.as_os_str()));
        text.extend_from_slice(AFTER_RC.as_bytes());
        let mut args: Vec<OsString> = options.iter().map(OsString::from).collect();
        args.push(OsString::from_vec(text));
        args
    }
}

/// Reads the beginning of a configuration, which must be a regular file.
fn read_file(rc: &Path) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    let file = open_regular(rc)?;
    file.take(MAX_DEFINITION_BYTES as u64)
        .read_to_end(&mut text)?;
    Ok(text)
}

/// Waits for the shell's end. Processes that it started may continue.
async fn until_ended(supervised: &mut SupervisorClient) -> Result<ShellEnd, SkipReason> {
    loop {
        match supervised.event().await {
            Ok((Event::Ended { end, .. }, _)) => return Ok(end),
            Ok((Event::Stuck { .. }, _)) => return Err(SkipReason::Stuck),
            Ok(_) => {}
            Err(Disconnected) => return Err(StartError::Disconnected.into()),
        }
    }
}

/// Reads a shell's report, which begins at `offset`.
fn read_from(file: OwnedFd, offset: u64) -> Result<Vec<u8>, SkipReason> {
    let mut file = File::from(file);
    let mut bytes = Vec::new();
    file.seek(io::SeekFrom::Start(offset))
        .and_then(|_| file.take(MAX_REPORT_BYTES + 1).read_to_end(&mut bytes))
        .map_err(SkipReason::Transfer)?;
    if bytes.len() as u64 > MAX_REPORT_BYTES {
        return Err(SkipReason::TooLong);
    }
    Ok(bytes)
}

/// Retains the definitions that the other shell reported identically.
fn retain_reloaded(list: &mut Vec<Definition>, reloaded: &[Definition]) {
    let reloaded: BTreeMap<&str, &[u8]> = reloaded
        .iter()
        .map(|definition| (definition.name.as_str(), definition.text.as_slice()))
        .collect();
    list.retain(|definition| {
        let name = definition.name.as_str();
        let is_same = reloaded.get(name) == Some(&definition.text.as_slice());
        if !is_same {
            tracing::debug!(name, "left out of the snapshot: bash cannot read it again");
        }
        is_same
    });
}

/// Retains the variables that the other shell reported with the same value. Returns the names of
/// the removed variables.
fn retain_reloaded_variables(
    changed: &mut BTreeMap<String, Option<Variable>>,
    reloaded: &BTreeMap<String, Variable>,
) -> BTreeSet<String> {
    let mut removed = BTreeSet::new();
    changed.retain(|name, variable| {
        let is_same = match (variable, reloaded.get(name)) {
            (Some(variable), Some(reloaded)) => variable.is_like(reloaded),
            (None, reloaded) => reloaded.is_none(),
            (Some(_), None) => false,
        };
        if !is_same {
            tracing::debug!(name, "left out of the snapshot: bash cannot set it again");
            removed.insert(name.clone());
        }
        is_same
    });
    removed
}

fn end_text(end: ShellEnd) -> String {
    match end {
        ShellEnd::Exited(code) => format!("exit code {code}"),
        ShellEnd::Signaled(number) => agent_bash_process::signal_name(number),
    }
}
