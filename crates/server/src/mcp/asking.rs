//! Asks the client's user what a model may not decide by itself, by the protocol's elicitation.

use agent_bash::core::changes::Changes;
use agent_bash::core::{async_trait, visible};
use agent_bash::{AllowAll, Approval, Approver, Proposal};
use rmcp::model::{
    ClientResult, ElicitRequest, ElicitRequestParams, ElicitationAction, ElicitationSchema,
    ServerRequest,
};
use rmcp::{Peer, RoleServer};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Arc, OnceLock};

/// Files named in a question at most.
const MAX_NAMED_FILES: usize = 20;

/// An approver that asks the client's user, if the client supports it. A host gives one clone to
/// the tool ([`BashToolBuilder::approver`](agent_bash::BashToolBuilder::approver)) and another to
/// the server ([`Options::asking`](super::Options::asking)). If the client cannot ask, it decides
/// as without an approver.
#[derive(Debug, Clone, Default)]
pub struct Asking(Arc<OnceLock<Peer<RoleServer>>>);

impl Asking {
    /// A client is served.
    pub(super) fn serves(&self, peer: &Peer<RoleServer>) {
        self.0.get_or_init(|| peer.clone());
    }

    /// The client, if its user can be asked.
    fn peer(&self) -> Option<&Peer<RoleServer>> {
        self.0.get().filter(|peer| {
            let info = peer.peer_info();
            let elicitation = info.and_then(|info| info.capabilities.elicitation.clone());
            // Without either, it is the capability of the first versions, which had forms only.
            elicitation.is_some_and(|it| it.form.is_some() || it.url.is_none())
        })
    }
}

#[async_trait]
impl Approver for Asking {
    async fn approve(&self, _: &Proposal<'_>) -> Approval {
        Approval::Allow
    }

    async fn escalate(&self, proposal: &Proposal<'_>, reason: &str) -> Approval {
        match self.peer() {
            None => AllowAll.escalate(proposal, reason).await,
            Some(client) => {
                let command = proposal.command_shown();
                let (cwd, reason) = (proposal.cwd.display(), visible::one_line(reason));
                let asked = format!(
                    "Run this outside of the sandbox, in {cwd}?\n\n{command}\n\nThe reason given: {reason}"
                );
                ask(client, asked, "running it outside of the sandbox").await
            }
        }
    }

    async fn commit(&self, trial: &Changes) -> Approval {
        match self.peer() {
            None => AllowAll.commit(trial).await,
            Some(client) => ask(client, question(trial), "committing it").await,
        }
    }
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

/// Asks until there is an answer. The form has no fields: to accept it is to say yes.
async fn ask(client: &Peer<RoleServer>, message: String, what: &str) -> Approval {
    let params = ElicitRequestParams::FormElicitationParams {
        meta: None,
        message,
        requested_schema: ElicitationSchema::new(BTreeMap::new()),
    };
    let request = ServerRequest::ElicitRequest(ElicitRequest::new(params));
    let reason = match client.send_request(request).await {
        Ok(ClientResult::ElicitResult(answer)) => match answer.action {
            ElicitationAction::Accept => return Approval::Allow,
            ElicitationAction::Decline => format!("the user was asked, and declined {what}"),
            _ => format!("the user was asked about {what}, and gave no answer"),
        },
        Ok(_) => format!("the client answered the question about {what} with something else"),
        Err(error) => format!("the client could not ask its user about {what}: {error}"),
    };
    Approval::Deny { reason }
}
