//! `agent-bash shell`: stands in for the shell that an agent starts.
//!
//! The commands run in the real shell, with the agent's arguments, environment, descriptors and
//! process group. Only output pipes and sockets are captured, so that a survivor does not hold them
//! open; see docs/design/shell.md.

mod output_destination;
pub(super) mod signals;

use crate::args::{ChosenSettings, ShellArgs};
use crate::commands::shell_link;
use crate::output;
use crate::process_start::StartContext;
use crate::runtime::{self, OneCallRuntime};
use agent_bash::core::{
    Invocation, Notice, NoticeKind, Request, Status, SurvivorPolicy, ToolResult,
};
use agent_bash::process::own_process_group;
use agent_bash::process::shown_command_line;
use agent_bash::process::supervisor::{Supervisor, is_below_supervisor};
use agent_bash::session::{Conversation, ConversationOptions};
use agent_bash::settings::Settings;
use agent_bash::{CallOptions, FinishedCall, HostContext, Refusal, with_resolved_parent};
use agent_bash_hooks::agent_shell::{self, Commands, quoted, real_shell};
use agent_bash_hooks::take_over::ShellLink;
use anyhow::{Context, anyhow, bail};
use output_destination::OutputDestination;
use signals::ShellSignals;
use std::ffi::{OsStr, OsString};
use std::io::{self, Read, Seek};
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

/// The name of a link that takes a whole script as its only argument, as Claude Code passes it to
/// its shell prefix.
pub(crate) const PREFIX_NAME: &str = ShellLink::Prefix.name();

/// The exit code of a refused command. Shells use it for a command that cannot be executed.
const REFUSED_EXIT_CODE: u8 = 126;

/// How often this process may replace itself by the real shell. More often means that `shell.path`
/// leads back to this program.
const MAX_DEPTH: u32 = 8;

/// The variable with the pid of this process and the number of its replacements: `PID.COUNT`.
const DEPTH_VARIABLE: &str = "AGENT_BASH_SHELL_DEPTH";

/// Maximum bytes of a script on stdin that the rules check.
const MAX_STDIN_BYTES: u64 = 1 << 20;

/// Time between SIGTERM and SIGKILL for processes that survive a call ended by a signal.
const GRACE_PERIOD: Duration = Duration::from_secs(2);

/// A command line of the shell for which this program stands in.
#[derive(Debug)]
pub(crate) struct CommandLine {
    /// `bash` or `sh`.
    name: &'static str,
    /// The shell's `argv[0]`.
    arg0: OsString,
    /// The shell's other arguments.
    args: Vec<OsString>,
    /// True if the only argument came through a shell prefix. Such an argument may be a command of
    /// the agent itself instead of the model.
    is_prefix: bool,
    /// The agent's conversation, if the caller names it.
    conversation: Option<String>,
}

/// A command that an agent runs.
#[derive(Debug, Default)]
pub(super) struct AgentCommand {
    /// The text that the record shows and the rules check.
    text: String,
    /// True if `text` is a command line of the shell, not a script.
    is_command_line: bool,
    /// The files that the agent's wrapper around the text writes.
    wrapper_files: Vec<PathBuf>,
    /// The agent's conversation, if the caller names it.
    conversation: Option<String>,
}

impl From<String> for AgentCommand {
    fn from(text: String) -> Self {
        Self {
            text,
            ..Self::default()
        }
    }
}

impl CommandLine {
    /// Returns the shell's command line, if this process was started by a link with the name of a
    /// shell.
    pub(crate) fn of_link(words: &[OsString]) -> Option<Self> {
        let (arg0, rest) = words.split_first()?;
        // A login shell has a dash in front.
        let name = Path::new(arg0).file_name()?.to_str()?;
        let name = match name.strip_prefix('-').unwrap_or(name) {
            "bash" => "bash",
            "sh" => "sh",
            PREFIX_NAME => return Some(Self::of_prefix(rest)),
            _ => return None,
        };
        Some(Self {
            name,
            arg0: arg0.clone(),
            args: rest.to_vec(),
            is_prefix: false,
            conversation: None,
        })
    }

    /// Returns the shell's command line for the arguments of `agent-bash shell`.
    pub(crate) fn of_arguments(args: &ShellArgs) -> Self {
        Self {
            name: "bash",
            arg0: "bash".into(),
            args: args.bash.clone(),
            is_prefix: false,
            conversation: args.conversation.clone(),
        }
    }

    /// Returns the shell's command line for the arguments after a shell prefix.
    fn of_prefix(args: &[OsString]) -> Self {
        // Hooks and servers also start through the prefix, possibly with a program's path alone.
        let (args, is_prefix) = match args {
            [text] if !text.as_encoded_bytes().starts_with(b"-") => {
                (vec!["-c".into(), text.clone()], true)
            }
            _ => (args.to_vec(), false),
        };
        Self {
            name: "bash",
            arg0: "bash".into(),
            args,
            is_prefix,
            conversation: None,
        }
    }

