//! Password prompts of running commands, for a client that asks its user: each is a line to the
//! client, which answers it with a request.

use super::outbox::Outbox;
use agent_bash::core::changes::Changes;
use agent_bash::core::{async_trait, lock};
use agent_bash::policy::Finding;
use agent_bash::{Approval, Approver, PasswordPrompt, Proposal};
use agent_bash_protocol::message::RpcId;
use agent_bash_protocol::update::{PromptTag, RpcPrompt};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use tokio::sync::oneshot;

/// The open prompts of one client. Clones share them.
#[derive(Debug, Clone, Default)]
pub(super) struct OpenPrompts(Arc<Mutex<PromptTable>>);

#[derive(Debug, Default)]
struct PromptTable {
    last: u64,
    waiting: BTreeMap<u64, oneshot::Sender<Option<String>>>,
}

/// Asks the client for the answers to the prompts of one request. Other decisions are those of
/// another approver.
pub(super) struct PromptApprover {
    pub(super) id: Option<RpcId>,
    pub(super) open: OpenPrompts,
    pub(super) outbox: Outbox,
    pub(super) others: Arc<dyn Approver>,
}

impl OpenPrompts {
    /// Passes on the user's answer; `None` if the user declines.
    ///
    /// # Errors
    /// The prompt is not open.
    pub(super) fn answer(&self, prompt: u64, answer: Option<String>) -> Result<(), String> {
        let waiting = lock(&self.0).waiting.remove(&prompt);
        let sent = waiting.and_then(|waiting| waiting.send(answer).ok());
        sent.ok_or_else(|| format!("prompt {prompt} is not open; its program may have ended"))
    }

    fn open(&self) -> (u64, oneshot::Receiver<Option<String>>) {
        let (sender, receiver) = oneshot::channel();
        let mut table = lock(&self.0);
        // Prompts whose program has ended have no receiver.
        table.waiting.retain(|_, waiting| !waiting.is_closed());
        table.last += 1;
        let prompt = table.last;
        table.waiting.insert(prompt, sender);
        (prompt, receiver)
    }
}

#[async_trait]
impl Approver for PromptApprover {
    async fn approve(&self, proposal: &Proposal<'_>) -> Approval {
        self.others.approve(proposal).await
    }

    async fn escalate(&self, proposal: &Proposal<'_>, reason: &str) -> Approval {
        self.others.escalate(proposal, reason).await
    }

    async fn allow_once(&self, proposal: &Proposal<'_>, finding: &Finding) -> Option<Approval> {
        self.others.allow_once(proposal, finding).await
    }

    async fn commit(&self, trial: &Changes) -> Approval {
        self.others.commit(trial).await
    }

    fn answers_prompts(&self) -> bool {
        true
    }

    async fn answer_prompt(&self, prompt: &PasswordPrompt<'_>) -> Option<String> {
        let (number, answer) = self.open.open();
        let line = RpcPrompt {
            id: self.id.clone(),
            kind: PromptTag::Prompt,
            prompt: number,
            text: prompt.text_shown().into_owned(),
            askers: prompt.askers_shown(),
            command: prompt.command_shown().into_owned(),
        };
        self.outbox.send(&line).await;
        answer.await.ok().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn answer_reaches_its_prompt_once_and_no_closed_one() {
        let prompts = OpenPrompts::default();
        let (first, answer) = prompts.open();
        let (second, closed) = prompts.open();
        prompts.answer(first, Some("typed".to_owned())).unwrap();
        assert_eq!(answer.await.unwrap().as_deref(), Some("typed"));
        drop(closed);
        for prompt in [first, second, 99] {
            let error = prompts.answer(prompt, None).unwrap_err();
            assert!(error.contains("is not open"), "{error}");
        }
    }
}
