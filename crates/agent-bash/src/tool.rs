//! The `bash` tool: a profile, a host's surroundings, and the components that do the work. Built
//! once, called many times and concurrently.

use crate::HostContext;
use crate::approval::{AllowAll, Approver};
use crate::call::{CallOptions, FinishedCall};
use crate::changes::{ChangeStore, ChangesSettings, ProtectedPaths};
use crate::pipeline;
use crate::predefined;
use crate::sandbox::{SandboxSettings, SandboxState};
use crate::schema::{self, ToolSchema};
use crate::shell::shell_in_force;
use crate::stage::parse_input::Input;
use crate::tool_context::{AuditOptions, InterceptorOptions, JobStarter, Terminal, ToolContext};
use crate::trials;
use agent_bash_core::changes::ChangesLevel;
use agent_bash_core::sandbox::{Report, SandboxLevel};
use agent_bash_core::{
    ArtifactStore, AuditLog, Cancel, Clock, ConsumerFlow, Executor, Limits, NotStarted,
    OutputConsumer, Profile, RemoteHost, Request, Shell, StreamId, ToolResult,
};
use agent_bash_journal::{Journal, MaskSecrets};
use agent_bash_policy::{
    Context, InterceptMode, Interceptor, Policy, Predefined, RuleSelection, SafeLevel, SafeMode,
    Script, Verdict,
};
use agent_bash_process::environment::{BaseEnvironment, EnvironmentPolicy};
use agent_bash_sink::LiveUpdates;
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

/// The tool. Cheap to clone; clones are handles to the same tool.
#[derive(Clone)]
pub struct BashTool {
    pub(crate) wiring: Arc<ToolContext>,
}

impl BashTool {
    /// A tool with `profile`, whose commands are run by `executor` and timed by `clock`. Everything
    /// else is set on the builder.
    pub fn builder(
        profile: Profile,
        host: HostContext,
        executor: Arc<dyn Executor>,
        clock: Arc<dyn Clock>,
    ) -> BashToolBuilder {
        BashToolBuilder {
            profile,
            host,
            executor,
            clock,
            artifacts: None,
            approver: Arc::new(AllowAll),
            rules: RuleSelection::default(),
            interception: None,
            safe_mode: None,
            environment: EnvironmentPolicy::default(),
            shell: None,
            limits: Limits::default(),
            prefix: None,
            sessions: false,
            jobs: None,
            remote_host: None,
            audit: None,
            journal: None,
            hide: None,
            virtual_terminal: false,
            terminal: None,
            sandbox: SandboxSettings::default(),
            changes: ChangesSettings::default(),
            changes_unasked: ChangesLevel::Off,
            kept_in: None,
        }
    }

    /// Runs one call to its end. Never fails: a refusal, a missing directory and a timeout are
    /// results.
    ///
    /// Dropping the future kills the command without a grace period; to end it properly, trigger
    /// `cancel`.
    pub async fn execute(&self, input: impl Into<Input>, cancel: &Cancel) -> ToolResult {
        self.execute_with(input, CallOptions::default(), cancel)
            .await
    }

    /// Executes a call with options such as live output or another stdin.
    pub async fn execute_with(
        &self,
        input: impl Into<Input>,
        options: CallOptions<'_>,
        cancel: &Cancel,
    ) -> ToolResult {
        self.account(input, options, cancel).await.result
    }

    /// Executes a call with options, and returns the data from which other texts can be made.
    pub async fn account(
        &self,
        input: impl Into<Input>,
        options: CallOptions<'_>,
        cancel: &Cancel,
    ) -> FinishedCall {
        pipeline::call(&self.wiring, input.into(), options, cancel).await
    }

