//! [`BashToolBuilder`]: the parts of a tool, and their defaults.

use crate::HostContext;
use crate::approval::{AllowAll, Approver};
use crate::tool::BashTool;
use crate::tool_context::{AuditOptions, InterceptorOptions, JobStarter, Terminal, ToolContext};
use agent_bash_core::changes::ChangesLevel;
use agent_bash_core::{ArtifactStore, AuditLog, Clock, Executor, Limits, Profile, RemoteHost};
use agent_bash_journal::{Journal, MaskSecrets};
use agent_bash_policy::{
    InterceptMode, Interceptor, RuleSelection, SafeLevel, SafeMode, UnknownRule,
};
use agent_bash_process::environment::{BaseEnvironment, EnvironmentPolicy};
use agent_bash_settings::{
    ChangesSettings, MaskLevel, SandboxSettings, Settings, exported_functions, mask_secrets,
    shell_in_force,
};
use agent_bash_sink::AuditFile;
use agent_bash_state::exceptions::Exceptions;
use agent_bash_state::{ChangeStore, ProtectedPaths, SandboxState};
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

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
            parts: ToolParts::default(),
        }
    }
}

/// Builds a [`BashTool`].
pub struct BashToolBuilder {
    profile: Profile,
    host: HostContext,
    executor: Arc<dyn Executor>,
    clock: Arc<dyn Clock>,
    parts: ToolParts,
}

