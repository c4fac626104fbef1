//! `--on TARGET`: a session whose calls run on another machine.

use crate::start::Start;
use crate::usage::Usage;
use agent_bash::BashToolBuilder;
use agent_bash::remote::Uploads;
use agent_bash::session::{Conversation, ConversationOptions, OpenError};
use agent_bash::settings::Settings;
use std::path::PathBuf;
use std::sync::Arc;

/// This program, whatever became of its file since it was started.
const THIS_PROGRAM: &str = "/proc/self/exe";

/// Opens the session on the target of that name.
pub(crate) async fn open(
    name: &str,
    settings: &Settings,
    start: &Start,
    options: ConversationOptions,
    add: impl FnOnce(BashToolBuilder) -> BashToolBuilder + Send,
) -> anyhow::Result<Conversation> {
    let target = settings.target(name);
    let target = target.map_err(|error| Usage(format!("--on: {error}")))?;
    let program = settings
        .targets
        .get(name)
        .and_then(|target| target.program.clone());
    let uploads = Uploads::of(program.unwrap_or_else(|| PathBuf::from(THIS_PROGRAM)));
    let host = start.host.clone();
    let session = Conversation::open_on(target, Arc::new(uploads), settings, host, options, add);
    session.await.map_err(|error| match error {
        OpenError::Name(error) => Usage(format!("--state: {error}")).into(),
        other => other.into(),
    })
}
