//! The configuration and components of a tool, as the host has set them. The stages depend on this
//! module; this module does not depend on the stages.

use crate::HostContext;
use crate::approval::Approver;
use agent_bash_core::{
    ArtifactStore, AuditLog, Cancel, Clock, Executor, Limits, NotStarted, OutputMask, Profile,
    RemoteHost, RunSpec, Shell,
};
use agent_bash_exec::{Job, JobError, JobStdin, Jobs, ShellCache};
use agent_bash_journal::{Journal, MaskSecrets};
use agent_bash_policy::{Dialect, InterceptMode, Interceptor, RuleSelection, SafeMode};
use agent_bash_process::environment::{BaseEnvironment, EnvironmentPolicy, UserPresence};
use agent_bash_state::exceptions::Exceptions;
use agent_bash_state::in_order::SessionQueues;
use agent_bash_state::{ChangeStore, SandboxState, SessionDefinitions};
use async_trait::async_trait;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

/// The context of the stages: the tool's configuration and components. No call changes them.
#[derive(Clone)]
pub(crate) struct ToolContext {
    pub(crate) profile: Profile,
    pub(crate) host: HostContext,
    pub(crate) executor: Arc<dyn Executor>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) artifacts: Option<Arc<dyn ArtifactStore>>,
    pub(crate) approver: Arc<dyn Approver>,
    /// The program that may serve as askpass program, if the user is to answer password prompts.
    pub(crate) askpass: Option<PathBuf>,
    pub(crate) rules: RuleSelection,
    /// The refused commands, and the user's permissions for them.
    pub(crate) exceptions: Option<Exceptions>,
    pub(crate) interception: Option<Arc<InterceptorOptions>>,
    pub(crate) safe_mode: Option<SafeMode>,
    pub(crate) environment: BaseEnvironment,
    /// The functions that `environment` exports, by name.
    pub(crate) exported_functions: Arc<BTreeMap<String, String>>,
    /// The policy by which `environment` was derived.
    pub(crate) environment_policy: EnvironmentPolicy,
    /// Masks the host's secrets in stored texts.
    pub(crate) hide: MaskSecrets,
    /// Masks secrets in output.
    pub(crate) mask: Option<Arc<dyn OutputMask>>,
    /// The shell. An error is reported by each call, not when the tool is built (docs/contract.md).
    pub(crate) shell: Result<Shell, NotStarted>,
    pub(crate) limits: Limits,
    /// Words in front of every command.
    pub(crate) prefix: Option<String>,
    /// True if the executor has persistent shells.
    pub(crate) sessions: bool,
    pub(crate) jobs: Option<Arc<dyn JobStarter>>,
    /// The remote host on which calls run; `None` if calls run on this machine.
    pub(crate) remote_host: Option<Arc<dyn RemoteHost>>,
    pub(crate) audit: Option<AuditOptions>,
    /// The journal of the conversation.
    pub(crate) journal: Option<Arc<Journal>>,
    pub(crate) terminal: Option<Terminal>,
    /// The sandbox settings, and the state that calls share.
    pub(crate) sandbox: Arc<SandboxState>,
    /// True if the model knows the fields of its schema. False if the model knows the fields
    /// of an adapter's tool.
    pub(crate) has_own_fields: bool,
    /// The settings and the store of change sets.
    pub(crate) changes: Arc<ChangeStore>,
    /// The queues of calls in front of persistent shells.
    pub(crate) queues: Arc<SessionQueues>,
    /// The definitions in persistent shells.
    pub(crate) session_definitions: Arc<SessionDefinitions>,
}

impl ToolContext {
    /// Runs work on files on another thread and returns its result. `None` if the file system does
    /// not respond in time.
    pub(crate) async fn within_limit<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        let file_access = &self.sandbox.file_access;
        file_access.within_limit(&*self.clock, work).await
    }

    /// Returns the shell dialect in which commands are parsed.
    pub(crate) fn dialect(&self) -> Dialect {
        if let Some(remote_host) = &self.remote_host {
            let shell = remote_host.shell();
            return shell.map_or(Dialect::Bash, |shell| Dialect::of_shell(&shell));
        }
        let shell = self.shell.as_ref();
        shell.map_or(Dialect::Bash, |shell| Dialect::of_shell(&shell.path))
    }
}

/// The rules about commands for which the model has a better tool, and the effect of a match.
pub(crate) struct InterceptorOptions {
    pub(crate) mode: InterceptMode,
    pub(crate) rules: Interceptor,
}

/// The host's audit log.
#[derive(Clone)]
pub(crate) struct AuditOptions {
    pub(crate) log: Arc<dyn AuditLog>,
    /// True to record the commands themselves.
    pub(crate) commands: bool,
}

/// Starts background jobs. Implemented by [`ShellCache`], and by hosts with a job system of their
/// own.
#[async_trait]
pub trait JobStarter: Send + Sync {
    /// Starts a job, and reports its state after the first 250 ms.
    ///
    /// # Errors
    /// [`JobError`]: nothing of the script has run.
    async fn start_job(
        &self,
        spec: &RunSpec,
        stdin: JobStdin,
        cancel: &Cancel,
    ) -> Result<Job, JobError>;

    /// Returns the list of the started jobs, if the starter uses [`Jobs`]. Notices then name the
    /// jobs.
    fn jobs(&self) -> Option<Arc<Jobs>> {
        None
    }
}

#[async_trait]
impl JobStarter for ShellCache {
    async fn start_job(
        &self,
        spec: &RunSpec,
        stdin: JobStdin,
        cancel: &Cancel,
    ) -> Result<Job, JobError> {
        Self::start_job(self, spec, stdin, cancel).await
    }

    fn jobs(&self) -> Option<Arc<Jobs>> {
        Self::jobs(self).cloned()
    }
}

/// Variables that forbid terminals if their value is `1`: the variable of agent-bash, and the
/// variable of pi.
const NO_TERMINAL_VARIABLES: [&str; 2] = ["AGENT_BASH_NO_PTY", "PI_NO_PTY"];

/// The executor and the environment of commands on terminals.
#[derive(Clone)]
pub(crate) struct Terminal {
    pub(crate) executor: Arc<dyn Executor>,
    /// The environment, with the defaults for programs that a user can see.
    pub(crate) environment: BaseEnvironment,
}

impl Terminal {
    /// Returns the terminals that `executor` provides, unless the host's environment forbids them.
    pub(crate) fn offered(
        executor: Arc<dyn Executor>,
        host: &HostContext,
        policy: &EnvironmentPolicy,
    ) -> Option<Self> {
        let is_set = |name: &str| {
            let value = host.env.get(&OsString::from(name));
            value.is_some_and(|value| value == "1")
        };
        if NO_TERMINAL_VARIABLES.into_iter().any(is_set) {
            return None;
        }
        let policy = EnvironmentPolicy {
            unattended: policy.unattended.map(|_| UserPresence::Terminal),
            ..policy.clone()
        };
        let variables = host.env.iter();
        let variables = variables.map(|(name, value)| (name.clone(), value.clone()));
        Some(Self {
            executor,
            environment: BaseEnvironment::build(variables, &policy),
        })
    }
}
