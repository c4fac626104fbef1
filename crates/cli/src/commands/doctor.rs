//! `agent-bash doctor`: checks what works on this system, by running harmless commands.

mod agents;
mod changes;
mod finding;
mod managers;

use crate::args::ChosenSettings;
use crate::commands::sandbox_probe::start_in_directory;
use crate::commands::settings::NAMES_NO_TOOLS;
use crate::commands::{encryption, session};
use crate::output;
use crate::process_start::StartContext;
use crate::runtime;
use agent_bash::core::changes::ChangesLevel;
use agent_bash::core::sandbox::{MissingPromise, SandboxLevel, Sandboxed};
use agent_bash::core::{Cancel, Limits, NoticeKind, ProfileName, Status, ToolResult};
use agent_bash::policy::Interceptor;
use agent_bash::process::supervisor::Supervisor;
use agent_bash::process::{DelegatedCgroup, NoCgroup, SystemClock};
use agent_bash::pty::{PtyExecutor, PtyOptions};
use agent_bash::settings::{self, Settings};
use agent_bash::sink::Lifetime;
use agent_bash::{BashTool, BashToolBuilder, SandboxSettings};
use finding::{Finding, FindingGrade};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::sync::Arc;

/// The session of the checks; its artifact is removed at the end.
const SESSION_NAME: &str = "doctor";

/// A command with more output than the standard profile shows, so that the output is stored.
///
/// Builtins print it, as small containers lack `seq`.
const LONG_OUTPUT: &str = "i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); echo $i; done";

/// Starts a process in a session of its own, or exits with [`NOT_TRIED`].
const NEW_SESSION: &str = "command -v setsid >/dev/null && command -v sleep >/dev/null || exit 77
setsid sleep 60 >/dev/null 2>&1 & echo $!";

/// Prints the free space for temporary files, or exits with [`NOT_TRIED`]. Any shell runs it.
const FREE_SPACE: &str = "command -v df >/dev/null && command -v awk >/dev/null || exit 77
df -Pk -- \"${TMPDIR:-/tmp}\" | awk 'NR==2 {printf \"%d MB free below %s\", $4/1024, $6; seen=1} END {exit !seen}'";

/// The status of a check whose programs are missing.
const NOT_TRIED: Status = Status::Exited { code: 77 };

/// Prints the name and version of the shell that runs it, for bash and zsh.
const SHELL_PROBE: &str =
    "echo \"it runs ${BASH_VERSION:+bash $BASH_VERSION}${ZSH_VERSION:+zsh $ZSH_VERSION}\"";

/// The indent of the second and further lines of a finding's details.
const DETAILS_INDENT: &str = "\n                     ";

/// Prints a line per check. Exit code 1 if one of them failed.
pub(crate) fn doctor(start: &StartContext) -> anyhow::Result<u8> {
    let runtime = runtime::start(Some(2))?;
    let mut findings = runtime.block_on(examine(start))?;
    findings.extend(agents::agents(start));
    if let Some(state) = start.host.state_dir() {
        // The surviving processes that the checks started were recorded as jobs in this directory.
        for name in [SESSION_NAME, managers::SESSION_NAME] {
            let _ = fs::remove_dir_all(state.join(name));
        }
    }
    let mut text = String::new();
    for finding in &findings {
        let mark = finding.grade.mark();
        // An error that shows its position in a file has several lines.
        let detail = finding.detail.trim_end().replace('\n', DETAILS_INDENT);
        let _ = writeln!(text, "{mark:<9}{:<11} {detail}", finding.subject);
    }
    output::print(&text)?;
    let fails = |finding: &Finding| finding.grade == FindingGrade::Problem;
    Ok(u8::from(findings.iter().any(fails)))
}

