//! Determines the sandbox of a call: applies the request's changes to the settings, checks whether
//! the settings allow them, and makes the plan.

use crate::stage::last_pipeline::BROKEN_PIPE;
use crate::tool_context::ToolContext;
use agent_bash_core::sandbox::{
    Access, DenialBasis, DeniedAccess, Escalation, LackingPolicy, MissingPromise, Network,
    ObservedSandbox, Report, SandboxLevel, SandboxRequest, Sandboxed, UnknownObservation,
};
use agent_bash_core::{
    Executor, Mode, NotStarted, Notice, NoticeKind, Outcome, Request, ScriptEnding,
};
use agent_bash_exec::Job;
use agent_bash_policy::SafeLevel;
use agent_bash_proxy::AllowedHosts;
use agent_bash_sandbox::HostFacts;
use agent_bash_settings::SandboxSettings;
use agent_bash_sink::SinkReport;
use agent_bash_state::{CallSandbox, PreparedSandbox, denied as denials, missed_cache};
use agent_bash_tools::{NotSandboxed, Refusal};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The reason for a missing plan if the paths cannot be examined in time.
const UNRESPONSIVE_REASON: &str = "a file system in the sandbox's paths does not respond; work in another directory, or remove that path from the settings";

/// The signal by which the sandbox kills a program of another architecture.
const SIGSYS: i32 = 31;

/// The sandbox that a call requests.
#[derive(Debug)]
pub(crate) struct RequestedSandbox {
    /// The settings with the request's changes; `None` if the request changes nothing.
    changed: Option<SandboxSettings>,
    /// The request's reason, if the call needs more than the settings allow.
    pub(crate) reason: Option<String>,
}

/// Returns the sandbox that the request asks for; `None` if the call runs without a sandbox.
/// `escalation` is the caller's reason for a call without a sandbox.
pub(crate) fn requested(
    tool: &ToolContext,
    request: &mut Request,
    escalation: Option<&str>,
) -> Result<Option<RequestedSandbox>, Refusal> {
    let settings = &tool.sandbox.settings;
    if let Some(reason) = escalation.filter(|_| settings.level != SandboxLevel::Off) {
        // The approver shows the request, so the request must have the reason.
        request.sandbox.get_or_insert_with(|| SandboxRequest {
            level: Some(SandboxLevel::Off),
            network: None,
            hosts: Vec::new(),
            writable: Vec::new(),
            reason: reason.to_owned(),
        });
    }
    let Some(change) = &request.sandbox else {
        let unchanged = RequestedSandbox {
            changed: None,
            reason: None,
        };
        return Ok((settings.level != SandboxLevel::Off).then_some(unchanged));
    };
    if request.session.is_some() && request.mode != Some(Mode::Background) {
        return Err(Refusal::NotOffered(
            "a persistent shell keeps the sandbox in which it started; leave out `session` or `sandbox`",
        ));
    }
    let wanted = changed(settings, change)?;
    let is_escalation = is_looser(settings, &wanted);
    if is_escalation && settings.escalation == Escalation::Never {
        return Err(Refusal::Escalation(format!(
            "this call asks to leave the sandbox ({} with network {}), which the settings forbid; run it in this sandbox, without asking for more",
            settings.level, settings.network
        )));
    }
    Ok(Some(RequestedSandbox {
        changed: Some(wanted),
        reason: is_escalation.then(|| change.reason.clone()),
    }))
}

/// Turns a refusal by the host into [`Refusal::Escalation`] if the call gave a `reason` for leaving
/// the sandbox.
pub(crate) fn denied(refusal: Refusal, reason: Option<&str>) -> Refusal {
    match refusal {
        Refusal::Denied(denied) if reason.is_some() => Refusal::Escalation(denied.reason),
        other => other,
    }
}

