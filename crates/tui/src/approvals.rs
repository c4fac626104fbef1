//! Asks the user whether a call may have more rights than the sandbox allows.

use agent_bash::core::sandbox::{Network, SandboxLevel, SandboxRequest};
use agent_bash::{Approval, Approver, Proposal, SandboxSettings};
use async_trait::async_trait;
use std::fmt;
use std::sync::Arc;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;

/// The reason that a call gets when the user denies its request.
pub(crate) const DENIAL_REASON: &str = "the user at the terminal does not allow this call to leave the sandbox; run it within the sandbox, or ask what to do";

/// Passes questions to the interface. Give [`Approvals::approver`] to the tool's builder, and this
/// value to [`crate::run`]. Calls within the limits of the sandbox cause no question.
pub struct Approvals {
    approver: Arc<PendingApproval>,
    questions: UnboundedReceiver<ApprovalQuestion>,
}

/// A question that awaits its answer.
#[derive(Debug)]
pub(crate) struct ApprovalQuestion {
    pub(crate) command: String,
    pub(crate) reason: String,
    /// The sandbox settings that the call asks for.
    pub(crate) requested: SandboxRequest,
    answer: oneshot::Sender<bool>,
}

/// The request to run a call outside of the sandbox.
pub(crate) fn outside_request(reason: &str) -> SandboxRequest {
    SandboxRequest {
        level: Some(SandboxLevel::Off),
        network: None,
        hosts: Vec::new(),
        writable: Vec::new(),
        reason: reason.to_owned(),
    }
}

struct PendingApproval {
    ask: UnboundedSender<ApprovalQuestion>,
}

impl Approvals {
    /// Creates an approver. Questions arrive as soon as a tool's builder has it.
    pub fn new() -> Self {
        let (ask, question) = unbounded_channel();
        Self {
            approver: Arc::new(PendingApproval { ask }),
            questions: question,
        }
    }

    /// The approver for [`agent_bash::BashToolBuilder::approver`].
    pub fn approver(&self) -> Arc<dyn Approver> {
        Arc::clone(&self.approver) as _
    }

    /// Waits for the next question. Cancel safe.
    pub(crate) async fn next_question(&mut self) -> ApprovalQuestion {
        match self.questions.recv().await {
            Some(question) => question,
            // Cannot happen: the approver, which this value owns, holds the sender.
            None => std::future::pending().await,
        }
    }
}

impl Default for Approvals {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Approvals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Approvals").finish_non_exhaustive()
    }
}

impl ApprovalQuestion {
    /// A question for tests, and the receiver of its answer.
    #[cfg(test)]
    pub(crate) fn of(command: &str, wanted: SandboxRequest) -> (Self, oneshot::Receiver<bool>) {
        let (answer, answered) = oneshot::channel();
        let question = Self {
            command: command.to_owned(),
            reason: wanted.reason.clone(),
            requested: wanted,
            answer,
        };
        (question, answered)
    }

    /// Answers the call, if it still waits.
    pub(crate) fn answer(self, allowed: bool) {
        let _ = self.answer.send(allowed);
    }

    /// Returns true if the call was cancelled, so that the answer has no receiver.
    pub(crate) fn is_withdrawn(&self) -> bool {
        self.answer.is_closed()
    }

    /// Returns the settings that the request loosens: name, present value, requested value.
    pub(crate) fn loosened_settings(&self, current: &SandboxSettings) -> Vec<[String; 3]> {
        let SandboxRequest {
            level,
            network,
            hosts,
            writable,
            ..
        } = &self.requested;
        let mut changes = Vec::new();
        let mut add = |name: &str, current: &str, wanted: &str| {
            changes.push([name, current, wanted].map(str::to_owned));
        };
        if let Some(level) = level.filter(|level| *level != current.level) {
            add("level", current.level.word(), level.word());
        }
        // Without a sandbox, the call reaches the network.
        let opens_network = *level == Some(SandboxLevel::Off) && current.level != SandboxLevel::Off;
        let network = network.or(opens_network.then_some(Network::On));
        if let Some(network) = network.filter(|network| *network != current.network) {
            add("network", current.network.word(), network.word());
        }
        for host in hosts.iter().filter(|host| !current.hosts.contains(host)) {
            add("hosts", "", host);
        }
        for path in writable {
            add("writable", "", path);
        }
        changes
    }
}

