//! Lets the user answer the password prompts of a call's programs. `ssh`, `sudo -A` and `git` start
//! an askpass program, which asks the host; the host's approver asks the user.
//!
//! Neither the model nor a record gets the answer. The command that asks gets it, and the user sees
//! which command that is.

use crate::approval::PasswordPrompt;
use crate::call::Call;
use crate::tool_context::ToolContext;
use agent_bash_core::sandbox::Plan;
use agent_bash_core::{Environment, Mode, Request};
use agent_bash_process::environment::{AnswerMask, PromptAnswers};
use agent_bash_process::{Askpass, AskpassPrompt};
use std::convert::Infallible;
use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

/// How long the user has for an answer. After that the question counts as declined.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5 * 60);

/// Maximum number of questions of one call. Further ones are declined.
const MAX_QUESTIONS: u32 = 16;

/// Returns the tool of a call whose password prompts the user may answer: its mask also masks the
/// answers. `None` for any other call.
pub(crate) fn prepare(tool: &ToolContext) -> Option<(ToolContext, PromptAnswers)> {
    tool.askpass.as_ref()?;
    if !tool.approver.answers_prompts() {
        return None;
    }
    let answers = PromptAnswers::default();
    let mut prepared = tool.clone();
    if let Some(others) = prepared.mask.take() {
        let answers = answers.clone();
        prepared.mask = Some(Arc::new(AnswerMask { answers, others }));
    }
    Some((prepared, answers))
}

/// The askpass program of a call.
pub(crate) struct CallAskpass {
    askpass: Askpass,
    answers: PromptAnswers,
    command: String,
    /// Number of questions so far.
    questions: u32,
}

/// Creates the askpass program of a call that was prepared for it. `None` if there is no such
/// program for the call: a job outlives its call, and no process in a sandbox reaches the host.
pub(crate) fn open(
    tool: &ToolContext,
    call: &Call,
    request: &Request,
    sandbox: Option<&Arc<Plan>>,
) -> Option<CallAskpass> {
    let answers = call.answers.clone()?;
    if sandbox.is_some() || request.mode == Some(Mode::Background) {
        return None;
    }
    let shell = tool.shell.as_ref().ok()?;
    let askpass = Askpass::new(&tool.host.temp_dir(), tool.askpass.as_deref()?, &shell.path);
    let askpass = askpass
        .inspect_err(|error| tracing::warn!(%error, "the user cannot answer prompts"))
        .ok()?;
    Some(CallAskpass {
        askpass,
        answers,
        command: call.command.clone(),
        questions: 0,
    })
}

impl CallAskpass {
    /// Adds the variables that name the askpass program, unless the request sets them.
    pub(crate) fn add_variables(&self, environment: &mut Environment) {
        for (name, value) in self.askpass.variables() {
            environment.changes.entry(name).or_insert(Some(value));
        }
    }

    async fn serve(&mut self, tool: &ToolContext) -> Infallible {
        loop {
            match self.askpass.next().await {
                Ok(prompt) => self.ask(tool, prompt).await,
                Err(error) => {
                    tracing::warn!(%error, "the user can no longer answer prompts");
                    pending::<()>().await;
                }
            }
        }
    }

    /// Asks the user. Without an answer, dropping the prompt declines it.
    async fn ask(&mut self, tool: &ToolContext, mut prompt: AskpassPrompt) {
        self.questions += 1;
        // After a refusal the call may not ask again.
        if self.answers.is_declined() || self.questions > MAX_QUESTIONS {
            return;
        }
        let (text, askers) = (prompt.text.clone(), prompt.askers.clone());
        let shown = PasswordPrompt {
            text: &text,
            askers: &askers,
            command: &self.command,
        };
        let answer = tokio::select! {
            biased;
            () = prompt.abandoned() => return,
            answer = tool.approver.answer_prompt(&shown) => answer,
            () = tool.clock.sleep(ANSWER_TIMEOUT) => None,
        };
        match answer {
            Some(answer) => {
                self.answers.add(&answer);
                prompt.answer(&answer).await;
            }
            None => self.answers.decline(),
        }
    }
}

/// Awaits a call, and serves its askpass program meanwhile.
pub(crate) async fn serving<T>(
    tool: &ToolContext,
    askpass: Option<CallAskpass>,
    work: impl Future<Output = T>,
) -> T {
    let Some(mut askpass) = askpass else {
        return work.await;
    };
    tokio::select! {
        biased;
        done = work => done,
        never = askpass.serve(tool) => match never {},
    }
}
