//! The sandbox of a call: the changes that the request makes to the settings, whether the settings
//! allow them, and the plan that the call runs by.

mod denied;

use crate::refusal::{NotSandboxed, Refusal};
use crate::sandbox::{CallSandbox, Escalation, LackingPolicy, PreparedSandbox, SandboxSettings};
use crate::tool_context::ToolContext;
use agent_bash_core::sandbox::{
    Lack, Network, ObservedSandbox, Report, SandboxLevel, SandboxRequest, Sandboxed, Unknown,
};
use agent_bash_core::{
    Executor, Mode, NotStarted, Notice, NoticeKind, Outcome, Request, ScriptEnding,
};
use agent_bash_exec::Job;
use agent_bash_policy::SafeLevel;
use agent_bash_sandbox::HostFacts;
use agent_bash_sink::SinkReport;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The reason why there is no plan if the paths cannot be examined in time.
const UNRESPONSIVE_REASON: &str = "a file system that the sandbox is about does not answer; work elsewhere, or take it out of the settings";

/// The signal by which the sandbox ends a program of another architecture.
const SIGSYS: i32 = 31;

/// The sandbox that a call asks for.
#[derive(Debug)]
pub(crate) struct RequestedSandbox {
    /// The settings with the request's changes; `None` if the request changes nothing.
    changed: Option<SandboxSettings>,
    /// The reason why the call needs more than the settings allow, if it does.
    pub(crate) reason: Option<String>,
}

/// The sandbox that the request asks for; `None` if there is no sandbox. `escalation` is the reason
/// of a caller that asks to run without a sandbox.
pub(crate) fn requested(
    tool: &ToolContext,
    request: &mut Request,
    escalation: Option<&str>,
) -> Result<Option<RequestedSandbox>, Refusal> {
    let own = &tool.sandbox.settings;
    if let Some(reason) = escalation.filter(|_| own.level != SandboxLevel::Off) {
        // The permission prompt shows the request.
        request.sandbox.get_or_insert_with(|| SandboxRequest {
            level: Some(SandboxLevel::Off),
            network: None,
            writable: Vec::new(),
            reason: reason.to_owned(),
        });
    }
    let Some(change) = &request.sandbox else {
        let unchanged = RequestedSandbox {
            changed: None,
            reason: None,
        };
        return Ok((own.level != SandboxLevel::Off).then_some(unchanged));
    };
    if request.session.is_some() && request.mode != Some(Mode::Background) {
        return Err(Refusal::NotOffered(
            "a persistent shell keeps the sandbox that it was started in; leave out `session` or `sandbox`",
        ));
    }
    let wanted = changed(own, change)?;
    let loosens = is_looser(own, &wanted);
    if loosens && own.escalation == Escalation::Never {
        return Err(Refusal::Escalation(format!(
            "this call asks to leave the sandbox ({} with network {}), which no call may here; run it within that, without asking for more",
            own.level, own.network
        )));
    }
    Ok(Some(RequestedSandbox {
        changed: Some(wanted),
        reason: loosens.then(|| change.reason.clone()),
    }))
}

/// Turns a refusal by the host into a refused escalation if the call gave a reason for leaving the
/// sandbox.
pub(crate) fn denied(refusal: Refusal, reason: Option<&str>) -> Refusal {
    match refusal {
        Refusal::Denied(denied) if reason.is_some() => Refusal::Escalation(denied.reason),
        other => other,
    }
}

/// The settings with what a request changes of them.
fn changed(own: &SandboxSettings, change: &SandboxRequest) -> Result<SandboxSettings, Refusal> {
    let level = change.level.unwrap_or(own.level);
    let missing = match level {
        SandboxLevel::Off if change.network.is_some() || !change.writable.is_empty() => {
            "without a sandbox there is no `network` or `writable` of it; give the `level` too, `read_only` or \
             `workspace_write`"
        }
        SandboxLevel::ReadOnly if !change.writable.is_empty() => {
            "at the level `read_only` nothing can be made writable; ask for the level `workspace_write`, or leave out \
             `writable`"
        }
        _ => {
            let writable = change.writable.iter().map(PathBuf::from);
            let writable = own.writable.iter().cloned().chain(writable).collect();
            return Ok(SandboxSettings {
                level,
                network: change.network.unwrap_or(own.network),
                writable,
                ..own.clone()
            });
        }
    };
    Err(Refusal::NotOffered(missing))
}

