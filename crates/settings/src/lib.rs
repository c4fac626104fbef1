//! Settings of the user, the project, the environment and the command line, in ascending
//! precedence, and the origin of each value.
//!
//! | layer | where |
//! |---|---|
//! | user | `$XDG_CONFIG_HOME/agent-bash/config.toml`, else `~/.config/agent-bash/config.toml` |
//! | project | the nearest `.agent-bash.toml` in or above the working directory |
//! | environment | `AGENT_BASH_` and the key in capitals: `AGENT_BASH_SAFE_MODE_LEVEL` |
//! | command line | [`LoadedSettings::set`] |
//!
//! Only regular files of at most 1 MB are read. A project's file in a parent directory (or in a
//! world-writable one) is used only if it belongs to the user or root and no other user may write
//! to it. [`LoadedSettings::ignored`] lists the other files.
//!
//! A project's file may only make settings stricter, because the file comes with a checkout. It may
//! not switch off a rule, raise a limit, or name a shell, a prefix or an environment. `keys` lists
//! the settings. An unknown key is an error that names the most similar key.
//! `agent_bash::BashToolBuilder::settings` passes the settings to a tool.

mod changes;
mod exported_functions;
mod git_aliases;
pub mod guarded_settings;
mod history;
mod host;
mod journal;
mod key;
mod keys;
mod layers;
mod mask_level;
mod sandbox;
mod shell;
mod source;
pub mod targets;
mod to_remote;

pub use agent_bash_proxy::Placeholders;
pub use changes::{ChangesSettings, CommitBy};
pub use exported_functions::exported_functions;
pub use git_aliases::git_aliases;
pub use host::HostContext;
pub use journal::{JournalSettings, mask_secrets};
pub use layers::{LoadedSettings, Origin, SettingsError, default_file, load, misspelt_variables};
pub use mask_level::MaskLevel;
pub use sandbox::{CacheAccess, SandboxSettings, SecretSettings};
pub use shell::shell_in_force;

use self::targets::{TargetSettings, TargetSettingsError};
use agent_bash_core::{Limits, OutputMask, Profile, ProfileName, SurvivorPolicy};
use agent_bash_policy::{
    Context, Dialect, Group, InterceptMode, InterceptRule, Interceptor, Policy, Predefined,
    RuleSelection, SafeLevel, SafeMode, UnknownRule, UserRule, default_rules,
};
use agent_bash_process::environment::{EnvironmentPolicy, Inherit, SecretFilter};
use agent_bash_remote::Target;
use agent_bash_tools::profiles;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// All settings with their defaults.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// The profile.
    pub profile: ProfileName,
    /// Default time limit of a call; `None` stands for the profile's limit.
    pub timeout: Option<Duration>,
    /// Maximum time limit of a call; `None` stands for the profile's maximum.
    pub timeout_max: Option<Duration>,
    /// The path of the shell; `None` stands for the profile's shell.
    pub shell: Option<PathBuf>,
    /// Words in front of every command.
    pub prefix: Option<String>,
    /// The policy for processes that outlive their call.
    pub survivors: SurvivorPolicy,
    /// Maximum number of characters of a shown line; longer lines are truncated.
    pub max_line_chars: Option<usize>,
    /// The secrets that are masked in output.
    pub mask_secrets: MaskLevel,
    /// True if the user may answer password prompts of commands, where the client can ask.
    pub ask_user: bool,
    /// True if commands run on a terminal of their own, provided that a user can see it.
    pub virtual_terminal: bool,
    /// The safety groups in force.
    pub safety_groups: BTreeSet<Group>,
    /// Rules that are in force although their group is not in force.
    pub safety_on: BTreeSet<String>,
    /// Rules that are not in force although their group is in force.
    pub safety_off: BTreeSet<String>,
    /// The rules of the user and the project.
    pub safety_rules: Vec<UserRule>,
    /// The level of safe mode; `None` if safe mode is off.
    pub safe_mode: Option<SafeLevel>,
    /// The command prefixes that safe mode allows.
    pub safe_mode_allowed: Vec<String>,
    /// The mode of the interceptor, for commands for which the model has a better tool.
    pub interceptor: InterceptMode,
    /// The names of the model's other tools; `None` if the settings name no tools.
    pub interceptor_tools: Option<Vec<String>>,
    /// The interceptor's rules, in order.
    pub interceptor_rules: Vec<InterceptRule>,
    /// The variables that a command inherits.
    pub inherit: Inherit,
    /// Variables that are kept although they look like secrets.
    pub keep: Vec<String>,
    /// Variables that are removed although they do not look like secrets.
    pub drop: Vec<String>,
    /// Variables that are set for every command.
    pub set: BTreeMap<String, String>,
    /// The value of `AGENT` for every command.
    pub agent: Option<String>,
    /// Resource limits of each call.
    pub limits: Limits,
    /// Time after which the MCP server answers a running call with a handle; zero means never.
    pub mcp_handle_after: Duration,
    /// True if answers of the MCP server also contain the result as structured data, for programs.
    pub mcp_structured: bool,
    /// The path of the audit log; `None` if calls are not recorded.
    pub audit_file: Option<PathBuf>,
    /// The sandbox of calls. Safe mode may make the sandbox stricter: see
    /// [`Settings::sandbox_in_force`].
    pub sandbox: SandboxSettings,
    /// The other machines on which calls may run, by name.
    pub targets: BTreeMap<String, TargetSettings>,
    /// The settings of change sets.
    pub changes: ChangesSettings,
    /// True if the terminal interface stores typed commands for its next run.
    pub tui_history: bool,
    /// The settings of the journal.
    pub journal: JournalSettings,
    /// True if the audit log contains the commands themselves instead of their digests.
    pub audit_commands: bool,
}

