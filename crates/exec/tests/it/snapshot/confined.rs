//! A configuration that is read in a sandbox: it defines what it defines elsewhere, but changes
//! nothing outside, and knows no secret.

use super::home::Home;
use super::{run, skipped};
use agent_bash_core::sandbox::{Plan, Tier, WriteLevel};
use agent_bash_exec::{CaptureSandbox, SnapshotOptions};
use async_trait::async_trait;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

/// A sandbox without writable files, in which one file is hidden.
#[derive(Debug)]
struct ReadOnlySandbox {
    hidden: PathBuf,
}

#[async_trait]
impl CaptureSandbox for ReadOnlySandbox {
    fn directory(&self) -> PathBuf {
        std::env::temp_dir()
    }

    async fn plan(&self, tier: Tier) -> Result<Plan, String> {
        Ok(Plan {
            hidden: vec![self.hidden.clone()].into(),
            ..Plan::new(WriteLevel::ReadOnly, tier)
        })
    }
}

/// Defines a function only on a terminal, as many configurations do, reads a file, and writes one.
const RC: &str = "[ -t 0 ] && on_terminal() { echo terminal; }
found() { echo \"found $FOUND\"; }; export FOUND=$(cat ~/hidden)
echo x >~/written";

#[tokio::test(flavor = "multi_thread")]
async fn configuration_in_a_sandbox_defines_and_changes_nothing() {
    for is_sandboxed in [true, false] {
        let home = Home::with("empty");
        home.write_rc(RC);
        fs::write(home.path("hidden"), "text\n").unwrap();
        let hidden = home.path("hidden");
        let sandbox: Arc<dyn CaptureSandbox> = Arc::new(ReadOnlySandbox { hidden });
        let options = SnapshotOptions {
            sandbox: is_sandboxed.then_some(sandbox),
            ..home.options()
        };
        let cache = home.cache_with(options, 0);
        let ran = run(&cache, &home.spec("on_terminal; found")).await;
        let text = if is_sandboxed { "" } else { "text" };
        assert_eq!(ran.out, format!("terminal\nfound {text}\n"), "{ran:?}");
        assert_eq!(home.path("written").exists(), !is_sandboxed);
    }
}

/// Without a plan, the configuration is not read at all.
#[derive(Debug)]
struct NoSandbox;

#[async_trait]
impl CaptureSandbox for NoSandbox {
    fn directory(&self) -> PathBuf {
        std::env::temp_dir()
    }

    async fn plan(&self, _: Tier) -> Result<Plan, String> {
        Err("no plan".to_owned())
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn configuration_is_not_read_without_its_sandbox() {
    let home = Home::with("empty");
    home.write_rc(RC);
    let options = SnapshotOptions {
        sandbox: Some(Arc::new(NoSandbox)),
        ..home.options()
    };
    let cache = home.cache_with(options, 0);
    let ran = run(&cache, &home.spec("echo hi")).await;
    assert_eq!(ran.out, "hi\n");
    let reason = skipped(&ran).unwrap();
    assert!(reason.ends_with("cannot be started: no plan"), "{reason}");
    assert!(!home.path("written").exists());
}