/// Runs the checks and returns their findings.
async fn examine(start: &StartContext) -> anyhow::Result<Vec<Finding>> {
    let loaded = start.settings(&ChosenSettings::default());
    let broken = loaded.as_ref().err().map(|error| format!("{error:#}"));
    // If the settings are invalid, the other checks run with the default settings.
    let user_settings = loaded.map(|loaded| loaded.settings).unwrap_or_default();
    let interceptor = interceptor(&user_settings);
    // The commands of the checks are not on safe mode's list and need no sandbox. The sandbox is
    // checked separately.
    let settings = Settings {
        safe_mode: None,
        sandbox: SandboxSettings::default(),
        ..user_settings.clone()
    };
    let supervisors = Supervisor::this_program(&start.token);
    let session = session::open_for_checks(&settings, start, &supervisors, SESSION_NAME)?;
    let state = session.artifacts().map(|artifacts| artifacts.path());
    let tool = session.tool().clone();

    let probe_run = run(&tool, SHELL_PROBE).await;
    let survivor_run = run(&tool, NEW_SESSION).await;
    for survivor in &survivor_run.survivors {
        run(&tool, &format!("kill {}", survivor.pid)).await;
    }
    let long_run = run(&tool, LONG_OUTPUT).await;
    let directory_text = match &state {
        Some(path) => path.display().to_string(),
        None => "no state directory: set HOME or AGENT_BASH_STATE_DIR".to_owned(),
    };
    let [record, trial] = changes(&settings, &user_settings, start).await;
    let validity = FindingGrade::of(broken.is_none());
    let validity_text = broken.unwrap_or_else(|| "valid".to_owned());
    let runs = FindingGrade::of(probe_run.status == Status::Exited { code: 0 });
    let ran = match &probe_run.status {
        Status::NotStarted { reason } => reason.clone(),
        _ => format!(
            "{} in {:.1} ms",
            probe_run.text.trim_end(),
            probe_run.duration_ms
        ),
    };
    let keeps = FindingGrade::of(!long_run.artifacts.is_empty());
    let kept = match failed_artifact(&long_run) {
        Some(reason) => {
            format!("{reason}; AGENT_BASH_STATE_DIR or XDG_STATE_HOME can name another directory")
        }
        None => directory_text,
    };
    Ok(vec![
        Finding::new(validity, "settings", validity_text),
        shell(&tool),
        Finding::new(runs, "canary", ran),
        managers::managers(&user_settings, start, &supervisors).await?,
        supervisor(&probe_run),
        sandbox(&tool, start, &user_settings).await?,
        secrets(&user_settings.sandbox),
        record,
        trial,
        survivors(&survivor_run),
        Finding::new(keeps, "artifacts", kept),
        space(&tool, &start.host.temp_dir()).await,
        terminal(settings, start).await?,
        interceptor,
        variables(start),
        limits(&user_settings.limits),
    ])
}

async fn run(tool: &BashTool, script: &str) -> ToolResult {
    tool.execute(serde_json::Value::from(script), &Cancel::new())
        .await
}

fn shell(tool: &BashTool) -> Finding {
    let (grade, detail) = match tool.shell() {
        Ok(shell) if shell.is_any_bash() => (FindingGrade::Works, shell.path.display().to_string()),
        Ok(shell) => (
            FindingGrade::Note,
            format!(
                "{}, which is not bash: single commands run in it, named sessions need bash",
                shell.path.display()
            ),
        ),
        Err(error) => (FindingGrade::Problem, error.to_string()),
    };
    Finding::new(grade, "shell", detail)
}

fn supervisor(probe_run: &ToolResult) -> Finding {
    let missing = probe_run
        .notices
        .iter()
        .find_map(|notice| match &notice.kind {
            NoticeKind::WithoutSupervisor { reason } => Some(reason.clone()),
            _ => None,
        });
    let grade = FindingGrade::of(missing.is_none());
    let detail = match missing {
        None => "in force: every process of a command is named and can be ended".to_owned(),
        Some(reason) => format!("not in force: {reason}"),
    };
    Finding::new(grade, "supervisor", detail)
}

/// Describes what the sandbox enforces in the current directory. A sandbox that does not start is a
/// problem if the settings ask for one.
async fn sandbox(
    tool: &BashTool,
    start: &StartContext,
    settings: &Settings,
) -> anyhow::Result<Finding> {
    let wanted = settings.sandbox_in_force();
    let (grade, detail) = match tool.sandbox_report().await {
        Ok(report) => {
            let (_, detail_elsewhere) = enforced(&report.missing);
            match sandbox_in_directory(start, settings).await? {
                Ok(observed) => enforced(&observed.missing),
                Err(reason) => {
                    let grade = match wanted.level {
                        SandboxLevel::Off => FindingGrade::Note,
                        _ => FindingGrade::Problem,
                    };
                    let directory = start.host.cwd.display();
                    (
                        grade,
                        format!("{detail_elsewhere}, but not in {directory}: {reason}"),
                    )
                }
            }
        }
        Err(error) if wanted.level != SandboxLevel::Off => {
            let level = wanted.level;
            let detail =
                format!("none, so every call with the sandbox `{level}` is refused: {error}");
            (FindingGrade::Problem, detail)
        }
        Err(error) => (FindingGrade::Note, format!("none: {error}")),
    };
    Ok(Finding::new(grade, "sandbox", detail))
}