/// The variable by which programs see that an agent runs them.
const AGENT: &str = "AGENT";

impl Default for Settings {
    fn default() -> Self {
        Self {
            profile: ProfileName::default(),
            timeout: None,
            timeout_max: None,
            shell: None,
            prefix: None,
            survivors: SurvivorPolicy::default(),
            max_line_chars: None,
            mask_secrets: MaskLevel::default(),
            ask_user: false,
            virtual_terminal: false,
            safety_groups: Group::ALL
                .into_iter()
                .filter(|group| group.is_default())
                .collect(),
            safety_on: BTreeSet::new(),
            safety_off: BTreeSet::new(),
            safety_rules: Vec::new(),
            safe_mode: None,
            safe_mode_allowed: SafeMode::default().allowed,
            interceptor: InterceptMode::default(),
            interceptor_tools: None,
            interceptor_rules: default_rules(),
            inherit: Inherit::default(),
            keep: Vec::new(),
            drop: Vec::new(),
            set: BTreeMap::new(),
            agent: None,
            limits: Limits::default(),
            mcp_handle_after: Duration::from_secs(50),
            mcp_structured: false,
            audit_file: None,
            audit_commands: false,
            sandbox: SandboxSettings::default(),
            targets: BTreeMap::new(),
            changes: ChangesSettings::default(),
            tui_history: true,
            journal: JournalSettings::default(),
        }
    }
}

impl Settings {
    /// Returns the target with this name from the settings, or parses the name as a destination.
    ///
    /// # Errors
    /// The target or the name is invalid.
    pub fn target(&self, name: &str) -> Result<Target, TargetSettingsError> {
        match self.targets.get(name) {
            Some(target) => target.target(name),
            None => Ok(Target::parse(name)?),
        }
    }

    /// Returns the profile, modified by the settings.
    pub fn profile(&self) -> Profile {
        let mut profile = profiles::by_name(self.profile).clone();
        let times = &mut profile.timeouts;
        if let Some(max) = self.timeout_max {
            times.max = max;
            times.min = times.min.min(max);
            times.default = times.default.min(max);
            times.slow = times.slow.min(max);
        }
        if let Some(default) = self.timeout {
            times.default = default.clamp(times.min, times.max);
        }
        profile.survivors = self.survivors;
        profile.output.max_line_chars = self.max_line_chars.or(profile.output.max_line_chars);
        profile
    }

