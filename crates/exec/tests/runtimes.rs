//! A host may use a separate runtime for each call. What a runtime should have waited for is still
//! waited for after it ends. A single test in a process of its own, as it examines all children.

#![expect(clippy::unwrap_used, reason = "a test that fails may stop")]

#[path = "it/support.rs"]
mod support;

use agent_bash_core::Cancel;
use std::time::Duration;
use support::census::Census;
use support::process_state::children;
use support::{cache_with, marked, run_with, soon};

fn runtime() -> tokio::runtime::Runtime {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    builder.enable_all().build().unwrap()
}

#[test]
fn ended_runtime_leaves_no_zombie() {
    let census = Census::new();
    for script in ["true", "sleep 1000"] {
        runtime().block_on(async {
            let cache = cache_with(|it| it.warm_shells = 2);
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
