//! Opens a conversation whose calls are checked on this machine and run on a target.

use super::{Conversation, ConversationOptions, OpenError, SessionParts};
use crate::settings::Settings;
use crate::{BashTool, BashToolBuilder, HostContext};
use agent_bash_core::{
    Cancel, Executor, NotStarted, Outcome, OutputConsumer, RunSpec, async_trait, hex,
};
use agent_bash_remote::protocol::{Hello, PROTOCOL_VERSION, Unlogged};
use agent_bash_remote::{LocalHost, Remote, RemoteSession, Target, Uploads};
use agent_bash_sink::host_secret;
use serde_json::json;
use sha2::{Digest, Sha256};
use std::path::PathBuf;
use std::sync::Arc;

/// An executor that refuses to run commands on this machine, because calls run on the target.
struct NoExecutor;

#[async_trait]
impl Executor for NoExecutor {
    async fn run(
        &self,
        _: &RunSpec,
        _: &mut dyn OutputConsumer,
        _: &Cancel,
    ) -> Result<Outcome, NotStarted> {
        Err(NotStarted::new("commands run on the target"))
    }
}

impl Conversation {
    /// Opens a conversation whose calls are checked on this machine and run on `target`. A worker
    /// of agent-bash runs on the target. If the target lacks agent-bash, the program is uploaded
    /// from `uploads`. `host` describes this machine; `add` extends the tool's builder,
    /// as in [`Self::open_with`].
    ///
    /// An unreachable target is not an error here. Each call tries again to connect. If this fails,
    /// the call reports why it was not started.
    ///
    /// # Errors
    /// [`OpenError`].
    pub async fn open_on(
        target: Target,
        uploads: Arc<Uploads>,
        settings: &Settings,
        host: HostContext,
        options: ConversationOptions,
        add: impl FnOnce(BashToolBuilder) -> BashToolBuilder + Send,
    ) -> Result<Self, OpenError> {
        let ConversationOptions { name, clock, .. } = options;
        let token = token(&host, &target);
        let local_host = LocalHost {
            env: Arc::clone(&host.env),
            cwd: host.cwd.clone(),
            clock: Arc::clone(&clock),
        };
        // The suffix separates the conversations of different hosts on the same target.
        let remote_name = match &token {
            Some(token) => format!("{name}-{}", &token[..8]),
            None => name,
        };
        let hello = Hello {
            protocol: Some(PROTOCOL_VERSION),
            session: Some(remote_name.clone()),
            token: token.map(Unlogged),
            lease: Some(json!(target.lease.as_secs_f64())),
            settings: Some(Unlogged(settings.to_remote())),
            cwd: target.cwd.clone(),
            env: Some(Unlogged(target.env.clone())),
            ..Hello::default()
        };
        let remote = Remote::new(target, uploads, local_host, hello);
        let connection = remote.prepared().await;
        if let Err(error) = &connection {
            tracing::warn!(%error, "the target is tried again with each call");
        }
        let machine = connection.ok().map(|connection| connection.machine.clone());
        let cwd = machine.as_ref().map(|machine| machine.cwd.clone());
        let cwd = cwd.or_else(|| remote.target().cwd.clone());
        let profile = settings.profile();
        let shell = machine.as_ref().and_then(|machine| machine.bash.clone());
        let remote_session = RemoteSession::new(
            remote,
            remote_name,
            shell.map(PathBuf::from),
            profile.output,
            Arc::clone(&clock),
        );
        // The policy uses the directories of the remote host, not of this machine.
        let remote_context = HostContext {
            cwd: cwd
                .map(PathBuf::from)
                .filter(|cwd| cwd.is_absolute())
                .unwrap_or("/".into()),
            home: machine.and_then(|machine| machine.home).map(PathBuf::from),
            env: Arc::default(),
            tools: host.tools,
            processes: Arc::default(),
        };
        let builder = BashTool::builder(profile, remote_context, Arc::new(NoExecutor), clock);
        let builder = builder
            .settings(settings)?
            .sessions(true)
            .remote_host(Arc::new(remote_session));
        Ok(Self::new(add(builder).build(), SessionParts::default()))
    }
}

/// Returns the token with which this host proves to a target that a state directory on the target
/// belongs to this host. Each target gets another token. `None` if the host's secret cannot be
/// stored. Then a later conversation does not find the state directory again.
fn token(host: &HostContext, target: &Target) -> Option<String> {
    let root = host.state_dir()?;
    let secret = host_secret(&root)
        .inspect_err(|error| tracing::warn!(%error, "without a stored secret, later conversations do not find their sessions on targets"))
        .ok()?;
    let mut digest = Sha256::new();
    digest.update(secret);
    digest.update(target.name.as_bytes());
    Some(hex(&digest.finalize()))
}
