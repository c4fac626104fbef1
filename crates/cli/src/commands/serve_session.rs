//! Opens a session for the working directory, and ends it on a signal: for `rpc` and `mcp`.

use crate::args::ServingArgs;
use crate::commands::{encryption, target};
use crate::process_start::StartContext;
use crate::runtime;
use crate::signals::CancelSignals;
use agent_bash::Conversation;
use agent_bash::process::supervisor::Supervisor;
use agent_bash::session::ConversationOptions;
use agent_bash::settings::Settings;
use agent_bash::sink::SessionClaim;
use anyhow::Context;
use std::path::Path;
use std::sync::Arc;

/// Opens the session, and runs `serve` until it returns. A termination signal triggers the
/// [`CancelSignals`] that `serve` receives; the server then ends in order.
pub(crate) fn serve<F>(
    args: &ServingArgs,
    start: &StartContext,
    protocol: &str,
    serve: impl FnOnce(Arc<Conversation>, Settings, CancelSignals) -> F,
) -> anyhow::Result<u8>
where
    F: Future<Output = anyhow::Result<()>> + Send + 'static,
{
    let settings = start.settings(&args.chosen())?.settings;
    // The claim is held while serving.
    let (name, _claim) = session_name_for(args.state.as_deref(), protocol, start);
    let runtime = runtime::start(None)?;
    let supervisor = Supervisor::this_program(&start.token);
    let served = runtime.block_on(async {
        let signals = CancelSignals::listen().context("cannot listen for signals")?;
        let options = ConversationOptions::long_lived(name, supervisor.clone());
        let session = if let Some(name) = &args.on {
            target::open(name, None, &settings, start, options, |builder| builder).await?
        } else {
            encryption::warn(&settings);
            Conversation::open(&settings, start.host.clone(), options)?
        };
        let session = Arc::new(session);
        // The server runs as a task: tasks that it wakes then run on the same thread, which saves
        // two thread switches per message.
        let served = tokio::spawn(serve(Arc::clone(&session), settings, signals));
        let served = served.await.context("the server has panicked")?;
        session.close();
        if let Some(remote) = session.remote_host() {
            remote.close().await;
        }
        served
    });
    runtime::end(runtime, &supervisor);
    served.map(|()| 0)
}

/// Returns the requested session. By default, returns the first session of the working directory
/// that no other program has claimed, and the claim.
pub(crate) fn session_name_for(
    requested: Option<&str>,
    protocol: &str,
    start: &StartContext,
) -> (String, Option<SessionClaim>) {
    if let Some(name) = requested {
        return (name.to_owned(), None);
    }
    let name = name_for(protocol, &start.host.cwd);
    let state = start.host.state_dir();
    // Without a state directory, nothing is shared and no claim is needed.
    match state.map(|state| SessionClaim::first_free(&state, &name)) {
        Some(Ok(claim)) => (claim.name().to_owned(), Some(claim)),
        Some(Err(_)) | None => (name, None),
    }
}

/// Returns `rpc-project-1f0a…`: the same for each start in a directory, different for different
/// directories.
fn name_for(protocol: &str, cwd: &Path) -> String {
    const MAX_NAME_CHARS: usize = 32;
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let directory = cwd.file_name().unwrap_or_default().to_string_lossy();
    let directory: String = directory
        .chars()
        .map(|c| if plain(c) { c } else { '_' })
        .take(MAX_NAME_CHARS)
        .collect();
    let hash = fnv1a(cwd.as_os_str().as_encoded_bytes());
    format!("{protocol}-{directory}-{hash:016x}")
}

/// The 64-bit FNV-1a hash. It is part of directory names, so it must be the same in every build.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::session_name;

    #[test]
    fn default_session_names_differ_by_directory() {
        assert_eq!(fnv1a(b"a"), 0xaf63_dc4c_8601_ec8c, "as published");
        let name = name_for("rpc", Path::new("/src/my project"));
        assert!(name.starts_with("rpc-my_project-"), "{name}");
        assert!(session_name(&name).is_ok());
        assert_ne!(name, name_for("rpc", Path::new("/other/my project")));
        assert!(session_name(&name_for("mcp", Path::new("/"))).is_ok());
        let long = format!("/{}", "é".repeat(200));
        assert!(session_name(&name_for("mcp", Path::new(&long))).is_ok());
    }
}
