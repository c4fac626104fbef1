//! The `bash` tool: a profile, the host's context, and the components that do the work. A tool is
//! built once, and called many times and concurrently.

use crate::HostContext;
use crate::approval::{AllowAll, Approver};
use crate::call::{CallOptions, FinishedCall};
use crate::changes::{ChangeStore, ChangesSettings, ProtectedPaths};
use crate::exceptions::Exceptions;
use crate::live_feed::LiveFeed;
use crate::output_mask::MaskLevel;
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
    ArtifactStore, AuditLog, Cancel, Clock, Executor, Limits, NotStarted, OutputMask, Profile,
    RemoteHost, Request, Shell, ToolResult,
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
    pub(crate) context: Arc<ToolContext>,
}

impl BashTool {
    /// Returns a builder of a tool with this profile and host. `executor` runs the tool's commands,
    /// and `clock` measures their time.
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
            exceptions: None,
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
            mask_secrets: MaskLevel::default(),
            virtual_terminal: false,
            terminal: None,
            sandbox: SandboxSettings::default(),
            changes: ChangesSettings::default(),
            default_changes_level: ChangesLevel::Off,
            changes_location: None,
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

    /// Executes a call with options. In addition to the result, returns the data from which other
    /// texts can be written.
    pub async fn account(
        &self,
        input: impl Into<Input>,
        options: CallOptions<'_>,
        cancel: &Cancel,
    ) -> FinishedCall {
        pipeline::call(&self.context, input.into(), options, cancel).await
    }

    /// Executes a call and passes its output to `live`. When this function returns, `live` has
    /// ended. A watcher awaits [`LiveUpdates::next`] on a clone of `live`.
    pub async fn execute_watched(
        &self,
        input: impl Into<Input>,
        live: &LiveUpdates,
        cancel: &Cancel,
    ) -> ToolResult {
        // Dropping the feed ends the updates. This also happens if the future is dropped, so a
        // watcher never waits for ever.
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
        let context = ToolContext {
            profile,
            has_own_fields: false,
            ..ToolContext::clone(&self.context)
        };
        Self {
            context: Arc::new(context),
        }
    }

    /// Returns the same tool with another approver.
    #[must_use]
    pub fn with_approver(&self, approver: Arc<dyn Approver>) -> Self {
        let context = ToolContext {
            approver,
            ..ToolContext::clone(&self.context)
        };
        Self {
            context: Arc::new(context),
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
        predefined::of_call(&self.context, &request, &self.context.host.cwd).await
    }

    /// Checks a script as for a call whose shell has the definitions `predefined`.
    pub fn check_predefined(
        &self,
        script: &str,
        tools: Option<Vec<String>>,
        predefined: Arc<Predefined>,
    ) -> Verdict {
        let context = &self.context;
        let host = &context.host;
        let interception = context.interception.as_deref();
        // In other modes, the interceptor does not block commands.
        let blocking = interception.filter(|options| options.mode == InterceptMode::Block);
        let policy = Policy {
            interceptor: blocking.map(|interception| interception.rules.clone()),
            safety: Some(context.rules.clone()),
            safe_mode: context.safe_mode.clone(),
            tools: tools.or_else(|| host.tools.clone()).unwrap_or_default(),
        };
        let context = Context {
            cwd: host.cwd.clone(),
            home: host.home.clone(),
            dialect: context.dialect(),
            predefined,
            protected: host.protected(),
        };
        policy.decide(&Script::read(script, &context))
    }

    /// Returns the schema for a model. The schema offers trials if trials are possible in the
    /// tool's directory and changes are recorded, and names the promises of the sandbox that this
    /// system cannot enforce. Tests both, which takes a few milliseconds the first time.
    pub async fn offered_schema(&self) -> ToolSchema {
        let context = &self.context;
        let is_sandboxed = context.sandbox.settings.level != SandboxLevel::Off;
        let report = if is_sandboxed {
            // If the system has no sandbox, each call is refused with an error that reports this.
            context.executor.confines().await.ok()
        } else {
            None
        };
        let schema = self.schema_with_report(report.as_ref());
        if trials::are_offered(context, &context.host.cwd).await {
            schema.with_trials()
        } else {
            schema
        }
    }

    /// Returns the tool definition for a model, without the parts that depend on the system: see
    /// [`Self::offered_schema`].
    pub fn schema(&self) -> ToolSchema {
        self.schema_with_report(None)
    }

    /// Returns the schema, which names the missing promises of `report`.
    fn schema_with_report(&self, report: Option<&Report>) -> ToolSchema {
        schema::tool(&self.context.profile, &self.context.host.cwd)
            .with_safe_mode(self.context.safe_mode.as_ref())
            .with_sandbox(&self.context.sandbox.settings, report)
    }

    /// Returns the tool's profile.
    pub fn profile(&self) -> &Profile {
        &self.context.profile
    }

    /// Returns the base environment of commands, and the host's variables that were removed from
    /// it.
    pub fn environment(&self) -> &BaseEnvironment {
        &self.context.environment
    }

    /// True if commands may run on a terminal: see [`BashToolBuilder::terminal`].
    pub fn offers_terminal(&self) -> bool {
        self.context.terminal.is_some()
    }

    /// True if calls may name a persistent shell: see [`BashToolBuilder::sessions`].
    pub fn offers_sessions(&self) -> bool {
        self.context.sessions
    }

    /// True if calls run in safe mode: see [`BashToolBuilder::safe_mode`].
    pub fn is_safe_mode(&self) -> bool {
        self.context.safe_mode.is_some()
    }

    /// Returns the sandbox settings of the tool's calls.
    pub fn sandbox(&self) -> &SandboxSettings {
        &self.context.sandbox.settings
    }

    /// Returns the promises of a sandbox that this system enforces, whether or not calls use one.
    ///
    /// # Errors
    /// The system cannot enforce any sandbox.
    pub async fn confines(&self) -> Result<Report, NotStarted> {
        self.context.executor.confines().await
    }

    /// Checks whether the changes of calls can be traced, as far as this is known before a call.
    ///
    /// # Errors
    /// The reason why calls cannot be traced.
    pub async fn watches(&self) -> Result<(), String> {
        self.context.executor.watches().await
    }

    /// Returns the shell that runs the scripts.
    ///
    /// # Errors
    /// No shell was found. Every call returns this error, too.
    pub fn shell(&self) -> Result<&Shell, &NotStarted> {
        self.context.shell.as_ref()
    }

    /// Returns the mask for secrets in output; `None` if nothing is masked.
    pub fn output_mask(&self) -> Option<&Arc<dyn OutputMask>> {
        self.context.mask.as_ref()
    }
}

impl fmt::Debug for BashTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BashTool")
            .field("profile", &self.context.profile.name)
            .field("cwd", &self.context.host.cwd)
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
    exceptions: Option<Exceptions>,
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
    mask_secrets: MaskLevel,
    virtual_terminal: bool,
    terminal: Option<Arc<dyn Executor>>,
    sandbox: SandboxSettings,
    changes: ChangesSettings,
    default_changes_level: ChangesLevel,
    changes_location: Option<(PathBuf, String)>,
}

