//! Determines whether trials are possible, and whether a refused call may run as a trial.

use crate::call::Call;
use crate::tool_context::ToolContext;
use agent_bash_changes::TemporaryTrial;
use agent_bash_core::changes::TrialRequest;
use agent_bash_core::{
    Cancel, ConsumerFlow, Mode, OutputConsumer, Request, RunSpec, ScriptEnding, StreamId, words,
};
use agent_bash_settings::CommitBy;
use agent_bash_state::run_blocking;
use agent_bash_tools::{RuleRefusal, profiles};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Time limit of the trial of an empty command.
const PROBE_TIMEOUT: Duration = Duration::from_secs(5);

/// Maximum number of roots with a remembered result.
const MAX_REMEMBERED_ROOTS: usize = 64;

/// Variables by which git uses another repository than the repository of the working directory.
const GIT_LOCATION_VARIABLES: &[&str] =
    words!["GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_OBJECT_DIRECTORY GIT_COMMON_DIR"];

/// True if the model is offered trials of calls in `cwd`. This requires that the model knows the
/// field `trial`, that changes are recorded so that the model can list them, and that a trial
/// works.
pub(crate) async fn are_offered(tool: &ToolContext, cwd: &Path) -> bool {
    let is_fixed = profiles::tool(tool.profile.name).has_fixed_fields;
    tool.has_own_fields && !is_fixed && tool.changes.is_recording() && are_possible(tool, cwd).await
}

/// Decides on a call that a rule refuses. Allows the call if it is a trial, the settings allow such
/// trials, and all refused paths are below the trial's root. Otherwise returns the refusal, which
/// may offer a trial.
pub(crate) async fn decide(
    tool: &ToolContext,
    call: &Call,
    request: &Request,
    is_on_terminal: bool,
    mut refusal: RuleRefusal,
) -> Result<(), RuleRefusal> {
    let settings = &tool.changes.settings;
    // If the model may commit without approval, a trial must not run a refused command: the model
    // could commit the refused changes.
    let may_pass = settings.trial_passes_rules && settings.commit != CommitBy::Model;
    let is_fit = match request.trial {
        Some(TrialRequest::Hold) => true,
        // An atomic trial is committed without a decision.
        Some(TrialRequest::Atomic) => false,
        None => settings.offer_trial,
    };
    let outlives = request.mode == Some(Mode::Background) || request.session.is_some();
    let is_possible = is_fit && !outlives && !is_on_terminal;
    // A request for a trial is allowed only as a trial. Another call can be repeated as a trial.
    if !may_pass || (request.trial.is_some() && !is_possible) {
        return Err(refusal);
    }
    if !are_held_back(tool, call, request, &refusal.explanation.paths).await {
        return Err(refusal);
    }
    if request.trial.is_some() {
        // If a trial is impossible, the start of the trial reports this.
        return Ok(());
    }
    refusal.explanation.can_be_tried = true;
    refusal.explanation.offers_trial = is_possible && are_offered(tool, &call.cwd).await;
    Err(refusal)
}

/// True if all of the paths are below the trial's root, so that a trial holds back all changes to
/// them.
async fn are_held_back(
    tool: &ToolContext,
    call: &Call,
    request: &Request,
    paths: &[PathBuf],
) -> bool {
    let is_set = |name: &str| {
        request.env.contains_key(name) || tool.host.env.contains_key(std::ffi::OsStr::new(name))
    };
    if tool.remote_host.is_some()
        || paths.is_empty()
        || GIT_LOCATION_VARIABLES.iter().any(|name| is_set(name))
    {
        return false;
    }
    let (root, paths) = (root_of(tool, &call.cwd), paths.to_vec());
    let look = move || root().is_some_and(|root| paths.iter().all(|path| is_within(&root, path)));
    let seen = tool.within_limit(look).await;
    seen.unwrap_or(false)
}

/// True if a path is below a root after following links. False if the git directory of a repository
/// between the root and the path is elsewhere.
fn is_within(root: &Path, path: &Path) -> bool {
    // For a missing path, the nearest existing parent decides.
    let Some(existing) = path
        .ancestors()
        .find(|path| path.symlink_metadata().is_ok())
    else {
        return false;
    };
    let has_plain_rest = path.strip_prefix(existing).is_ok_and(|rest| {
        rest.components()
            .all(|part| matches!(part, std::path::Component::Normal(_)))
    });
    let Ok(real) = std::fs::canonicalize(existing) else {
        return false;
    };
    let is_linked = |directory: &Path| {
        let git = directory.join(".git").symlink_metadata();
        git.is_ok_and(|git| !git.is_dir())
    };
    let mut parents = real.ancestors().take_while(|path| path.starts_with(root));
    has_plain_rest && real.starts_with(root) && !parents.any(is_linked)
}

/// Returns a function that determines the canonical root of a trial in `cwd`. The function reads
/// files.
fn root_of(tool: &ToolContext, cwd: &Path) -> impl FnOnce() -> Option<PathBuf> + Send + 'static {
    let (changes, cwd, host) = (Arc::clone(&tool.changes), cwd.to_owned(), tool.host.clone());
    move || {
        let root = changes
            .settings
            .root_of(&cwd, &host.cwd, host.home.as_deref());
        std::fs::canonicalize(root.ok()?).ok()
    }
}

/// True if a call in `cwd` can run as a trial. Runs an empty command as a trial to find out, and
/// remembers a success.
async fn are_possible(tool: &ToolContext, cwd: &Path) -> bool {
    if tool.remote_host.is_some() || tool.executor.check_trials().await.is_err() {
        return false;
    }
    let root = root_of(tool, cwd);
    let Some(Some(root)) = tool.within_limit(root).await else {
        return false;
    };
    let mut known = tool.changes.trial_roots.lock().await;
    if known.contains(&root) {
        return true;
    }
    let is_possible = probe(tool, &root).await;
    if is_possible && known.len() < MAX_REMEMBERED_ROOTS {
        known.insert(root);
    }
    is_possible
}

/// Runs an empty command as a trial with this root. True if the trial works.
async fn probe(tool: &ToolContext, root: &Path) -> bool {
    let (changes, tree) = (Arc::clone(&tool.changes), root.to_owned());
    let begin_trial = move || {
        let trial = changes.store()?.temporary_trial(changes.session(), &tree);
        trial.map_err(|error| error.to_string())
    };
    let trial = tool.within_limit(begin_trial).await;
    let (Some(Ok(trial)), Ok(shell)) = (trial, tool.shell.clone()) else {
        return false;
    };
    let spec = RunSpec::new(":", root)
        .shell(shell)
        .timeout(Some(PROBE_TIMEOUT))
        .trial(Arc::new(TemporaryTrial::overlay(&trial).clone()));
    let ran = tool
        .executor
        .run(&spec, &mut DiscardOutput, &Cancel::new())
        .await;
    // Removing the directories may block.
    let _ = run_blocking(move || drop(trial)).await;
    ran.is_ok_and(|ran| ran.held_back && ran.ending == ScriptEnding::Exited { code: 0 })
}

/// Discards all output.
struct DiscardOutput;

impl OutputConsumer for DiscardOutput {
    fn chunk(&mut self, _: StreamId, _: &[u8]) -> ConsumerFlow {
        ConsumerFlow::Continue
    }
}
