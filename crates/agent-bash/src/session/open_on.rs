//! Opens a session whose calls run on a target: judged here, run there.

use super::remote_session::RemoteSession;
use super::{Conversation, ConversationOptions, OpenError, SessionParts};
use crate::settings::Settings;
use crate::{BashTool, BashToolBuilder, HostContext};
use agent_bash_core::{
    Cancel, Executor, NotStarted, Outcome, OutputConsumer, RunSpec, async_trait,
};
use agent_bash_remote::protocol::{Hello, PROTOCOL_VERSION, Unlogged};
use agent_bash_remote::{LocalHost, Remote, Target, Uploads};
use agent_bash_sink::host_secret;
use serde_json::json;
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

/// Runs nothing: calls run on the target.
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
    /// Opens a session whose calls are judged here and run on `target`, by our program there, which
    /// is uploaded from `uploads` where it is missing. `host` is this machine; `add` adds to the
    /// tool, as in [`Self::open_with`].
    ///
    /// A target that is not reached is no error: each call tries again, and says why it was not
    /// started.
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
        let here = LocalHost {
            env: Arc::clone(&host.env),
            cwd: host.cwd.clone(),
            clock: Arc::clone(&clock),
        };
        // Hosts that share a target have sessions of their own there.
        let called = match &token {
            Some(token) => format!("{name}-{}", &token[..8]),
            None => name,
        };
        let hello = Hello {
            protocol: Some(PROTOCOL_VERSION),
            session: Some(called.clone()),
            token: token.map(Unlogged),
            lease: Some(json!(target.lease.as_secs_f64())),
            settings: Some(Unlogged(settings.to_remote())),
            cwd: target.cwd.clone(),
            env: Some(Unlogged(target.env.clone())),
            ..Hello::default()
        };
        let remote = Remote::new(target, uploads, here, hello);
        let reached = remote.prepared().await;
        if let Err(error) = &reached {
            tracing::warn!(%error, "the target is tried again with each call");
        }
        let machine = reached.ok().map(|connection| connection.machine.clone());
        let cwd = machine.as_ref().map(|machine| machine.cwd.clone());
        let cwd = cwd.or_else(|| remote.target().cwd.clone());
        let profile = settings.profile();
        let place = RemoteSession {
            shell: machine
                .as_ref()
                .and_then(|machine| machine.bash.clone())
                .map(PathBuf::from),
            remote,
            session: called,
            limits: profile.output,
            clock: Arc::clone(&clock),
        };
        // The facts of the remote host for the policy, none of this machine.
        let there = HostContext {
            cwd: cwd
                .map(PathBuf::from)
                .filter(|cwd| cwd.is_absolute())
                .unwrap_or("/".into()),
            home: machine.and_then(|machine| machine.home).map(PathBuf::from),
            env: Arc::default(),
            tools: host.tools,
        };
        let builder = BashTool::builder(profile, there, Arc::new(NoExecutor), clock);
        let builder = settings
            .configure(builder)?
            .sessions(true)
            .remote_host(Arc::new(place));
        Ok(Self::new(add(builder).build(), SessionParts::default()))
    }
}

/// Returns the token that proves to this remote host that the state directory is ours. Each remote
/// host has another one. `None` if nothing can be stored here; the directory is then not found
/// again.
fn token(host: &HostContext, target: &Target) -> Option<String> {
    let root = host.state_dir()?;
    let secret = host_secret(&root)
        .inspect_err(|error| tracing::warn!(%error, "sessions on targets are not found again"))
        .ok()?;
    let mut digest = Sha256::new();
    digest.update(secret);
    digest.update(target.name.as_bytes());
    let mut text = String::with_capacity(64);
    for byte in digest.finalize() {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    Some(text)
}