impl BashToolBuilder {
    /// Sets the store of full outputs. Without a store, truncated output is lost, and texts have no
    /// links to full outputs.
    #[must_use]
    pub fn artifacts(mut self, store: Arc<dyn ArtifactStore>) -> Self {
        self.artifacts = Some(store);
        self
    }

    /// Sets the approver, which is asked before each command. The default allows all commands that
    /// no rule blocks.
    #[must_use]
    pub fn approver(mut self, approver: Arc<dyn Approver>) -> Self {
        self.approver = approver;
        self
    }

    /// Sets the safety rules that apply.
    #[must_use]
    pub fn rules(mut self, rules: RuleSelection) -> Self {
        self.rules = rules;
        self
    }

    /// Sets the store of exceptions: each refusal then has a code by which the user can allow the
    /// command.
    #[must_use]
    pub fn exceptions(mut self, exceptions: Exceptions) -> Self {
        self.exceptions = Some(exceptions);
        self
    }

    /// Blocks commands for which the model has a better tool, or adds advice. The interceptor only
    /// suggests tools in [`HostContext::tools`], so it has no effect without them.
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

    /// Sets the model's other tools, unless the host has named them.
    pub(crate) fn default_tools(mut self, names: &[String]) -> Self {
        self.host.tools.get_or_insert_with(|| names.to_vec());
        self
    }

    /// Runs only listed commands, always with bash. At [`SafeLevel::ReadOnly`], calls also run in a
    /// read-only sandbox.
    #[must_use]
    pub fn safe_mode(mut self, mode: SafeMode) -> Self {
        self.safe_mode = Some(mode);
        self
    }

    /// Sets the policy by which a command's environment is derived from the host's.
    #[must_use]
    pub fn environment(mut self, policy: EnvironmentPolicy) -> Self {
        self.environment = policy;
        self
    }

    /// Runs scripts with the shell at this absolute path instead of the profile's shell.
    #[must_use]
    pub fn shell(mut self, path: PathBuf) -> Self {
        self.shell = Some(path);
        self
    }

    /// Runs `<prefix> <command>`. The rules check only the command, because the prefix comes from
    /// the host.
    #[must_use]
    pub fn prefix(mut self, prefix: String) -> Self {
        self.prefix = Some(prefix);
        self
    }

    /// Allows calls to name persistent shells. The executor must support such shells, as
    /// `agent_bash_exec::ShellCache` does.
    #[must_use]
    pub fn sessions(mut self, offered: bool) -> Self {
        self.sessions = offered;
        self
    }

    /// Sets the component that starts background jobs. Without it, calls in mode `background` are
    /// refused.
    #[must_use]
    pub fn jobs(mut self, starter: Arc<dyn JobStarter>) -> Self {
        self.jobs = Some(starter);
        self
    }