/// Describes the secrets of calls in a sandbox. A missing `openssl` is a problem if they need it.
fn secrets(sandbox: &SandboxSettings) -> Finding {
    let warning = encryption::warning(sandbox);
    let detail = match (warning, sandbox.secrets.len()) {
        (Some(warning), _) => warning.to_owned(),
        (None, 0) => "calls get no placeholders (sandbox.secrets)".to_owned(),
        (None, _) => {
            let names: Vec<&str> = sandbox.secrets.keys().map(String::as_str).collect();
            format!(
                "calls with a list of hosts get placeholders: {}",
                names.join(", ")
            )
        }
    };
    Finding::new(FindingGrade::of(warning.is_none()), "secrets", detail)
}

/// Starts a command in the sandbox of the settings. If the settings turn the sandbox off, uses one
/// that may write the workspace.
async fn sandbox_in_directory(
    start: &StartContext,
    settings: &Settings,
) -> anyhow::Result<Result<Sandboxed, String>> {
    let level = match settings.sandbox_in_force().level {
        SandboxLevel::Off => SandboxLevel::WorkspaceWrite,
        level => level,
    };
    start_in_directory(start, settings, SESSION_NAME, level).await
}

/// Returns the finding for a sandbox in which these promises are not enforced.
fn enforced(missing: &[MissingPromise]) -> (FindingGrade, String) {
    if missing.is_empty() {
        return (FindingGrade::Works, "enforced in full".to_owned());
    }
    let missing: Vec<&str> = missing.iter().map(|lack| lack.word()).collect();
    let detail = format!("partial, without {}", missing.join(", "));
    (FindingGrade::Note, detail)
}

/// Tries to undo a change, and to run a trial. A failed undo is a problem only if the settings ask
/// for a record.
async fn changes(
    settings: &Settings,
    user_settings: &Settings,
    start: &StartContext,
) -> [Finding; 2] {
    let changes::AttemptResults { record, trial } =
        changes::try_changes(settings, start, SESSION_NAME).await;
    let wanted = user_settings.changes.level.unwrap_or(ChangesLevel::Off);
    let failure_grade = match wanted {
        ChangesLevel::Off => FindingGrade::Note,
        _ => FindingGrade::Problem,
    };
    let works = "what a command did to files was recorded and undone";
    let records = match record {
        Ok(()) => Finding::new(FindingGrade::Works, "records", works),
        Err(why) => Finding::new(failure_grade, "records", format!("no undo: {why}")),
    };
    let works = "what a command did to files was held back";
    let trials = match trial {
        Ok(()) => Finding::new(FindingGrade::Works, "trials", works),
        Err(why) => Finding::new(FindingGrade::Note, "trials", why),
    };
    [records, trials]
}

/// Checks that a process that moved to a session of its own (`setsid`) is still named.
fn survivors(result: &ToolResult) -> Finding {
    let (grade, detail) = if result.status == NOT_TRIED {
        (
            FindingGrade::Note,
            "not tried, because setsid or sleep is missing",
        )
    } else if result.survivors.is_empty() {
        (
            FindingGrade::Problem,
            "a process that left its session was not seen",
        )
    } else {
        (
            FindingGrade::Works,
            "a process that left its session was named",
        )
    };
    Finding::new(grade, "survivors", detail)
}

fn failed_artifact(result: &ToolResult) -> Option<&str> {
    result.notices.iter().find_map(|notice| match &notice.kind {
        NoticeKind::ArtifactFailed { reason } => Some(reason.as_str()),
        _ => None,
    })
}

/// Reports the free space for temporary files, from `df`, or why none can be created.
async fn space(tool: &BashTool, directory: &Path) -> Finding {
    let usable = fs::metadata(directory).and_then(|_| tempfile::tempdir_in(directory));
    if let Err(error) = usable {
        let detail = format!(
            "cannot create files below $TMPDIR ({}): {error}; set TMPDIR to a directory that exists and can be written",
            directory.display()
        );
        return Finding::new(FindingGrade::Problem, "space", detail);
    }
    let result = run(tool, FREE_SPACE).await;
    if result.status == NOT_TRIED {
        let detail = "unknown, because df or awk is missing";
        return Finding::new(FindingGrade::Note, "space", detail);
    }
    let grade = FindingGrade::of(result.status == Status::Exited { code: 0 });
    Finding::new(
        grade,
        "space",
        result.text.lines().next().unwrap_or_default(),
    )
}