    /// Executes a call with its output in `live`, which has ended when this returns. A watcher
    /// awaits [`LiveUpdates::next`] on a clone.
    pub async fn execute_watched(
        &self,
        input: impl Into<Input>,
        live: &LiveUpdates,
        cancel: &Cancel,
    ) -> ToolResult {
        // Ends the updates on every way out, including a dropped future: a watcher must not wait
        // for ever.
        let mut feed = LiveFeed(live);
        let options = CallOptions {
            live: Some(&mut feed),
            ..CallOptions::default()
        };
        self.execute_with(input, options, cancel).await
    }

    /// Returns this tool with another profile and the same shell, for a model that knows the fields
    /// of another tool.
    #[must_use]
    pub fn with_profile(&self, profile: Profile) -> Self {
        let wiring = ToolContext {
            profile,
            has_own_fields: false,
            ..ToolContext::clone(&self.wiring)
        };
        Self {
            wiring: Arc::new(wiring),
        }
    }

    /// Returns the same tool with another approver.
    #[must_use]
    pub fn with_approver(&self, approver: Arc<dyn Approver>) -> Self {
        let wiring = ToolContext {
            approver,
            ..ToolContext::clone(&self.wiring)
        };
        Self {
            wiring: Arc::new(wiring),
        }
    }

    /// Checks a script without running it.
    pub fn check(&self, script: &str) -> Verdict {
        self.check_with(script, None)
    }

    /// Checks a script for a model that has these `tools` instead of [`HostContext::tools`].
    pub fn check_with(&self, script: &str, tools: Option<Vec<String>>) -> Verdict {
        self.check_predefined(script, tools, Arc::default())
    }

    /// Returns the definitions that a call has before its script, for [`Self::check_predefined`].
    pub async fn predefined(&self) -> Arc<Predefined> {
        let request = Request::new("git");
        predefined::of_call(&self.wiring, &request, &self.wiring.host.cwd).await
    }

    /// Checks a script as a call with these definitions.
    pub fn check_predefined(
        &self,
        script: &str,
        tools: Option<Vec<String>>,
        predefined: Arc<Predefined>,
    ) -> Verdict {
        let wiring = &self.wiring;
        let host = &wiring.host;
        let interception = wiring.interception.as_deref();
        // A command that would only be commented on does run.
        let blocking = interception.filter(|one| one.mode == InterceptMode::Block);
        let policy = Policy {
            interceptor: blocking.map(|interception| interception.rules.clone()),
            safety: Some(wiring.rules.clone()),
            safe_mode: wiring.safe_mode.clone(),
            tools: tools.or_else(|| host.tools.clone()).unwrap_or_default(),
        };
        let context = Context {
            cwd: host.cwd.clone(),
            home: host.home.clone(),
            dialect: wiring.dialect(),
            predefined,
        };
        policy.decide(&Script::read(script, &context))
    }

    /// Returns the schema with trials, if they are possible in the tool's directory and recorded,
    /// and with the parts of the sandbox that are not enforced. Tries both, which takes a few
    /// milliseconds the first time.
    pub async fn offered_schema(&self) -> ToolSchema {
        let wiring = &self.wiring;
        let is_sandboxed = wiring.sandbox.settings.level != SandboxLevel::Off;
        let enforced = if is_sandboxed {
            // A missing sandbox is reported by each call, which is refused.
            wiring.executor.confines().await.ok()
        } else {
            None
        };
        let schema = self.schema_within(enforced.as_ref());
        if trials::are_offered(wiring, &wiring.host.cwd).await {
            schema.with_trials()
        } else {
            schema
        }
    }

    /// The tool definition for a model.
    pub fn schema(&self) -> ToolSchema {
        self.schema_within(None)
    }

    fn schema_within(&self, enforced: Option<&Report>) -> ToolSchema {
        schema::tool(&self.wiring.profile, &self.wiring.host.cwd)
            .under(self.wiring.safe_mode.as_ref())
            .within(&self.wiring.sandbox.settings, enforced)
    }

    /// The tool's profile.
    pub fn profile(&self) -> &Profile {
        &self.wiring.profile
    }

