//! Determines, for the rules, the definitions that a call's shell has before its script. They come
//! from the user's configuration, from earlier calls in the same persistent shell, and from git's
//! aliases.

use crate::tool_context::ToolContext;
use agent_bash_core::{Request, ShellDefinitions};
use agent_bash_policy::Predefined;
use agent_bash_settings::git_aliases;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// Returns the definitions that a call's shell has before its script.
pub(crate) async fn of_call(tool: &ToolContext, request: &Request, cwd: &Path) -> Arc<Predefined> {
    if tool.remote_host.is_some() || tool.safe_mode.is_some() {
        return Arc::default();
    }
    let mut known = None;
    if let Some(name) = &request.session {
        let entry = tool.session_definitions.entry(name);
        known = entry.known;
        if entry.is_stale
            && let Some(defined) = tool.executor.defined_in(name).await
        {
            tool.session_definitions.store(name, &defined);
            known = Some(defined);
        }
        tool.session_definitions.note_script(name, &request.command);
    }
    if known.is_none() {
        known = configured(tool, cwd).await;
    }
    let defined = known.unwrap_or_default();
    let may_call_git = request.command.contains("git")
        || !defined.aliases.is_empty()
        || !defined.functions.is_empty();
    Arc::new(Predefined {
        functions: Arc::clone(&defined.functions),
        aliases: Arc::clone(&defined.aliases),
        expands_aliases: defined.expands_aliases,
        git_aliases: if may_call_git {
            git_aliases(cwd, &tool.environment.variables)
        } else {
            BTreeMap::default()
        },
    })
}

/// Returns the definitions of the user's configuration in this directory.
async fn configured(tool: &ToolContext, cwd: &Path) -> Option<Arc<ShellDefinitions>> {
    let shell = tool.shell.as_ref().ok()?;
    let base = &tool.environment.variables;
    tool.executor.configured(shell, base, cwd).await
}
