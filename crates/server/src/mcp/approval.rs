//! Asks the client's user for approvals that a model cannot give.
//!
//! Before revision 2026-07-28, the server sends `elicitation/create` and waits. Since then, a
//! server sends no requests: it answers the tool call with the question (`input_required`), and the
//! client repeats the call with its user's answer. The command only runs in the repeated call.
//!
//! A password prompt of a running command cannot be repeated. It is asked only before revision
//! 2026-07-28, and only with a page ([`PromptPage`]): the protocol forbids forms for passwords.

use super::prompt_page::PromptPage;
use agent_bash::core::changes::Changes;
use agent_bash::core::sandbox::{SandboxLevel, SandboxRequest};
use agent_bash::core::{Clock, async_trait, lock, visible};
use agent_bash::policy::Finding;
use agent_bash::{AllowAll, Approval, Approver, PasswordPrompt, Proposal};
use rmcp::model::{
    CallToolRequestParams, ClientResult, ElicitRequest, ElicitRequestParams, ElicitResult,
    ElicitationAction, ElicitationSchema, InputRequest, InputRequests, InputRequiredResult,
    ProtocolVersion, ServerRequest,
};
use rmcp::service::RequestContext;
use rmcp::{Peer, RoleServer};
use std::collections::{BTreeMap, VecDeque};
use std::fmt::Write as _;
use std::pin::pin;
use std::sync::{Arc, Mutex};

/// Maximum number of files named in a question.
const MAX_NAMED_FILES: usize = 20;

/// Maximum number of questions that wait for a repeated call. A client that never repeats a call
/// leaves its question open.
const MAX_OPEN_QUESTIONS: usize = 64;

/// The name of a question within its answer.
const QUESTION_NAME: &str = "approval";

/// A question and the user's answer; `None` if the client sent no answer.
type AnsweredQuestion = (String, Option<ElicitationAction>);

/// The questions of one server that wait for a repeated call.
#[derive(Debug, Default)]
pub(super) struct ApprovalQuestions(Mutex<OpenQuestions>);

#[derive(Debug, Default)]
struct OpenQuestions {
    next: u64,
    questions: VecDeque<OpenQuestion>,
}

/// A question that was sent as the answer to a call.
#[derive(Debug)]
struct OpenQuestion {
    /// The question's name, which is the call's `requestState`.
    state: String,
    /// All questions of the call so far; the last one has no answer yet.
    answered: Vec<AnsweredQuestion>,
}

/// Asks the client's user on behalf of one request. If the client cannot ask its user, this
/// approver decides like a session without an approver.
#[derive(Debug)]
pub(super) struct RequestApprover {
    method: AskMethod,
    /// Answers that came with the request.
    answered: Vec<AnsweredQuestion>,
    /// The question that is sent as the answer to the request.
    open: Mutex<Option<String>>,
    /// The client, if it can open a page for its user while the request is served.
    pages: Option<Peer<RoleServer>>,
    clock: Arc<dyn Clock>,
}

/// How the client's user is asked.
#[derive(Debug)]
enum AskMethod {
    /// With a request to the client.
    Elicitation(Peer<RoleServer>),
    /// With the answer to the request.
    InputRequired,
    /// The client cannot ask.
    None,
}

impl ApprovalQuestions {
    /// Returns the approver of a request, with the answers in the request.
    pub(super) fn approver(
        &self,
        request: &mut CallToolRequestParams,
        context: &RequestContext<RoleServer>,
        clock: &Arc<dyn Clock>,
    ) -> Arc<RequestApprover> {
        let mut answered = Vec::new();
        if let Some(state) = request.request_state.take() {
            answered = self.take_answers(&state);
            if let Some((_, action)) = answered.last_mut() {
                let responses = request.input_responses.take().unwrap_or_default();
                let response = responses.get(QUESTION_NAME).cloned();
                let response =
                    response.and_then(|value| serde_json::from_value::<ElicitResult>(value).ok());
                *action = response.map(|response| response.action);
            }
        }
        Arc::new(RequestApprover {
            method: AskMethod::of(context),
            answered,
            open: Mutex::default(),
            pages: client_with_pages(context),
            clock: Arc::clone(clock),
        })
    }

    /// Returns the answer to a request whose approver has a question.
    pub(super) fn required(&self, approver: &RequestApprover) -> Option<InputRequiredResult> {
        let open = &approver.open;
        let question = lock(open).take()?;
        let mut answered = approver.answered.clone();
        answered.push((question.clone(), None));
        let request = InputRequest::Elicitation(elicitation(question));
        let requests = InputRequests::from([(QUESTION_NAME.to_owned(), request)]);
        Some(InputRequiredResult::new(
            Some(requests),
            Some(self.add(answered)),
        ))
    }