/// True if `wanted`, made from `own`, allows anything that `own` does not.
fn is_looser(own: &SandboxSettings, wanted: &SandboxSettings) -> bool {
    own.level != SandboxLevel::Off
        && (wanted.level > own.level
            || wanted.network > own.network
            || wanted.writable.len() > own.writable.len())
}

impl RequestedSandbox {
    /// Makes the plan of the sandbox, and examines the files that it protects. Fails if the system
    /// cannot enforce a sandbox that was asked for.
    pub(crate) async fn decide(
        self,
        tool: &ToolContext,
        executor: &dyn Executor,
        in_session: bool,
    ) -> Result<CallSandbox, Refusal> {
        let settings = self.changed.as_ref().unwrap_or(&tool.sandbox.settings);
        let mut boxed = CallSandbox {
            level: settings.level,
            network: settings.network,
            escalated: self.reason.is_some(),
            plan: None,
            pool: None,
            before: None,
            names: None,
            ended_by_sigsys: false,
            changed: Vec::new(),
            unknown: Vec::new(),
        };
        if settings.level == SandboxLevel::Off {
            boxed.network = Network::On;
            return Ok(boxed);
        }
        let needs_it = tool.safe_mode.as_ref();
        let needs_it = needs_it.is_some_and(|mode| mode.level == SafeLevel::ReadOnly);
        let level = settings.level;
        let unconfined = |error: NotStarted| match error {
            NotStarted::SandboxLacks { .. } | NotStarted::Sandbox { .. } if needs_it => {
                NotSandboxed::SafeMode(error.to_string()).into()
            }
            NotStarted::SandboxLacks { what } => NotSandboxed::Lacks { level, what }.into(),
            NotStarted::Sandbox { reason } => NotSandboxed::Failed(reason).into(),
            other => Refusal::NotStarted(other),
        };
        let report = executor.confines().await.map_err(unconfined)?;
        if settings.lacking == LackingPolicy::Refuse && !report.missing.is_empty() {
            let what = listed(&report);
            return Err(unconfined(NotStarted::SandboxLacks { what }));
        }
        let facts = tool.sandbox.facts(&tool.host, report.tier);
        let ready = match &self.changed {
            None => {
                let (now, wall) = (tool.clock.now(), tool.clock.wall());
                tool.sandbox.ready(&facts, now, in_session, wall)
            }
            Some(_) => None,
        };
        let prepared = match ready {
            Some(ready) => Some(ready),
            None => prepared(tool, self.changed, facts, in_session).await?,
        };
        if let Some(prepared) = prepared {
            boxed.plan = Some(prepared.plan);
            boxed.pool = prepared.pool;
            boxed.before = Some(prepared.before);
            boxed.names = prepared.names;
        }
        Ok(boxed)
    }
}

/// Prepares the sandbox of a call on another thread, because file systems may be slow.
async fn prepared(
    tool: &ToolContext,
    changed: Option<SandboxSettings>,
    facts: HostFacts,
    in_session: bool,
) -> Result<Option<PreparedSandbox>, Refusal> {
    let own = Arc::clone(&tool.sandbox);
    let clock = Arc::clone(&tool.clock);
    let prepare = move || own.prepare(changed.as_ref(), facts, in_session, &*clock);
    let looks = &tool.sandbox.looks;
    let prepared = looks.look(&*tool.clock, prepare).await;
    let no_plan = |reason: String| Refusal::from(NotSandboxed::NoPlan(reason));
    prepared
        .ok_or_else(|| no_plan(UNRESPONSIVE_REASON.to_owned()))?
        .map_err(|error| no_plan(error.to_string()))
}

