//! `--on TARGET`: a session whose calls run on another machine.

use super::session::not_opened;
use crate::process_start::StartContext;
use crate::usage::UsageError;
use agent_bash::BashToolBuilder;
use agent_bash::remote::Uploads;
use agent_bash::session::{Conversation, ConversationOptions};
use agent_bash::settings::Settings;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The path of this program, even if its file was replaced since the start.
const THIS_PROGRAM: &str = "/proc/self/exe";

/// Opens a session on the target of that name. Its calls work in `cwd`, which is relative to the
/// target's own directory and determines its workspace.
pub(crate) async fn open(
    name: &str,
    cwd: Option<&str>,
    settings: &Settings,
    start: &StartContext,
    options: ConversationOptions,
    add: impl FnOnce(BashToolBuilder) -> BashToolBuilder + Send,
) -> anyhow::Result<Conversation> {
    let target = settings.target(name);
    let mut target = target.map_err(|error| UsageError(format!("--on: {error}")))?;
    if let Some(cwd) = cwd {
        let cwd = match &target.cwd {
            // A path that begins with `~` is not joined to another directory.
            Some(base) if !cwd.starts_with('~') => Path::new(base).join(cwd).display().to_string(),
            _ => cwd.to_owned(),
        };
        target.cwd = Some(cwd);
    }
    let program = settings
        .targets
        .get(name)
        .and_then(|target| target.program.clone());
    let uploads = Uploads::of(program.unwrap_or_else(|| PathBuf::from(THIS_PROGRAM)));
    let host = start.host.clone();
    let session = Conversation::open_on(target, Arc::new(uploads), settings, host, options, add);
    session.await.map_err(not_opened)
}
