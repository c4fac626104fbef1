//! A session on a target, as a host written in Rust opens it.

use super::SOON;
use agent_bash::HostContext;
use agent_bash::core::{Cancel, Status};
use agent_bash::process::supervisor::Supervisor;
use agent_bash::remote::{Target, TargetTransport, Uploads};
use agent_bash::session::{Conversation, ConversationOptions};
use agent_bash::settings::Settings;
use agent_bash_tests::product;
use agent_bash_tests::world::World;
use anyhow::{Context, Result, ensure};
use serde_json::json;
use std::sync::Arc;
use tokio::runtime::Builder;

/// This world, behind a shell: the target's environment has the variables of the world.
fn target(world: &World, words: &[&str]) -> Target {
    let words = words.iter().map(|&word| word.to_owned()).collect();
    let mut target = Target::new("there", TargetTransport::Command(words));
    target.env = world.environment();
    target.cwd = Some(world.cwd().display().to_string());
    target
}

async fn open(world: &World, target: Target) -> Result<Conversation> {
    let env = world.environment().into_iter();
    let host = HostContext {
        cwd: "/".into(),
        home: Some(world.home()),
        env: Arc::new(
            env.map(|(name, value)| (name.into(), value.into()))
                .collect(),
        ),
        tools: None,
        processes: Arc::default(),
    };
    let uploads = Arc::new(Uploads::of(product::agent_bash()?));
    let options = ConversationOptions::long_lived("library", Supervisor::fallback());
    let settings = Settings::default();
    Ok(Conversation::open_on(target, uploads, &settings, host, options, |builder| builder).await?)
}

#[test]
fn remote_session_is_checked_locally_and_runs_remotely() -> Result<()> {
    let world = World::new()?;
    let runtime = Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let session = open(&world, target(&world, &["sh", "-c", "{script}"])).await?;
        let cancel = Cancel::new();
        let script = json!("pwd; echo $$ > pid; exit 3");
        let result = session.tool().execute(script, &cancel).await;
        ensure!(result.status == Status::Exited { code: 3 }, "{result:?}");
        ensure!(
            result.text.starts_with(&world.cwd().display().to_string()),
            "{result:?}"
        );
        ensure!(result.target.as_deref() == Some("there"), "{result:?}");
        let remote_host = session.remote_host().context("it has a place")?;
        let shells = remote_host.ask("session.list", json!({}), &cancel).await;
        ensure!(shells.is_ok_and(|shells| shells["sessions"].is_array()));
        ensure!(
            session.jobs().is_none() && session.artifacts().is_none(),
            "of this machine"
        );
        remote_host.close().await;

        // An unreachable target is an error only once a command is to run.
        let nowhere = target(&world, &["sh", "-c", "exit 7", "{script}"]);
        let session = open(&world, nowhere).await?;
        let result = session.tool().execute(json!("touch ran"), &cancel).await;
        let Status::NotStarted { reason } = &result.status else {
            anyhow::bail!("{result:?}");
        };
        ensure!(reason.contains("was not reached"), "{reason}");
        ensure!(!world.cwd().join("ran").exists());
        Ok(())
    })?;
    drop(runtime);
    world.assert_nothing_left(SOON);
    Ok(())
}