    /// True if the interceptor is on and the settings name no tools. The interceptor then has an
    /// effect only on calls that name tools.
    pub fn interceptor_names_no_tools(&self) -> bool {
        let names_no_tools = self.interceptor_tools.as_ref().is_none_or(Vec::is_empty);
        self.interceptor != InterceptMode::Off && names_no_tools
    }

    /// Returns the safety rules in force.
    ///
    /// # Errors
    /// A rule id is unknown. This cannot happen with loaded settings, which are validated.
    pub fn rules(&self) -> Result<RuleSelection, UnknownRule> {
        let mut rules = RuleSelection::of(self.safety_groups.iter().copied());
        for name in &self.safety_on {
            rules.switch(name, true)?;
        }
        for name in &self.safety_off {
            rules.switch(name, false)?;
        }
        rules.add_user_rules(self.safety_rules.iter().cloned());
        Ok(rules)
    }

    /// Returns the checks that these settings enable. The safety rules are always enabled; the
    /// other checks must be switched on.
    ///
    /// # Errors
    /// See [`Self::rules`].
    pub fn policy(&self) -> Result<Policy, UnknownRule> {
        let intercepts = self.interceptor == InterceptMode::Block;
        Ok(Policy {
            interceptor: intercepts
                .then(|| Interceptor::new(self.interceptor_rules.iter().cloned())),
            tools: self.interceptor_tools.clone().unwrap_or_default(),
            safety: Some(self.rules()?),
            safe_mode: self.safe_mode.map(|level| SafeMode {
                level,
                allowed: self.safe_mode_allowed.clone(),
            }),
        })
    }

    /// Returns the sandbox of calls: the sandbox of the settings, or a stricter sandbox in safe
    /// mode.
    pub fn sandbox_in_force(&self) -> SandboxSettings {
        match self.safe_mode {
            Some(SafeLevel::ReadOnly) => self.sandbox.clone().in_safe_mode(),
            Some(SafeLevel::Listed) | None => self.sandbox.clone(),
        }
    }

    /// Returns the facts of this host that the verdict on a script depends on.
    pub fn context(&self, host: &HostContext) -> Context {
        let is_safe_mode = self.safe_mode.is_some();
        let configured = self.shell.as_deref();
        let shell = shell_in_force(&self.profile(), configured, is_safe_mode, &host.env);
        Context {
            cwd: host.cwd.clone(),
            home: host.home.clone(),
            dialect: shell.map_or(Dialect::Bash, |shell| Dialect::of_shell(shell.path)),
            predefined: Arc::new(Predefined {
                functions: Arc::new(exported_functions(&host.env)),
                git_aliases: git_aliases(&host.cwd, &host.env),
                ..Predefined::default()
            }),
            protected: host.protected(),
        }
    }

    /// Returns the policy by which a command's environment is derived.
    pub fn environment(&self) -> EnvironmentPolicy {
        let mut secrets = SecretFilter::default();
        secrets.keep.extend(self.keep.iter().cloned());
        secrets.drop.extend(self.drop.iter().cloned());
        secrets.always.extend(self.sandbox.secrets.keys().cloned());
        let agent = self.agent.iter().map(|value| (AGENT, value.as_str()));
        let set = self.set.iter();
        let set = agent.chain(set.map(|(name, value)| (name.as_str(), value.as_str())));
        EnvironmentPolicy {
            inherit: self.inherit,
            secrets: Some(secrets),
            session: set
                .map(|(name, value)| (name.into(), Some(value.into())))
                .collect(),
            ..EnvironmentPolicy::default()
        }
    }

    /// Returns the mask for secrets in output; `None` if nothing is masked.
    pub fn output_mask(&self, host: &HostContext) -> Option<Arc<dyn OutputMask>> {
        let secrets = self.environment().secrets;
        self.mask_secrets.mask(&host.env, secrets.as_ref())
    }
}

#[cfg(test)]
#[path = "settings_tests.rs"]
mod tests;
