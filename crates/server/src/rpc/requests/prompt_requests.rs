//! The parts of requests that are about password prompts.

use crate::rpc::answer::RpcAnswer;
use crate::rpc::dispatch::ServedRequest;
use crate::rpc::prompts::PromptApprover;
use agent_bash::Approver;
use agent_bash_protocol::Unlogged;
use std::sync::Arc;

impl ServedRequest {
    /// Passes on the user's answer to a prompt.
    pub(in crate::rpc) fn answer_prompt(
        &self,
        prompt: u64,
        answer: Option<Unlogged<String>>,
    ) -> RpcAnswer {
        let none = "`prompt.answer`: `hello` has not announced `prompts`";
        let prompts = self.prompts.as_ref().ok_or_else(|| none.to_owned())?;
        prompts.answer(prompt, answer.map(|answer| answer.0))?;
        Ok(None)
    }

    /// Returns the approver of a call, if its client answers prompts.
    pub(in crate::rpc) fn prompt_approver(&self) -> Option<Arc<dyn Approver>> {
        Some(Arc::new(PromptApprover {
            id: self.id.clone(),
            open: self.prompts.clone()?,
            outbox: self.outbox.clone(),
            others: Arc::clone(self.session.tool().approver()),
        }))
    }
}
