//! A host may use a separate runtime for each call. What a runtime should have waited for is still
//! waited for after it ends. A single test in a process of its own, as it examines all children.

#![expect(clippy::unwrap_used, reason = "a test that fails may stop")]

#[path = "it/support.rs"]
mod support;

use agent_bash_core::Cancel;
use agent_bash_exec::{ShellCache, ShellCacheOptions};
use std::time::Duration;
use support::census::Census;
use support::process_state::children;
use support::{marked, options, run_with, soon};

fn runtime() -> tokio::runtime::Runtime {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    builder.enable_all().build().unwrap()
}

#[test]
fn ended_runtime_leaves_no_zombie() {
    let census = Census::new();
    for script in ["true", "sleep 1000"] {
        runtime().block_on(async {
            let cache = ShellCache::new(ShellCacheOptions {
                warm_shells: 2,
                ..options()
            });
            let spec = marked(script, &census).timeout(None);
            let cancel = Cancel::new();
            let call = run_with(&cache, &spec, &cancel);
            // The second one is dropped on the way.
            let _ = tokio::time::timeout(Duration::from_millis(500), call).await;
        });
    }
    runtime().block_on(async {
        census.assert_empty_soon("two runtimes").await;
        let reaped = soon(|| children().is_empty()).await;
        assert!(reaped, "{}", children());
    });
}