    /// Returns the agent's command; `None` if an agent did not make this call.
    fn command(&self, host: &HostContext) -> Option<AgentCommand> {
        let command_line = |text: String| AgentCommand {
            text,
            is_command_line: true,
            ..AgentCommand::default()
        };
        let command: AgentCommand = match Commands::of(&self.args) {
            Commands::Text(text, parameters) => {
                let script = text.to_string_lossy().into_owned();
                let (text, wrapper_files) = match agent_shell::model_command(&script) {
                    Some(model) => (model.command.into_owned().into(), model.written_files),
                    None if self.is_prefix && !is_model_call(&script, host) => return None,
                    None => (text, Vec::new()),
                };
                let command = if parameters.is_empty() {
                    AgentCommand::from(text.to_string_lossy().into_owned())
                } else {
                    // The script may run its parameters: `"$@"`, `eval "$1"`.
                    let mut words = vec!["-c".into(), text];
                    words.extend(parameters);
                    command_line(format!("{} {}", self.name, quoted(&words)))
                };
                AgentCommand {
                    wrapper_files,
                    ..command
                }
            }
            Commands::File(words) => command_line(format!("{} {}", self.name, quoted(&words))),
            Commands::Stdin(_) if io::IsTerminal::is_terminal(&io::stdin()) => return None,
            Commands::Stdin(words) => {
                let line = format!("{} -s {}", self.name, quoted(&words));
                // Bash ignores zero bytes, which the text of a call cannot contain.
                let script = script_on_stdin().filter(|script| !script.contains('\0'));
                let script = script.map(AgentCommand::from);
                script.unwrap_or_else(|| command_line(line.trim_end().to_owned()))
            }
            Commands::Other => return None,
        };
        // Other white space is the name of a command.
        let is_empty = command.text.trim_matches([' ', '\t', '\n']).is_empty();
        (!is_empty).then(|| AgentCommand {
            conversation: self.conversation.clone(),
            ..command
        })
    }

    /// Replaces this process by the real shell. Returns only if that fails.
    fn exec(&self, program: &Path, host: &HostContext) -> anyhow::Error {
        let pid = std::process::id();
        let depth = host
            .env
            .get(OsStr::new(DEPTH_VARIABLE))
            .and_then(|it| it.to_str());
        let depth = depth.and_then(|depth| depth.split_once('.'));
        // Another pid means that the value was inherited from an ancestor.
        let depth = depth.filter(|(owner, _)| owner.parse() == Ok(pid));
        let depth = depth.and_then(|(_, depth)| depth.parse::<u32>().ok());
        let depth = depth.unwrap_or(0) + 1;
        if depth > MAX_DEPTH {
            return anyhow!(
                "{} leads back to agent-bash; set shell.path to the program of a shell",
                program.display()
            );
        }
        #[expect(
            clippy::disallowed_methods,
            reason = "this process becomes the shell; it starts none"
        )]
        let mut command = Command::new(program);
        command.arg0(&self.arg0).args(&self.args);
        command.env(DEPTH_VARIABLE, format!("{pid}.{depth}"));
        let error = command.exec();
        anyhow::Error::new(error).context(format!("cannot execute {}", program.display()))
    }
}

/// Runs the command line and returns its exit code. If a signal ended the shell, this process ends
/// by the same signal.
pub(crate) fn shell(line: &CommandLine, start: &StartContext) -> anyhow::Result<u8> {
    let own = std::env::current_exe().context("the path of this program is not known")?;
    let command = line.command(&start.host);
    let env = &start.host.env;
    let is_unrecorded = is_below_supervisor(env) || agent_shell::is_started_for_hook(env);
    let Some(command) = command.filter(|_| !is_unrecorded) else {
        let program = real_shell(line.name, None, &start.host.env, &own)?;
        return Err(line.exec(&program, &start.host));
    };
    with_supervisor(start, |supervisor| {
        supervised(line, command, start, &own, supervisor)
    })
}

/// Runs a program with a supervisor in the caller's session, which starts meanwhile. Returns the
/// program's exit code, or ends this process as [`exit`] does.
pub(super) fn with_supervisor(
    start: &StartContext,
    run: impl FnOnce(&Supervisor) -> anyhow::Result<FinishedShell>,
) -> anyhow::Result<u8> {
    let supervisor = Supervisor::this_program(&start.token).in_session();
    supervisor.start_ahead(&start.host.env);
    let ended = run(&supervisor);
    supervisor.all_reaped(runtime::REAP_TIMEOUT);
    exit(&ended?)
}

