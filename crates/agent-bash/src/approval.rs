//! The host's approval of a command before anything is started. By default, all commands are
//! allowed.

use agent_bash_core::changes::Changes;
use agent_bash_core::{Request, visible};
use agent_bash_policy::{Finding, Verdict};
use agent_bash_process::Asker;
use async_trait::async_trait;
use std::borrow::Cow;
use std::path::Path;

/// Approves commands before they are started. A host that asks its user implements this trait. The
/// call waits for the answer, and cancelling the call ends the wait.
#[async_trait]
pub trait Approver: Send + Sync {
    /// Allows or denies a command.
    async fn approve(&self, proposal: &Proposal<'_>) -> Approval;

    /// Allows or denies a command that asks to run without a sandbox, for the reason that the model
    /// gives. Called instead of [`Self::approve`]. The default denies.
    async fn escalate(&self, proposal: &Proposal<'_>, reason: &str) -> Approval {
        let _ = (proposal, reason);
        Approval::Deny {
            reason: NO_APPROVER.to_owned(),
        }
    }

    /// Allows or denies one run of a command that a rule refuses. The default returns `None`: the
    /// host has no user to ask, and the command is refused.
    async fn allow_once(&self, proposal: &Proposal<'_>, finding: &Finding) -> Option<Approval> {
        let _ = (proposal, finding);
        None
    }

    /// Allows or denies that the model commits a trial. The default denies.
    async fn commit(&self, trial: &Changes) -> Approval {
        let id = trial.id;
        Approval::Deny {
            reason: format!(
                "committing trial {id} needs approval, and no approver is available here"
            ),
        }
    }

    /// True if [`Self::answer_prompt`] can ask the user now. If false, the programs of a call fail
    /// instead of asking. The default returns false.
    fn answers_prompts(&self) -> bool {
        false
    }

    /// Asks the user for the password that a program of a running call wants. `None` if the user
    /// declines. Dropping the future withdraws the question. The answer must not be stored, and
    /// must not reach the model.
    async fn answer_prompt(&self, prompt: &PasswordPrompt<'_>) -> Option<String> {
        let _ = prompt;
        None
    }
}

/// A question that a program of a running call puts to the user through its askpass program:
/// usually for a password. The command may be wrong about the purpose: it gets the answer.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct PasswordPrompt<'a> {
    /// The text of the program, of at most 2 KiB. For display, use [`Self::text_shown`].
    pub text: &'a str,
    /// The process that asks, and processes above it.
    pub askers: &'a [Asker],
    /// The script of the call.
    pub command: &'a str,
}

impl PasswordPrompt<'_> {
    /// Returns the text for display on one line: control and hidden characters are marked.
    pub fn text_shown(&self) -> Cow<'_, str> {
        visible::one_line(self.text)
    }

    /// Returns the script for display: control and hidden characters are marked.
    pub fn command_shown(&self) -> Cow<'_, str> {
        visible::shown(self.command)
    }

    /// Returns a line for each process that asks: its command line, program and pid.
    pub fn askers_shown(&self) -> Vec<String> {
        let lines = self.askers.iter().map(|asker| {
            let (command, program) = (
                visible::one_line(&asker.command),
                visible::one_line(&asker.program),
            );
            format!("{command} ({program}, pid {})", asker.pid)
        });
        lines.collect()
    }
}

/// The reason of the denial by [`Approver::escalate`] if a host does not implement it.
const NO_APPROVER: &str = "running with escalated permissions needs approval, and no approver is available here; run the \
     command without escalated permissions";

/// A command to be approved.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Proposal<'a> {
    /// The script that the shell would get. For display, use [`Self::command_shown`].
    pub command: &'a str,
    /// The command's working directory; absolute.
    pub cwd: &'a Path,
    /// The complete request.
    pub request: &'a Request,
    /// The policy's verdict on the command.
    ///
    /// The verdict is [`Verdict::Block`] in [`Approver::allow_once`], for a command that the user
    /// allowed, and for a trial that the setting `changes.trial_passes_rules` lets pass.
    pub verdict: &'a Verdict,
}

impl Proposal<'_> {
    /// Returns the working directory for display on one line: control and hidden characters are
    /// marked, since an earlier call may have named the directory.
    pub fn cwd_shown(&self) -> String {
        visible::one_line(&self.cwd.to_string_lossy()).into_owned()
    }

    /// Returns the script for display, after a line for each variable of the request, since
    /// variables can choose what the script runs. Control and hidden characters are marked.
    pub fn command_shown(&self) -> Cow<'_, str> {
        let command = visible::shown(self.command);
        if self.request.env.is_empty() {
            return command;
        }
        let lines = self.request.env.iter().map(|(name, value)| {
            let name = visible::one_line(name);
            match value {
                Some(value) => format!("{name}={}\n", visible::one_line(value)),
                None => format!("unset {name}\n"),
            }
        });
        let variables: String = lines.collect();
        Cow::Owned(variables + &command)
    }
}

/// The host's decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Approval {
    /// Run the command.
    Allow,
    /// Do not run the command. The call ends as `blocked` with rule [`crate::APPROVAL_RULE`].
    Deny {
        /// The reason, which the model reads.
        reason: String,
    },
}

/// An approver that allows all commands.
#[derive(Debug, Clone, Copy, Default)]
pub struct AllowAll;

#[async_trait]
impl Approver for AllowAll {
    async fn approve(&self, _: &Proposal<'_>) -> Approval {
        Approval::Allow
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_is_shown_with_the_variables_of_its_request_and_directory_on_one_line() {
        let request = Request::new("make\u{202e}").env([
            ("PATH".to_owned(), Some("/work/bin\n".to_owned())),
            ("CI".to_owned(), None),
        ]);
        let proposal = Proposal {
            command: &request.command,
            cwd: Path::new("/work\n\nls"),
            request: &request,
            verdict: &Verdict::Allow,
        };
        let shown = "unset CI\nPATH=/work/bin⏎\nmake<U+202E>";
        assert_eq!(proposal.command_shown(), shown);
        assert_eq!(proposal.cwd_shown(), "/work⏎⏎ls");
    }
}