    /// Stores the questions of a call. Returns the state that the repeated call must send.
    fn add(&self, answered: Vec<AnsweredQuestion>) -> String {
        let mut open = lock(&self.0);
        open.next += 1;
        let state = format!("question-{}", open.next);
        if open.questions.len() == MAX_OPEN_QUESTIONS {
            open.questions.pop_front();
        }
        open.questions.push_back(OpenQuestion {
            state: state.clone(),
            answered,
        });
        state
    }

    /// Removes and returns the answers of a state, so that each answer counts only once. An unknown
    /// state has no answers, so its call asks again.
    fn take_answers(&self, state: &str) -> Vec<AnsweredQuestion> {
        let questions = &mut lock(&self.0).questions;
        let found = questions
            .iter()
            .position(|question| question.state == state);
        let found = found.and_then(|index| questions.remove(index));
        found.map(|question| question.answered).unwrap_or_default()
    }
}

impl AskMethod {
    fn of(context: &RequestContext<RoleServer>) -> Self {
        let capabilities = context.client_capabilities();
        let elicitation = capabilities.and_then(|capabilities| capabilities.elicitation);
        // The first versions had only forms, and sent the capability without the two fields.
        if !elicitation.is_some_and(|modes| modes.form.is_some() || modes.url.is_none()) {
            return Self::None;
        }
        match context.protocol_version() {
            Some(version) if version >= ProtocolVersion::V_2026_07_28 => Self::InputRequired,
            _ => Self::Elicitation(context.peer.clone()),
        }
    }
}

impl RequestApprover {
    /// Asks the user, unless the request has the answer. `proposed_action` names the action in
    /// reasons.
    async fn ask(&self, message: String, proposed_action: &str) -> Approval {
        let answered = self.answered.iter().find(|(answer, _)| *answer == message);
        let reason = match (&self.method, answered) {
            (_, Some((_, Some(action)))) => return decision(action, proposed_action),
            (_, Some((_, None))) => no_answer(proposed_action),
            (AskMethod::Elicitation(client), None) => match elicit(client, elicitation(message))
                .await
            {
                Ok(action) => return decision(&action, proposed_action),
                Err(error) => {
                    format!("the client could not ask its user about {proposed_action}: {error}")
                }
            },
            (_, None) => {
                *lock(&self.open) = Some(message);
                format!("the user is being asked about {proposed_action}")
            }
        };
        Approval::Deny { reason }
    }
}

#[async_trait]
impl Approver for RequestApprover {
    async fn approve(&self, _: &Proposal<'_>) -> Approval {
        Approval::Allow
    }

    async fn escalate(&self, proposal: &Proposal<'_>, reason: &str) -> Approval {
        if matches!(self.method, AskMethod::None) {
            return AllowAll.escalate(proposal, reason).await;
        }
        let command = proposal.command_shown();
        let (cwd, reason) = (proposal.cwd_shown(), visible::one_line(reason));
        let wanted = wanted_sandbox(proposal.request.sandbox.as_ref());
        let message =
            format!("Run this {wanted}, in {cwd}?\n\n{command}\n\nThe reason given: {reason}");
        self.ask(message, &format!("running it {wanted}")).await
    }

    async fn allow_once(&self, proposal: &Proposal<'_>, finding: &Finding) -> Option<Approval> {
        if matches!(self.method, AskMethod::None) {
            return None;
        }
        let (command, cwd) = (proposal.command_shown(), proposal.cwd_shown());
        let (rule, reason) = (&finding.rule, visible::one_line(&finding.message));
        let message = format!(
            "Run this once, although the rule {rule} refuses it, in {cwd}?\n\n{command}\n\n{reason}"
        );
        Some(self.ask(message, "running it").await)
    }

    async fn commit(&self, trial: &Changes) -> Approval {
        if matches!(self.method, AskMethod::None) {
            return AllowAll.commit(trial).await;
        }
        self.ask(question(trial), "committing it").await
    }

    fn answers_prompts(&self) -> bool {
        self.pages.is_some()
    }

    async fn answer_prompt(&self, prompt: &PasswordPrompt<'_>) -> Option<String> {
        let client = self.pages.as_ref()?;
        let page = PromptPage::open(&prompt_question(prompt)).await;
        let page = page
            .inspect_err(|error| tracing::warn!(%error, "no page for a password prompt"))
            .ok()?;
        let mut consent = pin!(elicit_page(client, prompt, page.url()));
        let mut answer = pin!(page.answer(&self.clock));
        tokio::select! {
            biased;
            answer = &mut answer => return answer,
            accepted = &mut consent => {
                if !accepted {
                    return None;
                }
            }
        }
        answer.await
    }
}

/// Returns the sandbox that a call asks for, as the end of `run it`.
fn wanted_sandbox(request: Option<&SandboxRequest>) -> String {
    let narrower = request.filter(|wanted| wanted.level != Some(SandboxLevel::Off));
    let Some(wanted) = narrower else {
        return "outside of the sandbox".to_owned();
    };
    let level = wanted.level.map(|level| format!("level {level}"));
    let network = wanted.network.map(|network| format!("network {network}"));
    let list = |name, all: &[String]| {
        let all = all.join(", ");
        (!all.is_empty()).then(|| format!("{name} {all}"))
    };
    let (hosts, writable) = (
        list("hosts", &wanted.hosts),
        list("writable", &wanted.writable),
    );
    let parts: Vec<String> = [level, network, hosts, writable]
        .into_iter()
        .flatten()
        .collect();
    let parts = parts.join("; ");
    format!("in a wider sandbox ({})", visible::one_line(&parts))
}