    /// The base environment of commands, and the host's variables that were removed from it.
    pub fn environment(&self) -> &BaseEnvironment {
        &self.wiring.environment
    }

    /// True if commands may run on a terminal: see [`BashToolBuilder::terminal`].
    pub fn offers_terminal(&self) -> bool {
        self.wiring.terminal.is_some()
    }

    /// True if calls may name a persistent shell: see [`BashToolBuilder::sessions`].
    pub fn offers_sessions(&self) -> bool {
        self.wiring.sessions
    }

    /// True if calls are held to safe mode: see [`BashToolBuilder::safe_mode`].
    pub fn is_safe_mode(&self) -> bool {
        self.wiring.safe_mode.is_some()
    }

    /// The box of its calls, unless one asks for another.
    pub fn sandbox(&self) -> &SandboxSettings {
        &self.wiring.sandbox.settings
    }

    /// Returns what a sandbox of its calls enforces here, whether or not they use one.
    ///
    /// # Errors
    /// Why no call can be sandboxed.
    pub async fn confines(&self) -> Result<Report, NotStarted> {
        self.wiring.executor.confines().await
    }

    /// Checks that the changes of calls can be recorded while the calls run, as far as that is
    /// known before.
    ///
    /// # Errors
    /// Why not.
    pub async fn watches(&self) -> Result<(), String> {
        self.wiring.executor.watches().await
    }

    /// The shell that runs the scripts.
    ///
    /// # Errors
    /// There is none; every call reports that, too.
    pub fn shell(&self) -> Result<&Shell, &NotStarted> {
        self.wiring.shell.as_ref()
    }
}

/// Passes all output, both streams interleaved, to [`LiveUpdates`], and ends them when dropped.
#[derive(Debug)]
pub struct LiveFeed<'a>(pub &'a LiveUpdates);

impl OutputConsumer for LiveFeed<'_> {
    fn chunk(&mut self, _: StreamId, bytes: &[u8]) -> ConsumerFlow {
        self.0.push(bytes);
        ConsumerFlow::Continue
    }
}

impl Drop for LiveFeed<'_> {
    fn drop(&mut self) {
        self.0.end();
    }
}

impl fmt::Debug for BashTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BashTool")
            .field("profile", &self.wiring.profile.name)
            .field("cwd", &self.wiring.host.cwd)
            .finish_non_exhaustive()
    }
}

/// Builds a [`BashTool`].
pub struct BashToolBuilder {
    profile: Profile,
    host: HostContext,
    executor: Arc<dyn Executor>,
    clock: Arc<dyn Clock>,
    artifacts: Option<Arc<dyn ArtifactStore>>,
    approver: Arc<dyn Approver>,
    rules: RuleSelection,
    interception: Option<Arc<InterceptorOptions>>,
    safe_mode: Option<SafeMode>,
    environment: EnvironmentPolicy,
    shell: Option<PathBuf>,
    limits: Limits,
    prefix: Option<String>,
    sessions: bool,
    jobs: Option<Arc<dyn JobStarter>>,
    remote_host: Option<Arc<dyn RemoteHost>>,
    audit: Option<AuditOptions>,
    journal: Option<Arc<Journal>>,
    hide: Option<MaskSecrets>,
    virtual_terminal: bool,
    terminal: Option<Arc<dyn Executor>>,
    sandbox: SandboxSettings,
    changes: ChangesSettings,
    changes_unasked: ChangesLevel,
    kept_in: Option<(PathBuf, String)>,
}

impl BashToolBuilder {
    /// Stores full outputs here. Without a store, truncated output is lost, and no text has a link.
    #[must_use]
    pub fn artifacts(mut self, store: Arc<dyn ArtifactStore>) -> Self {
        self.artifacts = Some(store);
        self
    }