/// Returns the settings with the request's changes.
fn changed(
    settings: &SandboxSettings,
    change: &SandboxRequest,
) -> Result<SandboxSettings, Refusal> {
    let level = change.level.unwrap_or(settings.level);
    let missing = match level {
        SandboxLevel::Off
            if change.network.is_some()
                || !change.hosts.is_empty()
                || !change.writable.is_empty() =>
        {
            "`network`, `hosts` and `writable` need a sandbox; give a `level`, too: `read_only` or `workspace_write`"
        }
        SandboxLevel::ReadOnly if !change.writable.is_empty() => {
            "the level `read_only` allows no `writable` directories; ask for the level `workspace_write`, or leave out \
             `writable`"
        }
        _ => {
            let writable = change.writable.iter().map(PathBuf::from);
            let writable = settings.writable.iter().cloned().chain(writable).collect();
            let (network, hosts) = network(settings, change)?;
            return Ok(SandboxSettings {
                level,
                network,
                hosts,
                writable,
                ..settings.clone()
            });
        }
    };
    Err(Refusal::NotOffered(missing))
}

/// Returns the network that the request asks for, and its list of hosts.
fn network(
    settings: &SandboxSettings,
    change: &SandboxRequest,
) -> Result<(Network, Vec<String>), Refusal> {
    let unchanged = || Ok((settings.network, settings.hosts.clone()));
    match (change.network, change.hosts.is_empty()) {
        (None, true) => unchanged(),
        (Some(Network::Hosts), true) if settings.network == Network::Hosts => unchanged(),
        (Some(Network::Hosts), true) => Err(Refusal::NotOffered(
            "the network `hosts` needs a list of them; give `hosts` too",
        )),
        (None | Some(Network::Hosts), false) => {
            AllowedHosts::parse(&change.hosts)
                .map_err(|error| NotSandboxed::NoPlan(error.to_string()))?;
            Ok((Network::Hosts, change.hosts.clone()))
        }
        (Some(_), false) => Err(Refusal::NotOffered(
            "`hosts` is of no effect with another network; leave out `network`, or `hosts`",
        )),
        (Some(network), true) => Ok((network, Vec::new())),
    }
}

/// True if `wanted`, the settings of a call, allow more than `settings`, the settings of the tool.
fn is_looser(settings: &SandboxSettings, wanted: &SandboxSettings) -> bool {
    settings.level != SandboxLevel::Off
        && (wanted.level > settings.level
            || !settings.allows_network_of(wanted)
            || wanted.writable.len() > settings.writable.len())
}

impl RequestedSandbox {
    /// Makes the plan of the sandbox, and records the states of the protected files. Fails if the
    /// system cannot enforce the requested sandbox.
    pub(crate) async fn decide(
        self,
        tool: &ToolContext,
        executor: &dyn Executor,
        in_session: bool,
    ) -> Result<CallSandbox, Refusal> {
        let settings = self.changed.as_ref().unwrap_or(&tool.sandbox.settings);
        let mut sandbox = CallSandbox {
            level: settings.level,
            network: settings.network,
            escalated: self.reason.is_some(),
            ..CallSandbox::default()
        };
        if settings.level == SandboxLevel::Off {
            sandbox.network = Network::On;
            return Ok(sandbox);
        }
        let safe_mode = tool.safe_mode.as_ref();
        let is_for_safe_mode = safe_mode.is_some_and(|mode| mode.level == SafeLevel::ReadOnly);
        let level = settings.level;
        let refusal_of = |error: NotStarted| match error {
            NotStarted::SandboxLacks { .. } | NotStarted::Sandbox { .. } if is_for_safe_mode => {
                NotSandboxed::SafeMode(error.to_string()).into()
            }
            NotStarted::SandboxLacks { what } => NotSandboxed::Lacks { level, what }.into(),
            NotStarted::Sandbox { reason } => NotSandboxed::Failed(reason).into(),
            other => Refusal::NotStarted(other),
        };
        let report = executor.sandbox_report().await.map_err(refusal_of)?;
        if settings.lacking == LackingPolicy::Refuse && !report.missing.is_empty() {
            let what = listed(&report);
            return Err(refusal_of(NotStarted::SandboxLacks { what }));
        }
        let facts = tool.sandbox.facts(&tool.host, report.tier);
        let from_cache = match &self.changed {
            None => {
                let (now, wall) = (tool.clock.now(), tool.clock.wall());
                tool.sandbox
                    .prepare_from_cache(&facts, now, in_session, wall)
            }
            Some(_) => None,
        };
        let prepared = match from_cache {
            Some(prepared) => Some(prepared),
            None => prepared(tool, self.changed, facts, in_session).await?,
        };
        if let Some(prepared) = prepared {
            sandbox.plan = Some(prepared.plan);
            sandbox.pool = prepared.pool;
            sandbox.before = Some(prepared.before);
            sandbox.names = prepared.names;
            sandbox.dropped_git_keys = tool.sandbox.take_dropped_git_keys();
        }
        Ok(sandbox)
    }
}