    /// Runs calls on another machine, after the policy of this tool has checked the calls. The
    /// other machine provides the directory, time limit, shells, jobs, outputs and texts, so the
    /// host context should describe that machine.
    #[must_use]
    pub fn remote_host(mut self, remote_host: Arc<dyn RemoteHost>) -> Self {
        self.remote_host = Some(remote_host);
        self
    }

    /// Sets the executor that runs commands on terminals of their own and shows them to a user
    /// (`agent_bash_pty::PtyExecutor`).
    ///
    /// The executor is used if [`Self::virtual_terminal`] is on, the profile allows terminals, and
    /// the host's environment has neither `AGENT_BASH_NO_PTY=1` nor `PI_NO_PTY=1`. Calls with
    /// `pty: false`, a session, `head`, `tail` or another stdin get no terminal.
    #[must_use]
    pub fn terminal(mut self, executor: Arc<dyn Executor>) -> Self {
        self.terminal = Some(executor);
        self
    }

    /// Runs commands on a terminal if a user can see the terminal: see [`Self::terminal`].
    #[must_use]
    pub fn virtual_terminal(mut self, on: bool) -> Self {
        self.virtual_terminal = on;
        self
    }

    /// Records every finished call in the audit log. If `commands`, the log contains the commands
    /// themselves, else their digests and lengths. A call whose future was dropped is not recorded.
    #[must_use]
    pub fn audit(mut self, log: Arc<dyn AuditLog>, commands: bool) -> Self {
        self.audit = Some(AuditOptions { log, commands });
        self
    }

    /// Records every finished call in the user's journal, as [`Self::audit`] does for the host.
    #[must_use]
    pub fn journal(mut self, journal: Arc<Journal>) -> Self {
        self.journal = Some(journal);
        self
    }

    /// Sets the secrets that are masked in output. Default: none.
    #[must_use]
    pub fn mask_secrets(mut self, level: MaskLevel) -> Self {
        self.mask_secrets = level;
        self
    }

    /// Sets the function that masks secrets in stored texts. The default masks the secrets of the
    /// host's environment.
    #[must_use]
    pub(crate) fn hide(mut self, hide: MaskSecrets) -> Self {
        self.hide = Some(hide);
        self
    }

    /// Sets the sandbox of calls. The executor must support it: see [`Executor::confines`]. A call
    /// whose sandbox cannot be provided is refused.
    #[must_use]
    pub fn sandbox(mut self, settings: SandboxSettings) -> Self {
        self.sandbox = settings;
        self
    }

    /// Sets how changes are recorded. Recording needs an executor that can trace, and
    /// [`Self::changes_in`].
    #[must_use]
    pub fn changes(mut self, settings: ChangesSettings) -> Self {
        self.changes = settings;
        self
    }

    /// Sets the level of recording of ordinary calls for settings that do not name a level. If
    /// recording is impossible at this default level, results do not report this.
    #[must_use]
    pub fn default_changes_level(mut self, level: ChangesLevel) -> Self {
        self.default_changes_level = level;
        self
    }

    /// Sets the state directory and the conversation's name, under which change sets are stored.
    /// Required for trials.
    #[must_use]
    pub fn changes_in(mut self, state: PathBuf, session: impl Into<String>) -> Self {
        self.changes_location = Some((state, session.into()));
        self
    }

    /// Sets the resource limits of each call.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Builds the tool, and finds its shell.
    pub fn build(self) -> BashTool {
        let host_env: BTreeMap<_, _> = (*self.host.env).clone();
        let environment = BaseEnvironment::build(host_env, &self.environment);
        let secrets = self.environment.secrets.clone().unwrap_or_default();
        let filter = self.environment.secrets.as_ref();
        let mask = self.mask_secrets.mask(&self.host.env, filter);
        let hide = self
            .hide
            .unwrap_or_else(|| crate::journal::mask_secrets(Arc::clone(&self.host.env), secrets));
        let shell = shell_in_force(
            &self.profile,
            self.shell.as_deref(),
            self.safe_mode.is_some(),
            &environment.variables,
        );
        let changes = ChangeStore::new(
            self.changes,
            self.default_changes_level,
            self.changes_location,
        );
        let protected = ProtectedPaths {
            home: self.host.home.clone(),
            extra: self.sandbox.protected.clone(),
        };
        let sandbox = match &self.safe_mode {
            Some(mode) if mode.level == SafeLevel::ReadOnly => self.sandbox.in_safe_mode(),
            _ => self.sandbox,
        };
        let terminal = self
            .terminal
            .filter(|_| self.virtual_terminal && self.profile.pty)
            .and_then(|executor| Terminal::offered(executor, &self.host, &self.environment));
        let sandbox = SandboxState::new(sandbox).with_host(&self.host);
        BashTool {
            context: Arc::new(ToolContext {
                profile: self.profile,
                host: self.host,
                executor: self.executor,
                clock: self.clock,
                artifacts: self.artifacts,
                approver: self.approver,
                rules: self.rules,
                exceptions: self.exceptions,
                interception: self.interception,
                safe_mode: self.safe_mode,
                environment,
                environment_policy: self.environment,
                hide,
                mask,
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
                changes: Arc::new(changes.with_protected(protected)),
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