/// A shell that has ended.
pub(super) struct FinishedShell {
    result: ToolResult,
    /// The signal that ended the shell.
    signal: Option<i32>,
    /// True if the shell's output does not end with a newline.
    is_within_line: bool,
}

/// Runs the command line below a supervisor.
fn supervised(
    line: &CommandLine,
    command: AgentCommand,
    start: &StartContext,
    own: &Path,
    supervisor: &Supervisor,
) -> anyhow::Result<FinishedShell> {
    // The exit code of a usage error would be taken for the command's.
    let settings = start.settings(&ChosenSettings::default());
    let mut settings = settings.map_err(|error| anyhow!("{error:#}"))?.settings;
    let program = real_shell(line.name, settings.shell.as_deref(), &start.host.env, own)?;
    // A survivor continues, as it would with the real shell, and is named.
    settings.survivors = SurvivorPolicy::Adopt;
    let signals = ShellSignals::new();
    // Claude Code names the shell by its path, except if it uses the prefix.
    let arg0 = if line.is_prefix {
        program.clone().into_os_string()
    } else {
        line.arg0.clone()
    };
    let invocation = Invocation {
        program,
        arg0,
        args: line.args.clone(),
        captured: Vec::new(),
        group: own_process_group().map_or(0, rustix::process::Pid::as_raw_pid),
        // Changes are recorded by such paths.
        unrecorded: command
            .wrapper_files
            .iter()
            .map(|file| with_resolved_parent(file))
            .collect(),
    };
    let reported = reported_line(&invocation);
    let shown = if command.is_command_line {
        command.text.clone()
    } else {
        format!("{} -c {}", line.name, command.text)
    };
    let mut finished = run_in_place(&settings, start, supervisor, command, invocation, &signals)?;
    name_subshells(&mut finished.result, &reported, &shown);
    Ok(finished)
}

/// Runs a program with this process's arguments, descriptors and process group, without limits of
/// time or output.
pub(super) fn run_in_place(
    settings: &Settings,
    start: &StartContext,
    supervisor: &Supervisor,
    command: AgentCommand,
    mut invocation: Invocation,
    signals: &ShellSignals,
) -> anyhow::Result<FinishedShell> {
    let destination = OutputDestination::choose(&mut invocation.captured, signals);
    let runtime = OneCallRuntime::new()?;
    let conversation = {
        let _in_runtime = runtime.enter();
        let name = command.conversation;
        let name = name.unwrap_or_else(|| conversation_name(&start.host));
        let options = ConversationOptions::call_of(name, supervisor.clone());
        let environment = agent_shell::environment(settings, &start.host);
        let host = start.host.clone();
        Conversation::open_with(settings, host, options, |it| it.environment(environment))?
    };
    let called = call(
        &conversation, command.text, invocation, destination, signals,
    );
    let (mut finished, is_within_line) = runtime.block_on(called)??;
    for line in finished.refusal.iter().flat_map(advice) {
        let text = &mut finished.result.text;
        if text.contains(&line) {
            continue;
        }
        *text = format!("{}\n{line}", text.trim_end());
    }
    let result = finished.result;
    let signal = match result.status {
        Status::Signaled { number, .. } => Some(number),
        // The shell had not started yet when the signal was received.
        Status::Cancelled => signals.first_received(),
        _ => None,
    };
    Ok(FinishedShell {
        result,
        signal,
        is_within_line,
    })
}

/// Makes the call, and forwards signals to the shell. Also returns true if the output does not end
/// with a newline.
async fn call(
    conversation: &Conversation,
    command: String,
    invocation: Invocation,
    mut destination: OutputDestination,
    signals: &ShellSignals,
) -> anyhow::Result<(FinishedCall, bool)> {
    let cancel = signals.forward().context("cannot handle signals")?;
    let options = CallOptions {
        live: Some(&mut destination),
        unlimited: true,
        invocation: Some(Arc::new(invocation)),
        ..CallOptions::default()
    };
    let tool = conversation.tool();
    let mut finished = tool
        .execute_with_details(Request::new(command), options, &cancel)
        .await;
    if signals.first_received().is_some() {
        // A caller that signals a shell expects its processes to end.
        if let Some(jobs) = conversation.jobs() {
            let survivors = std::mem::take(&mut finished.result.survivors);
            for job in survivors
                .iter()
                .filter_map(|survivor| survivor.job.as_ref())
            {
                drop(jobs.kill(job, GRACE_PERIOD).await);
            }
        }
    }
    Ok((finished, destination.ends_within_line()))
}

/// Returns lines about a command that a rule has refused: its alternative, and how to allow it.
fn advice(refusal: &Refusal) -> Vec<String> {
    let Refusal::Rule(rule) = refusal else {
        return Vec::new();
    };
    let instead = rule.explanation.instead.as_deref();
    // For safe mode, the reason lists what is allowed.
    let instead = instead.or(rule.reason.as_deref());
    let instead = instead.map(|instead| format!("Instead: {instead}"));
    instead.into_iter().chain(rule.allow_hint()).collect()
}