fn listed(report: &Report) -> String {
    let missing: Vec<&str> = report.missing.iter().map(|lack| lack.word()).collect();
    missing.join(", ")
}

/// The sandbox in the result of a call.
pub(crate) async fn result(
    boxed: &mut CallSandbox,
    tool: &ToolContext,
    outcome: &Outcome,
    cwd: &Path,
    printed: &[SinkReport],
) -> Sandboxed {
    let mut said = Sandboxed::new(boxed.level, boxed.network, outcome.sandbox.as_ref());
    said.escalated = boxed.escalated;
    let Some(plan) = boxed.plan.clone() else {
        return said;
    };
    boxed.ended_by_sigsys = match &outcome.ending {
        ScriptEnding::Exited { code } => *code == 128 + SIGSYS,
        ScriptEnding::Signaled { number, .. } => *number == SIGSYS,
        _ => false,
    };
    let messages = denied::messages(printed);
    if !messages.is_empty() {
        let cwd = cwd.to_owned();
        let named = move || denied::named(&plan, &cwd, &messages);
        match tool.sandbox.looks.look(&*tool.clock, named).await {
            Some(denied) => said.denied = denied,
            None => boxed.unknown.push(Unknown::Denied),
        }
    }
    said
}

/// The sandbox in the result of a call that continues as a job.
pub(crate) fn of_job(boxed: &CallSandbox, job: &Job) -> Sandboxed {
    let mut said = Sandboxed::new(boxed.level, boxed.network, observed(boxed, job).as_ref());
    said.escalated = boxed.escalated;
    said
}

/// The observations about the sandbox of a job.
pub(crate) fn observed(boxed: &CallSandbox, job: &Job) -> Option<ObservedSandbox> {
    let tier = boxed.plan.as_ref()?.tier;
    let missing = job.sandbox.as_ref()?.missing.clone();
    Some(ObservedSandbox::new(Report { tier, missing }))
}

/// The missing promises that matter to a call at this level: if nothing is writable, protected
/// files are not writable either.
fn felt(said: &Sandboxed) -> Vec<Lack> {
    let is_felt = |lack: &Lack| said.level != SandboxLevel::ReadOnly || *lack != Lack::Protected;
    said.missing.iter().copied().filter(is_felt).collect()
}

/// The notices about the sandbox of a call that has ended.
pub(crate) fn notices(boxed: &CallSandbox, tool: &ToolContext, said: &Sandboxed) -> Vec<Notice> {
    let mut notices = Vec::new();
    // One path is enough to understand what is forbidden; all paths are in the data.
    if let Some(denied) = said.denied.first() {
        notices.push(NoticeKind::SandboxDenied {
            path: denied.path.clone(),
            access: denied.access,
            level: said.level,
        });
    }
    if let Some(refused) = said.network_refused.filter(|refused| *refused > 0) {
        let network = said.network;
        notices.push(NoticeKind::SandboxNetwork { refused, network });
    }
    let missing = felt(said);
    if !missing.is_empty() && tool.sandbox.is_first_partial() {
        notices.push(NoticeKind::SandboxPartial {
            missing,
            network_uncounted: said.network == Network::Off && said.network_refused.is_none(),
        });
    }
    if !boxed.changed.is_empty() {
        let paths = boxed.changed.iter().map(|path| path.display().to_string());
        let paths = paths.collect();
        notices.push(NoticeKind::ProtectedChanged { paths });
    }
    if boxed.ended_by_sigsys {
        notices.push(NoticeKind::SandboxUnsupported);
    }
    if !boxed.unknown.is_empty() {
        let unknown = boxed.unknown.clone();
        notices.push(NoticeKind::SandboxUnknown { unknown });
    }
    notices.into_iter().map(Notice::from).collect()
}