/// Prepares the sandbox of a call on another thread, because file systems may be slow.
async fn prepared(
    tool: &ToolContext,
    changed: Option<SandboxSettings>,
    facts: HostFacts,
    in_session: bool,
) -> Result<Option<PreparedSandbox>, Refusal> {
    let sandbox_state = Arc::clone(&tool.sandbox);
    let clock = Arc::clone(&tool.clock);
    let prepare = move || sandbox_state.prepare(changed.as_ref(), facts, in_session, &*clock);
    let prepared = tool.within_limit(prepare).await;
    let no_plan = |reason: String| Refusal::from(NotSandboxed::NoPlan(reason));
    prepared
        .ok_or_else(|| no_plan(UNRESPONSIVE_REASON.to_owned()))?
        .map_err(|error| no_plan(error.to_string()))
}

/// Returns the names of the promises that the system does not enforce.
fn listed(report: &Report) -> String {
    let missing: Vec<&str> = report.missing.iter().map(|lack| lack.word()).collect();
    missing.join(", ")
}

/// Returns the `sandbox` field of a call's result, with the denied files.
pub(crate) async fn result(
    sandbox: &mut CallSandbox,
    tool: &ToolContext,
    outcome: &Outcome,
    cwd: &Path,
    printed: &[SinkReport],
) -> Sandboxed {
    let mut sandboxed = Sandboxed::new(sandbox.level, sandbox.network, outcome.sandbox.as_ref());
    sandboxed.escalated = sandbox.escalated;
    let Some(plan) = sandbox.plan.clone() else {
        return sandboxed;
    };
    sandbox.ended_by_sigsys = match &outcome.ending {
        ScriptEnding::Exited { code } => *code == 128 + SIGSYS,
        ScriptEnding::Signaled { number, .. } => *number == SIGSYS,
        _ => false,
    };
    sandbox.refused_socket = denials::names_refused_socket(printed, &plan);
    let lines = printed.iter().flat_map(SinkReport::shown_lines);
    let facts = || tool.sandbox.facts(&tool.host, plan.tier);
    let missed = missed_cache(&plan, lines, facts);
    let is_hidden = |(_, path): &&(&str, PathBuf)| plan.hidden.hiding(path).is_some();
    let hidden_keys = missed.as_ref().filter(is_hidden);
    let hidden_keys = hidden_keys.map(|(_, path)| path.display().to_string());
    sandbox.missed_cache = missed.filter(|_| hidden_keys.is_none());
    let messages = denials::messages(printed);
    let has_failed = has_failed(outcome);
    let refused = outcome.traced.as_ref().filter(|_| has_failed);
    let refused = refused.map_or_else(Vec::new, |traced| traced.refused_writes.clone());
    if !messages.is_empty() || !refused.is_empty() {
        let cwd = cwd.to_owned();
        let named = move || {
            let named = denials::denied_files(&plan, &cwd, &messages, &refused);
            if named.is_empty() {
                denials::refused_files(refused)
            } else {
                named
            }
        };
        match tool.within_limit(named).await {
            Some(denied) => sandboxed.denied = denied,
            None => sandbox.unknown.push(UnknownObservation::Denied),
        }
    }
    let is_new = |path: &String| !sandboxed.denied.iter().any(|denied| denied.path == *path);
    if let Some(path) = hidden_keys.filter(|path| has_failed && is_new(path)) {
        sandboxed.denied.push(DeniedAccess {
            path,
            access: Access::Read,
            basis: DenialBasis::Inferred,
        });
    }
    if has_failed && sandboxed.denied.is_empty() && !sandbox.refused_socket {
        let plan = sandbox.plan.as_deref();
        let refused = plan.and_then(|plan| denials::refused_operations(printed, plan));
        sandbox.refused_operations = refused;
    }
    sandboxed
}

/// True if the command, or a stage of its last pipeline, has failed.
fn has_failed(outcome: &Outcome) -> bool {
    let mut stages = outcome.stages.iter().flatten();
    !matches!(outcome.ending, ScriptEnding::Exited { code: 0 })
        || stages.any(|stage| !matches!(stage.code, 0 | BROKEN_PIPE))
}

