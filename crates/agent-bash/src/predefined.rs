//! Determines, for the rules, the definitions that a call's shell has before its script. They come
//! from the user's configuration, from functions in the environment, from the variables of the
//! call, from earlier calls in the same persistent shell, and from git's aliases.

use crate::tool_context::ToolContext;
use agent_bash_core::{Request, ShellDefinitions};
use agent_bash_policy::Predefined;
use agent_bash_process::environment::exported_function;
use agent_bash_settings::git_aliases;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// Returns the definitions that a call's shell has before its script.
pub(crate) async fn of_call(tool: &ToolContext, request: &Request, cwd: &Path) -> Arc<Predefined> {
    let set = request.env.iter();
    let set = set.filter_map(|(name, value)| Some((name, value.as_ref()?)));
    let variables = set
        .clone()
        .map(|(name, value)| (name.clone(), value.clone()));
    let variables = variables.collect();
    let set_by_call =
        set.filter_map(|(name, value)| exported_function(name.as_ref(), value.as_ref()));
    if tool.remote_host.is_some() || tool.safe_mode.is_some() {
        return Arc::new(Predefined {
            functions: Arc::new(set_by_call.collect()),
            variables,
            ..Predefined::default()
        });
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
    let mut functions = Arc::clone(&defined.functions);
    for (name, text) in &*tool.exported_functions {
        if !functions.contains_key(name) {
            Arc::make_mut(&mut functions).insert(name.clone(), text.clone());
        }
    }
    for (name, text) in set_by_call {
        Arc::make_mut(&mut functions).insert(name, text);
    }
    let may_call_git =
        request.command.contains("git") || !defined.aliases.is_empty() || !functions.is_empty();
    Arc::new(Predefined {
        functions,
        aliases: Arc::clone(&defined.aliases),
        expands_aliases: defined.expands_aliases,
        git_aliases: if may_call_git {
            git_aliases(cwd, &tool.environment.variables)
        } else {
            BTreeMap::default()
        },
        variables,
    })
}

/// Returns the definitions of the user's configuration in this directory.
async fn configured(tool: &ToolContext, cwd: &Path) -> Option<Arc<ShellDefinitions>> {
    let shell = tool.shell.as_ref().ok()?;
    let base = &tool.environment.variables;
    tool.executor.configured(shell, base, cwd).await
}