/// Returns the command line of the shell in the form in which the supervisor reports it.
fn reported_line(invocation: &Invocation) -> String {
    let words = std::iter::once(&invocation.arg0).chain(&invocation.args);
    let words: Vec<Vec<u8>> = words.map(|word| word.as_encoded_bytes().to_vec()).collect();
    shown_command_line(&words)
}

/// Replaces the command of surviving subshells by the model's command. Their arguments contain the
/// agent's wrapper around that command.
fn name_subshells(result: &mut ToolResult, reported: &str, command: &str) {
    let command = shown_command_line(&[command.as_bytes().to_vec()]);
    for notice in &mut result.notices {
        let NoticeKind::Survivors { survivors } = &notice.kind else {
            continue;
        };
        let mut survivors = survivors.clone();
        for survivor in &mut survivors {
            if survivor.command == reported {
                survivor.command.clone_from(&command);
            }
        }
        *notice = Notice::from(NoticeKind::Survivors { survivors });
    }
}

/// Prints the notices that a reader of the output needs, on their own lines. Then ends this process
/// by the signal that ended the shell, or returns the shell's exit code.
fn exit(ended: &FinishedShell) -> anyhow::Result<u8> {
    let result = &ended.result;
    let code = match &result.status {
        Status::Blocked { .. } | Status::NotStarted { .. } => {
            output::say(result.text.trim_end());
            return Ok(REFUSED_EXIT_CODE);
        }
        Status::Lost { reason, .. } => bail!("the outcome is unknown: {reason}"),
        status => status.exit_code(),
    };
    let mut separator = if ended.is_within_line { "\n" } else { "" };
    for notice in &result.notices {
        let is_shown = match &notice.kind {
            NoticeKind::Survivors { .. } => !result.survivors.is_empty(),
            NoticeKind::SandboxDenied { .. }
            | NoticeKind::SandboxNetwork { .. }
            | NoticeKind::SandboxHosts { .. }
            | NoticeKind::SandboxPartial { .. }
            | NoticeKind::ProtectedChanged { .. }
            | NoticeKind::ProtectedUncompared { .. }
            | NoticeKind::GitConfigDropped { .. }
            | NoticeKind::ChangesLimit { .. }
            | NoticeKind::LimitHit { .. } => true,
            _ => false,
        };
        if is_shown {
            output::say(&format!("{separator}[{}]", notice.text));
            separator = "";
        }
    }
    if let Some(number) = ended.signal {
        signals::end_by(number);
    }
    Ok(code)
}

/// Returns the state directory of the agent's conversation, named by its id, else by our parent
/// process.
fn conversation_name(host: &HostContext) -> String {
    let parent = rustix::process::getppid().map_or(0, rustix::process::Pid::as_raw_pid);
    let start = agent_bash::process::ProcessInfo::read(parent).map_or(0, |it| it.start_time);
    agent_shell::conversation_name(&host.env, (parent, start))
}

/// True if a prefixed script is a call of Claude Code's model, which also starts hooks and servers
/// with the prefix. `AI_AGENT` tells them apart (`claude-code_2-1-332_agent` and `…_harness`);
/// older versions do not set it, and wrap only the calls of the model.
fn is_model_call(script: &str, host: &HostContext) -> bool {
    let agent = host.env.get(OsStr::new("AI_AGENT"));
    agent.map_or_else(
        || agent_shell::has_wrapper_marker(script),
        |agent| agent.to_string_lossy().ends_with("_agent"),
    )
}

/// Returns the script on stdin if stdin is a regular file: that can be read without consuming the
/// shell's input.
fn script_on_stdin() -> Option<String> {
    let stdin = io::stdin();
    let file = std::fs::File::from(stdin.as_fd().try_clone_to_owned().ok()?);
    let metadata = file.metadata().ok()?;
    if !metadata.is_file() || metadata.size() > MAX_STDIN_BYTES {
        return None;
    }
    let mut file = file;
    let position = file.stream_position().ok()?;
    let mut text = Vec::new();
    let read = file.read_to_end(&mut text);
    file.seek(io::SeekFrom::Start(position)).ok()?;
    read.ok()?;
    Some(String::from_utf8_lossy(&text).into_owned())
}

/// Makes the links in a directory, and prints their paths.
pub(crate) fn link(directory: &Path) -> anyhow::Result<u8> {
    let own = shell_link::own_path()?;
    for name in ["bash", "sh", PREFIX_NAME] {
        let path = directory.join(name);
        shell_link::make(&path, &own)?;
        output::print(&format!("{}\n", path.display()))?;
    }
    Ok(0)
}
