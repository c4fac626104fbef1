//! The library as an interface: a tool with real shells in this process, as in an agent written in
//! Rust.

use agent_bash::core::Cancel;
use agent_bash::process::supervisor::{Supervisor, Token};
use agent_bash::session::{Conversation, ConversationOptions};
use agent_bash::sink::Lifetime;
use agent_bash::{HostContext, settings};
use agent_bash_tests::conformance::{Call, Reply, Surface};
use agent_bash_tests::poll;
use agent_bash_tests::server_client::ServerClient;
use anyhow::{Result, bail};
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Runtime;

/// The library.
#[derive(Debug)]
pub(crate) struct Library {
    runtime: Runtime,
    token: Token,
}

impl Library {
    /// A token that proves that this program's `main` starts as a host's must.
    pub(crate) fn new(token: Token) -> Result<Self> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()?;
        Ok(Self { runtime, token })
    }

    /// Uses warm shells, unlike the command line, so that the case also finds their leftovers.
    fn session(&self, call: &Call<'_>) -> Result<Conversation> {
        let mut environment = call.world.environment();
        environment.extend(call.environment.clone());
        let host = HostContext {
            cwd: call.world.cwd(),
            home: Some(call.world.home()),
            env: Arc::new(
                environment
                    .into_iter()
                    .map(|(name, value)| (name.into(), value.into()))
                    .collect(),
            ),
            tools: call.tools.map(<[String]>::to_vec),
            processes: Arc::default(),
        };
        let mut loaded = settings::load(&host)?;
        loaded.set("profile", call.profile, "the case")?;
        let options = ConversationOptions {
            // As on the command line: cases read artifacts after the call.
            lifetime: Lifetime::Day,
            ..ConversationOptions::long_lived("library", Supervisor::this_program(&self.token))
        };
        Ok(Conversation::open(&loaded.settings, host, options)?)
    }
}

impl Surface for Library {
    fn name(&self) -> &'static str {
        "library"
    }

    fn call(&self, call: &Call<'_>, _: &mut Option<ServerClient>) -> Result<Reply> {
        let request: serde_json::Value = serde_json::from_str(call.request)?;
        let cancel = Cancel::new();
        // Shells are started and ended on the runtime, so the tool must be created and dropped
        // there.
        let _on_runtime = self.runtime.enter();
        let session = self.session(call)?;
        let tool = session.tool();
        let running = {
            let (tool, cancel) = (tool.clone(), cancel.clone());
            self.runtime
                .spawn(async move { tool.execute(request, &cancel).await })
        };
        if let Some(file) = &call.cancel_when {
            poll::until(Duration::from_secs(30), || {
                (file.exists() || running.is_finished()).then_some(())
            });
            if running.is_finished() {
                bail!("the call ended before {} was there", file.display());
            }
            cancel.cancel();
        }
        let result = self.runtime.block_on(running)?;
        Ok(Reply {
            text: result.text.clone(),
            exit_code: Some(result.status.exit_code().into()),
            result: Some(serde_json::to_value(result)?),
            ..Reply::default()
        })
    }
}