/// Returns the `sandbox` field of the result of a call that continues as a job.
pub(crate) fn of_job(sandbox: &CallSandbox, job: &Job) -> Sandboxed {
    let mut sandboxed = Sandboxed::new(
        sandbox.level,
        sandbox.network,
        observed(sandbox, job).as_ref(),
    );
    sandboxed.escalated = sandbox.escalated;
    sandboxed
}

/// Returns the observations about the sandbox of a job.
pub(crate) fn observed(sandbox: &CallSandbox, job: &Job) -> Option<ObservedSandbox> {
    let tier = sandbox.plan.as_ref()?.tier;
    let missing = job.sandbox.as_ref()?.missing.clone();
    Some(ObservedSandbox::new(Report { tier, missing }))
}

/// Returns the missing promises that matter at this level. At the level `read_only`, protected
/// files are not writable in any case.
fn relevant_lacks(sandboxed: &Sandboxed) -> Vec<MissingPromise> {
    let is_relevant = |lack: &MissingPromise| {
        sandboxed.level != SandboxLevel::ReadOnly || *lack != MissingPromise::Protected
    };
    sandboxed
        .missing
        .iter()
        .copied()
        .filter(is_relevant)
        .collect()
}

/// Returns the notices about the sandbox of a call that has ended.
pub(crate) fn notices(
    sandbox: &CallSandbox,
    tool: &ToolContext,
    sandboxed: &Sandboxed,
) -> Vec<Notice> {
    let mut notices = Vec::new();
    // The notice names one path, which explains the failure. The result's data has all paths.
    if let Some(denied) = sandboxed.denied.first() {
        let plan = sandbox.plan.as_ref();
        notices.push(NoticeKind::SandboxDenied {
            path: denied.path.clone(),
            access: denied.access,
            basis: denied.basis,
            level: sandboxed.level,
            is_protected: plan.is_some_and(|plan| plan.is_protected(Path::new(&denied.path))),
        });
    }
    if sandbox.refused_socket {
        notices.push(NoticeKind::SandboxSockets {
            is_full: sandbox.has_own_network(),
            level: sandboxed.level,
        });
    }
    if let Some(refused) = sandbox.refused_operations {
        notices.push(NoticeKind::SandboxOperations {
            refused,
            level: sandboxed.level,
        });
    }
    if let Some((tool, path)) = &sandbox.missed_cache {
        notices.push(NoticeKind::SandboxCache {
            tool: (*tool).to_owned(),
            path: path.display().to_string(),
        });
    }
    if let Some(refused) = sandboxed.network_refused.filter(|refused| *refused > 0) {
        let network = sandboxed.network;
        notices.push(NoticeKind::SandboxNetwork { refused, network });
    }
    if !sandboxed.refused_hosts.is_empty() {
        notices.push(NoticeKind::SandboxHosts {
            refused: sandboxed.refused_hosts.clone(),
        });
    }
    let missing = relevant_lacks(sandboxed);
    if !missing.is_empty() && tool.sandbox.is_first_partial() {
        notices.push(NoticeKind::SandboxPartial {
            missing,
            network_uncounted: sandboxed.network == Network::Off
                && sandboxed.network_refused.is_none(),
        });
    }
    if !sandbox.changed.is_empty() {
        let paths = sandbox
            .changed
            .iter()
            .map(|path| path.display().to_string());
        let paths = paths.collect();
        notices.push(NoticeKind::ProtectedChanged { paths });
    }
    if !sandbox.uncompared.is_empty() {
        let directories = sandbox.uncompared.clone();
        notices.push(NoticeKind::ProtectedUncompared { directories });
    }
    if !sandbox.dropped_git_keys.is_empty() {
        // A lock that is held stops the merges before and after the call for the same reason.
        let mut keys = sandbox.dropped_git_keys.clone();
        keys.dedup();
        notices.push(NoticeKind::GitConfigDropped { keys });
    }
    if sandbox.ended_by_sigsys {
        notices.push(NoticeKind::SandboxUnsupported);
    }
    if !sandbox.unknown.is_empty() {
        let unknown = sandbox.unknown.clone();
        notices.push(NoticeKind::SandboxUnknown { unknown });
    }
    notices.into_iter().map(Notice::from).collect()
}