/// The parts of a tool that have defaults.
#[derive(Default)]
struct ToolParts {
    artifacts: Option<Arc<dyn ArtifactStore>>,
    approver: Option<Arc<dyn Approver>>,
    askpass: Option<PathBuf>,
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

/// Makes setters with the names of the fields.
macro_rules! setters {
    ($($(#[$doc:meta])* $visibility:vis $field:ident: $type:ty,)*) => {
        impl BashToolBuilder {$(
            $(#[$doc])*
            #[must_use]
            $visibility fn $field(mut self, $field: $type) -> Self {
                self.parts.$field = $field.into();
                self
            }
        )*}
    };
}

setters! {
    /// Sets the store of full outputs. Without a store, truncated output is lost, and texts have no
    /// links to full outputs.
    pub artifacts: Arc<dyn ArtifactStore>,
    /// Sets the approver, which is asked before each command. The default allows all commands that
    /// no rule blocks.
    pub approver: Arc<dyn Approver>,
    /// Lets the approver answer the password prompts of commands
    /// ([`Approver::answer_prompt`]). The path is of a program that calls
    /// `agent_bash_process::supervisor::init` at the top of its `main`.
    pub askpass: Option<PathBuf>,
    /// Sets the safety rules that apply.
    pub rules: RuleSelection,
    /// Sets the store of exceptions: each refusal then has a code by which the user can allow the
    /// command.
    pub exceptions: Exceptions,
    /// Runs only listed commands, always with bash. At [`SafeLevel::ReadOnly`], calls also run in a
    /// read-only sandbox.
    pub safe_mode: SafeMode,
    /// Sets the policy by which a command's environment is derived from the host's.
    pub environment: EnvironmentPolicy,
    /// Runs scripts with the shell at this absolute path instead of the profile's shell.
    pub shell: PathBuf,
    /// Runs `<prefix> <command>`. The rules check only the command, because the prefix comes from
    /// the host.
    pub prefix: String,
    /// Allows calls to name persistent shells. The executor must support such shells, as
    /// `agent_bash_exec::ShellCache` does.
    pub sessions: bool,
    /// Sets the component that starts background jobs. Without it, calls in mode `background` are
    /// refused.
    pub jobs: Arc<dyn JobStarter>,
    /// Runs calls on another machine, after the policy of this tool has checked the calls. The
    /// other machine provides the directory, time limit, shells, jobs, outputs and texts, so the
    /// host context should describe that machine.
    pub remote_host: Arc<dyn RemoteHost>,
    /// Sets the executor that runs commands on terminals of their own and shows them to a user
    /// (`agent_bash_pty::PtyExecutor`).
    ///
    /// The executor is used if [`Self::virtual_terminal`] is on, the profile allows terminals, and
    /// the host's environment has neither `AGENT_BASH_NO_PTY=1` nor `PI_NO_PTY=1`. Calls with
    /// `pty: false`, a session, `head`, `tail` or another stdin get no terminal.
    pub terminal: Arc<dyn Executor>,
    /// Runs commands on a terminal if a user can see the terminal: see [`Self::terminal`].
    pub virtual_terminal: bool,
    /// Records every finished call in the user's journal, as [`Self::audit`] does for the host.
    pub journal: Arc<Journal>,
    /// Sets the secrets that are masked in output. Default: none.
    pub mask_secrets: MaskLevel,
    /// Sets the function that masks secrets in stored texts. The default masks the secrets of the
    /// host's environment.
    pub(crate) hide: MaskSecrets,
    /// Sets the sandbox of calls. The executor must support it: see [`Executor::sandbox_report`]. A
    /// call whose sandbox cannot be provided is refused.
    pub sandbox: SandboxSettings,
    /// Sets how changes are recorded. Recording needs an executor that can trace, and
    /// [`Self::changes_in`].
    pub changes: ChangesSettings,
    /// Sets the level of recording of ordinary calls for settings that do not name a level. If
    /// recording is impossible at this default level, results do not report this.
    pub default_changes_level: ChangesLevel,
    /// Sets the resource limits of each call.
    pub limits: Limits,
}

impl BashToolBuilder {
    /// Blocks commands for which the model has a better tool, or adds advice. The interceptor only
    /// suggests tools in [`HostContext::tools`], so it has no effect without them.
    #[must_use]
    pub fn interceptor(mut self, mode: InterceptMode, rules: Interceptor) -> Self {
        self.parts.interception = Some(Arc::new(InterceptorOptions { mode, rules }));
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

    /// Records every finished call in the audit log. If `commands`, the log contains the commands
    /// themselves, else their digests and lengths. A call whose future was dropped is not recorded.
    #[must_use]
    pub fn audit(mut self, log: Arc<dyn AuditLog>, commands: bool) -> Self {
        self.parts.audit = Some(AuditOptions { log, commands });
        self
    }

    /// Sets the state directory and the conversation's name, under which change sets are stored.
    /// Required for trials.
    #[must_use]
    pub fn changes_in(mut self, state: PathBuf, session: impl Into<String>) -> Self {
        self.parts.changes_location = Some((state, session.into()));
        self
    }

    /// Configures the tool with the user's settings, except for the profile: the caller passes
    /// [`Settings::profile`] to [`BashTool::builder`].
    ///
    /// # Errors
    /// See [`Settings::rules`].
    pub fn settings(self, settings: &Settings) -> Result<Self, UnknownRule> {
        let mut builder = self
            .rules(settings.rules()?)
            .environment(settings.environment())
            .limits(settings.limits)
            .mask_secrets(settings.mask_secrets)
            .sandbox(settings.sandbox.clone())
            .changes(settings.changes.clone())
            .virtual_terminal(settings.virtual_terminal);
        if let Some(path) = &settings.audit_file {
            let log = Arc::new(AuditFile::new(path));
            builder = builder.audit(log, settings.audit_commands);
        }
        if let Some(path) = &settings.shell {
            builder = builder.shell(path.clone());
        }
        if let Some(prefix) = &settings.prefix {
            builder = builder.prefix(prefix.clone());
        }
        if let Some(level) = settings.safe_mode {
            let allowed = settings.safe_mode_allowed.clone();
            builder = builder.safe_mode(SafeMode { level, allowed });
        }
        if settings.interceptor != InterceptMode::Off {
            let rules = Interceptor::new(settings.interceptor_rules.iter().cloned());
            builder = builder.interceptor(settings.interceptor, rules);
        }
        if let Some(tools) = &settings.interceptor_tools {
            builder = builder.default_tools(tools);
        }
        Ok(builder)
    }

    /// Builds the tool, and finds its shell.
    pub fn build(self) -> BashTool {
        let Self {
            profile,
            host,
            executor,
            clock,
            parts,
        } = self;
        let host_env: BTreeMap<_, _> = (*host.env).clone();
        let environment = BaseEnvironment::build(host_env, &parts.environment);
        let filter = parts.environment.secrets.as_ref();
        let mask = parts.mask_secrets.mask(&host.env, filter);
        let secrets = filter.cloned().unwrap_or_default();
        let hide = parts
            .hide
            .unwrap_or_else(|| mask_secrets(Arc::clone(&host.env), secrets));
        let shell = shell_in_force(
            &profile,
            parts.shell.as_deref(),
            parts.safe_mode.is_some(),
            &environment.variables,
        );
        let changes = ChangeStore::new(
            parts.changes, parts.default_changes_level, parts.changes_location,
        );
        let protected = ProtectedPaths {
            home: host.home.clone(),
            extra: parts.sandbox.protected.clone(),
        };
        let sandbox = match &parts.safe_mode {
            Some(mode) if mode.level == SafeLevel::ReadOnly => parts.sandbox.in_safe_mode(),
            _ => parts.sandbox,
        };
        let terminal = parts
            .terminal
            .filter(|_| parts.virtual_terminal && profile.pty)
            .and_then(|executor| Terminal::offered(executor, &host, &parts.environment));
        let sandbox = SandboxState::new(sandbox).with_host(&host);
        BashTool {
            context: Arc::new(ToolContext {
                profile,
                host,
                executor,
                clock,
                artifacts: parts.artifacts,
                approver: parts.approver.unwrap_or_else(|| Arc::new(AllowAll)),
                askpass: parts.askpass,
                rules: parts.rules,
                exceptions: parts.exceptions,
                interception: parts.interception,
                safe_mode: parts.safe_mode,
                exported_functions: Arc::new(exported_functions(&environment.variables)),
                environment,
                environment_policy: parts.environment,
                hide,
                mask,
                shell,
                limits: parts.limits,
                prefix: parts.prefix,
                sessions: parts.sessions,
                jobs: parts.jobs,
                remote_host: parts.remote_host,
                audit: parts.audit,
                journal: parts.journal,
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