fn decision(action: &ElicitationAction, proposed_action: &str) -> Approval {
    let reason = match action {
        ElicitationAction::Accept => return Approval::Allow,
        ElicitationAction::Decline => format!("the user was asked, and declined {proposed_action}"),
        _ => no_answer(proposed_action),
    };
    Approval::Deny { reason }
}

fn no_answer(proposed_action: &str) -> String {
    format!("the user was asked about {proposed_action}, and gave no answer")
}

/// Returns the question for a commit.
fn question(trial: &Changes) -> String {
    let root = visible::one_line(&trial.root);
    let (id, counts) = (trial.id, trial.counts.in_words());
    let counts = if counts.is_empty() {
        "no changes".to_owned()
    } else {
        counts
    };
    let mut text = format!("Apply what trial {id} held back to {root}? {counts}:");
    for file in trial.files.iter().take(MAX_NAMED_FILES) {
        // Writing to a String cannot fail.
        let name = visible::one_line(&file.name.path);
        let _ = write!(text, "\n{} {name}", file.change.word());
    }
    let named = trial.files.len().min(MAX_NAMED_FILES) as u64;
    if let more @ 1.. = trial.counts.total().saturating_sub(named) {
        let _ = write!(text, "\nand {more} more");
    }
    text
}

/// Returns the request for a form without fields, which the user accepts or declines.
fn elicitation(message: String) -> ElicitRequest {
    ElicitRequest::new(ElicitRequestParams::FormElicitationParams {
        meta: None,
        message,
        requested_schema: ElicitationSchema::new(BTreeMap::new()),
    })
}

/// Returns the client if it can open a page for its user in the middle of a call.
fn client_with_pages(context: &RequestContext<RoleServer>) -> Option<Peer<RoleServer>> {
    let elicitation = context.client_capabilities()?.elicitation?;
    let can_be_asked = context
        .protocol_version()
        .is_none_or(|version| version < ProtocolVersion::V_2026_07_28);
    (elicitation.url.is_some() && can_be_asked).then(|| context.peer.clone())
}

/// Returns the text of the page for a password prompt. Everything but the frame comes from the
/// command.
fn prompt_question(prompt: &PasswordPrompt<'_>) -> String {
    let askers = prompt.askers_shown().join("\nstarted by ");
    format!(
        "The program says:\n{}\n\nThe program that asks:\n{askers}\n\nThe command of the model:\n{}",
        prompt.text_shown(),
        prompt.command_shown()
    )
}

/// Asks the client's user to open the page. Returns false if the user refuses.
async fn elicit_page(client: &Peer<RoleServer>, prompt: &PasswordPrompt<'_>, url: String) -> bool {
    let message = format!(
        "A command of the model asks for a password: {}\n\n{}\n\nOpen the page to answer it.",
        prompt.text_shown(),
        prompt.command_shown()
    );
    // The token of the address is unique.
    let name = url.rsplit('/').next().unwrap_or_default();
    let elicitation_id = format!("prompt-{}", &name[..name.len().min(8)]);
    let request = ElicitRequest::new(ElicitRequestParams::UrlElicitationParams {
        meta: None,
        message,
        url,
        elicitation_id,
    });
    match elicit(client, request).await {
        Ok(action) => action == ElicitationAction::Accept,
        Err(error) => {
            tracing::warn!(%error, "the client cannot ask its user");
            false
        }
    }
}

/// Sends the question and waits for the answer.
async fn elicit(
    client: &Peer<RoleServer>,
    request: ElicitRequest,
) -> Result<ElicitationAction, String> {
    let request = ServerRequest::ElicitRequest(request);
    match client.send_request(request).await {
        Ok(ClientResult::ElicitResult(answer)) => Ok(answer.action),
        Ok(_) => Err("its response is not the result of a form".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn question_names_the_sandbox_that_a_call_asks_for() {
        assert_eq!(wanted_sandbox(None), "outside of the sandbox");
        for (request, want) in [
            (
                json!({"level": "off", "reason": "r"}),
                "outside of the sandbox",
            ),
            (
                json!({"network": "on", "writable": ["/a\nb"], "reason": "r"}),
                "in a wider sandbox (network on; writable /a⏎b)",
            ),
            (
                json!({"hosts": ["a.example", "b.example"], "reason": "r"}),
                "in a wider sandbox (hosts a.example, b.example)",
            ),
        ] {
            let request: SandboxRequest = serde_json::from_value(request).unwrap();
            assert_eq!(wanted_sandbox(Some(&request)), want);
        }
    }
}