/// Checks that a command can get a terminal.
async fn terminal(settings: Settings, start: &StartContext) -> anyhow::Result<Finding> {
    let settings = Settings {
        virtual_terminal: true,
        // This profile allows terminals.
        profile: ProfileName::Standard,
        ..settings
    };
    let supervisor = Supervisor::this_program(&start.token);
    let options = PtyOptions::new(
        supervisor.clone(),
        Arc::new(SystemClock::new()),
        start.host.temp_dir(),
    );
    let executor = PtyExecutor::new(options);
    let offered = |builder: BashToolBuilder| builder.terminal(Arc::new(executor));
    let lifetime = Lifetime::Session;
    let session = session::open_with(
        &settings, start, &supervisor, SESSION_NAME, lifetime, offered,
    )?;
    if !session.tool().offers_terminal() {
        let detail = "switched off by AGENT_BASH_NO_PTY or PI_NO_PTY";
        return Ok(Finding::new(FindingGrade::Works, "terminal", detail));
    }
    let result = run(session.tool(), "tty && test -t 2 && stty size").await;
    let works = result.status == Status::Exited { code: 0 };
    let printed: Vec<&str> = result.text.split_whitespace().collect();
    let detail = match &printed[..] {
        [path, rows, columns] if works => format!("{path}, {rows} rows of {columns}"),
        _ => result.text,
    };
    Ok(Finding::new(FindingGrade::of(works), "terminal", detail))
}

/// Reports environment variables whose names are almost those of settings.
fn variables(start: &StartContext) -> Finding {
    let misspelt = settings::misspelt_variables(&start.host);
    let named: Vec<String> = misspelt
        .iter()
        .map(|(name, meant)| format!("{name} is not a setting; perhaps you mean {meant}"))
        .collect();
    let detail = match &named[..] {
        [] => "no variable has a misspelt name of a setting".to_owned(),
        _ => named.join("; "),
    };
    Finding::new(FindingGrade::of(named.is_empty()), "variables", detail)
}

/// Checks that every rule has a valid pattern, because rules with invalid patterns are skipped, and
/// that the settings name tools to propose.
fn interceptor(settings: &Settings) -> Finding {
    let rules = Interceptor::new(settings.interceptor_rules.iter().cloned());
    let invalid: Vec<String> = rules
        .invalid()
        .iter()
        .map(|rule| format!("rule {}: `{}`: {}", rule.index, rule.pattern, rule.error))
        .collect();
    let (grade, detail) = if !invalid.is_empty() {
        (FindingGrade::Problem, invalid.join("; "))
    } else if settings.interceptor_names_no_tools() {
        (FindingGrade::Note, NAMES_NO_TOOLS.to_owned())
    } else {
        (FindingGrade::Works, "every rule is valid".to_owned())
    };
    Finding::new(grade, "interceptor", detail)
}

/// Reports which limits hold for all processes of a call together. A limit that is set and not
/// enforced is a problem.
fn limits(limits: &Limits) -> Finding {
    const ALL: Limits = Limits {
        cpu_s: None,
        memory_mb: Some(1),
        processes: Some(1),
        cpu_percent: Some(1),
        file_mb: None,
    };
    let found = DelegatedCgroup::find();
    let enforced = found
        .as_ref()
        .map(|cgroup| cgroup.enforced(&ALL))
        .unwrap_or_default();
    let lacks_cpu = limits.cpu_percent.is_some() && enforced.cpu_percent.is_none();
    let named = [
        ("memory_mb", enforced.memory_mb),
        ("processes", enforced.processes),
        ("cpu_percent", enforced.cpu_percent),
    ];
    let named = named.iter().filter(|(_, limit)| limit.is_some());
    let named: Vec<&str> = named.map(|(name, _)| *name).collect();
    let mut detail = match &found {
        Ok(cgroup) => format!(
            "{} hold for all processes of a call together, in cgroups below {}",
            named.join(", "),
            cgroup.directory().display()
        ),
        Err(error) => format!("memory_mb holds for each process, processes for this user: {error}"),
    };
    if enforced.cpu_percent.is_none() {
        detail.push_str("; cpu_percent is not enforced");
    }
    let has_systemd = DelegatedCgroup::is_system_managed();
    if let (true, Err(NoCgroup::NotDelegated(_))) = (has_systemd, &found) {
        detail.push_str("; `systemd-run --user --scope -p Delegate=yes AGENT` starts an agent in a cgroup of its own");
    }
    Finding::new(FindingGrade::of(!lacks_cpu), "limits", detail)
}
