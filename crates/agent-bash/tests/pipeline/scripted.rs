//! Tools with test doubles.

pub(crate) use agent_bash_test_kit::scripted::{Memory, Scripted, Stopped, outcome};

use agent_bash::core::{Clock, Executor, Profile};
use agent_bash::{BashTool, BashToolBuilder, HostContext};
use std::path::Path;
use std::sync::Arc;

/// The value of `GH_TOKEN` in the environment of the host.
pub(crate) const SECRET: &str = "hush-4Jx9QmT2wLz7";

pub(crate) fn builder(profile: &Profile, executor: &Arc<Scripted>, cwd: &Path) -> BashToolBuilder {
    builder_with(profile, executor.clone(), cwd)
}

/// As [`builder`], with another executor.
pub(crate) fn builder_with(
    profile: &Profile,
    executor: Arc<dyn Executor>,
    cwd: &Path,
) -> BashToolBuilder {
    builder_by(profile, executor, cwd, Arc::new(Stopped))
}

/// As [`builder_with`], by another clock.
pub(crate) fn builder_by(
    profile: &Profile,
    executor: Arc<dyn Executor>,
    cwd: &Path,
    clock: Arc<dyn Clock>,
) -> BashToolBuilder {
    let host = HostContext {
        cwd: cwd.to_path_buf(),
        home: Some("/home/nobody".into()),
        env: Arc::new(
            [("PATH", "/usr/bin:/bin"), ("GH_TOKEN", SECRET)]
                .map(|(name, value)| (name.into(), value.into()))
                .into(),
        ),
        tools: None,
        processes: Arc::default(),
    };
    BashTool::builder(profile.clone(), host, executor, clock)
}

pub(crate) fn tool(profile: &Profile, executor: &Arc<Scripted>) -> BashTool {
    builder(profile, executor, Path::new("/")).build()
}