#[async_trait]
impl Approver for PendingApproval {
    async fn approve(&self, _: &Proposal<'_>) -> Approval {
        Approval::Allow
    }

    async fn escalate(&self, proposal: &Proposal<'_>, reason: &str) -> Approval {
        let (answer, answered) = oneshot::channel();
        let wanted = proposal.request.sandbox.clone();
        let question = wanted.map(|wanted| ApprovalQuestion {
            command: proposal.command_shown().into_owned(),
            reason: reason.to_owned(),
            requested: wanted,
            answer,
        });
        let is_asked = question.is_some_and(|question| self.ask.send(question).is_ok());
        // The interface may have ended before or during the question.
        if is_asked && answered.await == Ok(true) {
            return Approval::Allow;
        }
        Approval::Deny {
            reason: DENIAL_REASON.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use agent_bash::core::{Cancel, Request, Status};
    use agent_bash::process::SystemClock;
    use agent_bash::{BashTool, ESCALATION_RULE, Escalation, HostContext, profiles};
    use agent_bash_test_kit::FaultyExecutor;

    /// A tool whose executor panics when it runs.
    fn tool(approvals: &Approvals) -> BashTool {
        let host = HostContext::capture("/".into());
        let clock = Arc::new(SystemClock::new());
        BashTool::builder(profiles::STANDARD, host, Arc::new(FaultyExecutor), clock)
            .sandbox(SandboxSettings {
                level: SandboxLevel::ReadOnly,
                escalation: Escalation::Ask,
                ..SandboxSettings::default()
            })
            .approver(approvals.approver())
            .build()
    }

    async fn call(tool: &BashTool, cancel: &Cancel) -> Status {
        let mut request = Request::new("x");
        request.sandbox = Some(outside_request("it must"));
        tool.execute(request, cancel).await.status
    }

    #[tokio::test]
    async fn call_waits_for_the_answer() {
        let mut approvals = Approvals::new();
        let tool = tool(&approvals);
        for allowed in [false, true] {
            let cancel = Cancel::new();
            let answered = async {
                let question = approvals.next_question().await;
                assert_eq!((&*question.command, &*question.reason), ("x", "it must"));
                let changes = question.loosened_settings(tool.sandbox());
                let wanted = [["level", "read_only", "off"], ["network", "off", "on"]];
                assert_eq!(changes, wanted);
                question.answer(allowed);
            };
            let (status, ()) = tokio::join!(call(&tool, &cancel), answered);
            let was_refused =
                matches!(&status, Status::Blocked { rule, .. } if rule == ESCALATION_RULE);
            assert_eq!(was_refused, !allowed, "{status:?}");
            assert_eq!(matches!(status, Status::Lost { .. }), allowed, "{status:?}");
        }
    }

    #[tokio::test]
    async fn question_ends_with_its_call_and_is_denied_without_an_interface() {
        let mut approvals = Approvals::new();
        let tool = tool(&approvals);
        let cancel = Cancel::new();
        let question = async {
            let question = approvals.next_question().await;
            assert!(!question.is_withdrawn());
            cancel.cancel();
            question
        };
        let (status, question) = tokio::join!(call(&tool, &cancel), question);
        assert_eq!(status, Status::Cancelled);
        assert!(question.is_withdrawn());
        drop(approvals);
        let status = call(&tool, &Cancel::new()).await;
        assert!(matches!(status, Status::Blocked { .. }), "{status:?}");
    }

    #[test]
    fn unchanged_settings_are_not_listed() {
        let wanted = SandboxRequest {
            level: Some(SandboxLevel::ReadOnly),
            network: Some(Network::On),
            hosts: Vec::new(),
            writable: vec!["/a".to_owned()],
            reason: String::new(),
        };
        let (question, _) = ApprovalQuestion::of("x", wanted);
        let current = SandboxSettings {
            level: SandboxLevel::ReadOnly,
            ..SandboxSettings::default()
        };
        let wanted = [["network", "off", "on"], ["writable", "", "/a"]];
        assert_eq!(question.loosened_settings(&current), wanted);
    }
}
