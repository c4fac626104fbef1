//! The `bash` tool: a profile, the host's context, and the components that do the work. A tool is
//! built once, and called many times and concurrently.

use crate::approval::Approver;
use crate::call::CallOptions;
use crate::call_policy::{CallPolicy, CheckOptions};
use crate::live_feed::LiveFeed;
use crate::pipeline;
use crate::stage::parse_input::Input;
use crate::tool_context::ToolContext;
use crate::trials;
use agent_bash_core::sandbox::{Report, SandboxLevel};
use agent_bash_core::{Cancel, NotStarted, OutputMask, Profile, Shell, ToolResult};
use agent_bash_policy::Verdict;
use agent_bash_process::environment::BaseEnvironment;
use agent_bash_settings::SandboxSettings;
use agent_bash_sink::LiveUpdates;
use agent_bash_tools::{FinishedCall, ToolSchema, profiles};
use std::fmt;
use std::sync::Arc;

/// The tool. Cheap to clone; clones are handles to the same tool.
#[derive(Clone)]
pub struct BashTool {
    pub(crate) context: Arc<ToolContext>,
}

impl BashTool {
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
        self.execute_with_details(input, options, cancel)
            .await
            .result
    }

    /// Executes a call with options. In addition to the result, returns the data from which other
    /// texts can be written.
    pub async fn execute_with_details(
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
        self.modified(|context| (context.profile, context.has_own_fields) = (profile, false))
    }

    /// Returns the same tool with another approver.
    #[must_use]
    pub fn with_approver(&self, approver: Arc<dyn Approver>) -> Self {
        self.modified(|context| context.approver = approver)
    }

    fn modified(&self, change: impl FnOnce(&mut ToolContext)) -> Self {
        let mut tool = self.clone();
        change(Arc::make_mut(&mut tool.context));
        tool
    }

    /// Checks a script without running it, as for a call whose shell has no definitions of the
    /// user.
    pub fn check(&self, script: &str) -> Verdict {
        let options = CheckOptions::default();
        let policy = CallPolicy::without_definitions(&self.context, options);
        policy.check(script).verdict
    }

    /// Returns the checks of a call, which read scripts with the definitions of the call's shell.
    /// Like a call, waits for the earlier calls of the persistent shell. `None` if cancelled
    /// meanwhile.
    pub async fn call_policy(&self, options: CheckOptions, cancel: &Cancel) -> Option<CallPolicy> {
        CallPolicy::of_call(&self.context, options, cancel).await
    }

    /// Returns the schema for a model. The schema offers trials if trials are possible in the
    /// tool's directory and changes are recorded, and names the promises of the sandbox that this
    /// system cannot enforce. Tests both, which takes a few milliseconds the first time.
    pub async fn offered_schema(&self) -> ToolSchema {
        let context = &self.context;
        let is_sandboxed = context.sandbox.settings.level != SandboxLevel::Off;
        let report = if is_sandboxed {
            // If the system has no sandbox, each call is refused with an error that reports this.
            context.executor.sandbox_report().await.ok()
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
        profiles::schema(&self.context.profile, &self.context.host.cwd)
            .with_safe_mode(self.context.safe_mode.as_ref())
            .with_sandbox(&self.context.sandbox.settings.terms(), report)
    }

    /// Returns the tool's profile.
    pub fn profile(&self) -> &Profile {
        &self.context.profile
    }

    /// Returns the approver.
    pub fn approver(&self) -> &Arc<dyn Approver> {
        &self.context.approver
    }

    /// Returns the base environment of commands, and the host's variables that were removed from
    /// it.
    pub fn environment(&self) -> &BaseEnvironment {
        &self.context.environment
    }

    /// True if commands may run on a terminal: see
    /// [`BashToolBuilder::terminal`](crate::BashToolBuilder::terminal).
    pub fn offers_terminal(&self) -> bool {
        self.context.terminal.is_some()
    }

    /// True if calls may name a persistent shell: see
    /// [`BashToolBuilder::sessions`](crate::BashToolBuilder::sessions).
    pub fn offers_sessions(&self) -> bool {
        self.context.sessions
    }

    /// True if calls run in safe mode: see
    /// [`BashToolBuilder::safe_mode`](crate::BashToolBuilder::safe_mode).
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
    pub async fn sandbox_report(&self) -> Result<Report, NotStarted> {
        self.context.executor.sandbox_report().await
    }

    /// Checks whether the changes of calls can be traced, as far as this is known before a call.
    ///
    /// # Errors
    /// The reason why calls cannot be traced.
    pub async fn check_recording(&self) -> Result<(), String> {
        self.context.executor.check_recording().await
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