    /// Asked before each command. The default allows everything that no rule blocks.
    #[must_use]
    pub fn approver(mut self, approver: Arc<dyn Approver>) -> Self {
        self.approver = approver;
        self
    }

    /// The safety rules that apply.
    #[must_use]
    pub fn rules(mut self, rules: RuleSelection) -> Self {
        self.rules = rules;
        self
    }

    /// Blocks, or comments on, commands for which the model has a better tool. Only has an effect
    /// together with [`HostContext::tools`]: a tool that the model does not have is not proposed.
    #[must_use]
    pub fn interceptor(mut self, mode: InterceptMode, rules: Interceptor) -> Self {
        self.interception = Some(Arc::new(InterceptorOptions { mode, rules }));
        self
    }

    /// Sets the model's other tools, overriding [`HostContext::tools`].
    #[must_use]
    pub fn tools(mut self, names: Option<Vec<String>>) -> Self {
        self.host.tools = names;
        self
    }

    /// Sets the model's tools from a settings file, unless the host has named some: the host knows
    /// better.
    pub(crate) fn tools_where_the_host_names_none(mut self, names: &[String]) -> Self {
        self.host.tools.get_or_insert_with(|| names.to_vec());
        self
    }

    /// Runs only what is on a list, always with bash; at [`SafeLevel::ReadOnly`] in a box that
    /// makes [`Self::sandbox`] as strict as that.
    #[must_use]
    pub fn safe_mode(mut self, mode: SafeMode) -> Self {
        self.safe_mode = Some(mode);
        self
    }

    /// How a command's environment is derived from the host's.
    #[must_use]
    pub fn environment(mut self, policy: EnvironmentPolicy) -> Self {
        self.environment = policy;
        self
    }

    /// Runs scripts with this shell instead of the profile's; an absolute path.
    #[must_use]
    pub fn shell(mut self, path: PathBuf) -> Self {
        self.shell = Some(path);
        self
    }

    /// Runs `<prefix> <command>`. The rules check the command only: the prefix is the host's own.
    #[must_use]
    pub fn prefix(mut self, prefix: String) -> Self {
        self.prefix = Some(prefix);
        self
    }

    /// Allows calls to name persistent shells. Only if the executor supports them, as
    /// `agent_bash_exec::ShellCache` does.
    #[must_use]
    pub fn sessions(mut self, offered: bool) -> Self {
        self.sessions = offered;
        self
    }

    /// Starts background jobs. Without it, calls in that mode are refused.
    #[must_use]
    pub fn jobs(mut self, starter: Arc<dyn JobStarter>) -> Self {
        self.jobs = Some(starter);
        self
    }

    /// Runs calls on another machine, after they were judged here: directory, time limit, shells,
    /// jobs, outputs and texts are that machine's, and the host context should describe it.
    #[must_use]
    pub fn remote_host(mut self, place: Arc<dyn RemoteHost>) -> Self {
        self.remote_host = Some(place);
        self
    }

    /// A user can see and type: `executor` runs commands on terminals of their own and shows them
    /// (`agent_bash_pty::PtyExecutor`). Used if [`Self::virtual_terminal`] is on, the profile
    /// allows terminals, and the host's environment has neither `AGENT_BASH_NO_PTY=1` nor
    /// `PI_NO_PTY=1`; but not for calls that say `pty: false`, name a session, want a part of
    /// stdout only, or have another stdin.
    #[must_use]
    pub fn terminal(mut self, executor: Arc<dyn Executor>) -> Self {
        self.terminal = Some(executor);
        self
    }

    /// Lets commands run on a terminal if one can be shown: see [`Self::terminal`].
    #[must_use]
    pub fn virtual_terminal(mut self, on: bool) -> Self {
        self.virtual_terminal = on;
        self
    }

    /// Records every finished call: with `commands` the commands themselves, otherwise their
    /// digests and lengths. A call whose future was dropped is not recorded.
    #[must_use]
    pub fn audit(mut self, log: Arc<dyn AuditLog>, commands: bool) -> Self {
        self.audit = Some(AuditOptions { log, commands });
        self
    }

