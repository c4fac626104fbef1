//! Upper bounds of text length for any output.

use crate::scripted::{Scripted, outcome, tool};
use agent_bash::core::{Cancel, ScriptEnding, StreamId, ToolResult};
use agent_bash::profiles;
use proptest::prelude::*;
use serde_json::json;
use std::time::Duration;
use tokio::runtime::Builder;

/// Chunk size of a program with a small buffer.
const CHUNK: usize = 1000;

/// The result of a `modes` call whose command printed `output`.
fn modes(output: &[u8], ending: ScriptEnding) -> ToolResult {
    let chunks = output.chunks(CHUNK);
    let chunks = chunks.map(|chunk| (StreamId::Merged, chunk.to_vec()));
    let executor = Scripted::new(chunks.collect(), Ok(outcome(ending)));
    let tool = tool(&profiles::MODES, &executor);
    let cancel = Cancel::new();
    let runtime = Builder::new_current_thread().build().unwrap();
    runtime.block_on(tool.execute(json!("x"), &cancel))
}

/// Outputs with lengths around the limit: a repeated pattern.
fn outputs() -> impl Strategy<Value = Vec<u8>> {
    let pattern = prop_oneof![
        proptest::collection::vec(any::<u8>(), 1..60),
        "[a-z\\n]{1,60}".prop_map(String::into_bytes),
        "\\PC{1,40}".prop_map(String::into_bytes),
    ];
    (pattern, 0_usize..400_000)
        .prop_map(|(pattern, length)| pattern.iter().copied().cycle().take(length).collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// The promise of `modes` about its limit.
    #[test]
    fn text_of_modes_exceeds_the_limit_by_at_most_200(output in outputs(), code in 0_i32..3) {
        const LIMIT: usize = 128 * 1024;
        let printed = output.len();
        let result = modes(&output, ScriptEnding::Exited { code });
        prop_assert!(result.text.len() <= LIMIT + 200, "{printed} bytes gave {}", result.text.len());
        prop_assert!(result.output.total_bytes == printed as u64);
    }
}

#[test]
fn output_is_truncated_only_above_the_limit() {
    const LIMIT: usize = 128 * 1024;
    let whole = modes(&vec![b'x'; LIMIT], ScriptEnding::Exited { code: 0 });
    assert_eq!(whole.text.len(), LIMIT);
    let cut = modes(&vec![b'x'; LIMIT + 1], ScriptEnding::Exited { code: 0 });
    let ends = "x".repeat(4096);
    assert_eq!(
        cut.text,
        format!(
            "[output truncated in middle: got 131073 bytes, max is 128 KB]\n{ends}\n\n[snip]\n\n{ends}"
        )
    );
    let timed_out = ScriptEnding::TimedOut {
        after: Duration::from_secs(30),
    };
    let text = modes(&vec![b'x'; 1536 * 1024], timed_out).text;
    assert!(text.starts_with(
        "[command timed out after 30s]\n[output truncated in middle: got 1.5 MB, max is 128 KB]\nxxx"
    ));
}
