//! Checks scripts without running them, as for a call in a directory or a persistent shell.

use crate::predefined;
use crate::stage::working_directory;
use crate::tool_context::ToolContext;
use agent_bash_core::{Cancel, Request, SessionName};
use agent_bash_policy::{
    Context, ExpandedDefinition, Explanation, InterceptMode, Policy, Script, Verdict,
    expanded_definitions, explain,
};
use std::sync::Arc;

/// The call that a script is checked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CheckOptions {
    /// The model's other tools; `None` for [`HostContext::tools`](crate::HostContext::tools).
    pub tools: Option<Vec<String>>,
    /// The persistent shell that would run the script, by default in the shell's own directory.
    pub session: Option<SessionName>,
    /// The working directory, as in a [`Request`].
    pub cwd: Option<String>,
}

/// The checks of a call, with the definitions that the call's shell has before its script.
pub struct CallPolicy {
    policy: Policy,
    context: Context,
}

/// A verdict, and the definitions that led to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckedScript {
    /// The verdict.
    pub verdict: Verdict,
    /// The definitions that the shell has before the script, and that the script uses.
    pub definitions: Vec<ExpandedDefinition>,
}

impl CallPolicy {
    /// Returns the checks of a call whose shell has no definitions of the user.
    pub(crate) fn without_definitions(tool: &ToolContext, options: CheckOptions) -> Self {
        let host = &tool.host;
        let interception = tool.interception.as_deref();
        // In other modes, the interceptor does not block commands.
        let blocking = interception.filter(|options| options.mode == InterceptMode::Block);
        let tools = options.tools.or_else(|| host.tools.clone());
        let in_session = options.session.filter(|_| options.cwd.is_none());
        let cwd = in_session.and_then(|name| tool.executor.session_cwd(&name));
        let cwd = cwd.unwrap_or_else(|| working_directory::resolve(host, options.cwd.as_deref()));
        Self {
            policy: Policy {
                interceptor: blocking.map(|interception| interception.rules.clone()),
                safety: Some(tool.rules.clone()),
                safe_mode: tool.safe_mode.clone(),
                tools: tools.unwrap_or_default(),
            },
            context: Context {
                cwd,
                home: host.home.clone(),
                dialect: tool.dialect(),
                predefined: Arc::default(),
                protected: host.protected(),
            },
        }
    }

    /// Returns the checks of a call, after the earlier calls of its persistent shell; `None` if
    /// cancelled meanwhile.
    pub(crate) async fn of_call(
        tool: &ToolContext,
        options: CheckOptions,
        cancel: &Cancel,
    ) -> Option<Self> {
        let name = options.session.as_ref();
        let _permit = match name.map(|name| tool.queues.join(name)) {
            Some(queue_slot) => Some(queue_slot.acquire(cancel).await?),
            None => None,
        };
        // The aliases of git are read for scripts that may call git.
        let mut request = Request::new("git");
        request.session.clone_from(&options.session);
        let mut policy = Self::without_definitions(tool, options);
        let cwd = policy.context.cwd.clone();
        policy.context.predefined = predefined::of_call(tool, &request, &cwd).await;
        Some(policy)
    }

    /// Checks a script.
    pub fn check(&self, script: &str) -> CheckedScript {
        let script = Script::read(script, &self.context);
        CheckedScript {
            verdict: self.policy.decide(&script),
            definitions: expanded_definitions(&script),
        }
    }

    /// Checks a script, and explains how it is read.
    pub fn explain(&self, script: &str) -> Explanation {
        explain(&Script::read(script, &self.context), &self.policy)
    }
}