    /// Records every finished call for people, as [`Self::audit`] does for the host.
    #[must_use]
    pub fn journal(mut self, journal: Arc<Journal>) -> Self {
        self.journal = Some(journal);
        self
    }

    /// Masks secrets in texts that are kept. Without it, the host's environment decides.
    #[must_use]
    pub(crate) fn hide(mut self, hide: MaskSecrets) -> Self {
        self.hide = Some(hide);
        self
    }

    /// The box that calls run in. The executor must be able to: see [`Executor::confines`]. A call
    /// that cannot be confined is refused.
    #[must_use]
    pub fn sandbox(mut self, settings: SandboxSettings) -> Self {
        self.sandbox = settings;
        self
    }

    /// Sets the record of changes. It needs an executor that can trace, and [`Self::changes_in`].
    #[must_use]
    pub fn changes(mut self, settings: ChangesSettings) -> Self {
        self.changes = settings;
        self
    }

    /// Sets the level of recording of ordinary calls if the settings name none. If recording is
    /// impossible, results do not mention it.
    #[must_use]
    pub fn changes_unasked(mut self, level: ChangesLevel) -> Self {
        self.changes_unasked = level;
        self
    }

    /// Keeps what calls do to files below this state directory, in the session of this name.
    /// Without it there are no trials.
    #[must_use]
    pub fn changes_in(mut self, state: PathBuf, session: impl Into<String>) -> Self {
        self.kept_in = Some((state, session.into()));
        self
    }

    /// Resource limits of each call.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Builds the tool. Looks for the shell.
    pub fn build(self) -> BashTool {
        let host_env: BTreeMap<_, _> = (*self.host.env).clone();
        let environment = BaseEnvironment::build(host_env, &self.environment);
        let secrets = self.environment.secrets.clone().unwrap_or_default();
        let hide = self
            .hide
            .unwrap_or_else(|| crate::journal::hide(Arc::clone(&self.host.env), secrets));
        let shell = shell_in_force(
            &self.profile,
            self.shell.as_deref(),
            self.safe_mode.is_some(),
            &environment.variables,
        );
        let changes = ChangeStore::new(self.changes, self.changes_unasked, self.kept_in);
        let protected = ProtectedPaths {
            home: self.host.home.clone(),
            further: self.sandbox.protected.clone(),
        };
        let sandbox = match &self.safe_mode {
            Some(mode) if mode.level == SafeLevel::ReadOnly => self.sandbox.in_safe_mode(),
            _ => self.sandbox,
        };
        let terminal = self
            .terminal
            .filter(|_| self.virtual_terminal && self.profile.pty)
            .and_then(|executor| Terminal::offered(executor, &self.host, &self.environment));
        let sandbox = SandboxState::new(sandbox).of_host(&self.host);
        BashTool {
            wiring: Arc::new(ToolContext {
                profile: self.profile,
                host: self.host,
                executor: self.executor,
                clock: self.clock,
                artifacts: self.artifacts,
                approver: self.approver,
                rules: self.rules,
                interception: self.interception,
                safe_mode: self.safe_mode,
                environment,
                environment_policy: self.environment,
                hide,
                shell,
                limits: self.limits,
                prefix: self.prefix,
                sessions: self.sessions,
                jobs: self.jobs,
                remote_host: self.remote_host,
                audit: self.audit,
                journal: self.journal,
                terminal,
                sandbox: Arc::new(sandbox),
                has_own_fields: true,
                changes: Arc::new(changes.protecting(protected)),
                queues: Arc::default(),
                session_definitions: Arc::default(),
            }),
        }
    }
}

impl fmt::Debug for BashToolBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BashToolBuilder")
            .field("profile", &self.profile.name)
            .finish_non_exhaustive()
    }
}
