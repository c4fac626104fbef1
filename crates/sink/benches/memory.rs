//! Memory use of a sink: resident memory before, and its peak while 1 GiB of several kinds of
//! output goes through. The target is a growth of at most 4 MiB.

#[path = "shared/fixtures.rs"]
mod fixtures;

use agent_bash_core::{ArtifactStore, Truncation};
use fixtures::{end, sink, store};
use std::sync::Arc;

/// Bytes pushed per kind of output.
const PUSHED: u64 = 1 << 30;

/// Bytes pushed per kind if the bench is only tested.
const PUSHED_IN_TEST: u64 = 1 << 22;

/// Largest accepted growth of resident memory, in bytes.
const MAX_GROWTH: u64 = 4 << 20;

fn main() {
    // `cargo test --benches` only checks that the bench runs, so a small input is enough.
    let pushed = if std::env::args().any(|arg| arg == "--bench") {
        PUSHED
    } else {
        PUSHED_IN_TEST
    };
    let policies = [
        ("tail", Truncation::Tail { bytes: 50 * 1024 }),
        (
            "middle",
            Truncation::Middle {
                max: 128 * 1024,
                ends: 4 * 1024,
            },
        ),
        (
            "head_tail",
            Truncation::HeadTail {
                max_bytes: 50 * 1024,
                max_lines: 2000,
                head_lines: 500,
                tail_lines: 500,
            },
        ),
        (
            "head",
            Truncation::Head {
                bytes: 100 * 1024,
                whole_lines: false,
            },
        ),
    ];
    let kinds: [(&str, String); 7] = [
        (
            "text",
            "the quick brown fox jumps over the lazy dog\n".into(),
        ),
        ("one line", "x".repeat(100)),
        ("heavy SGR", "\x1b[1;32mok\x1b[0m \x1b[2mms\x1b[0m\n".into()),
        ("a colour per letter", "\x1b[31mx".into()),
        ("yes", "y\n".into()),
        ("one OSC without end", "\x1b]0;title".into()),
        ("progress bar", "\r50% done".into()),
    ];
    for (kind, unit) in &kinds {
        let chunk = unit.repeat((64 << 10) / unit.len());
        for (name, policy) in policies {
            measure(kind, name, policy, chunk.as_bytes(), pushed, None);
        }
        let Ok(root) = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")) else {
            continue;
        };
        let artifacts = store(root.path());
        measure(
            kind,
            "on disk",
            policies[0].1,
            chunk.as_bytes(),
            pushed,
            Some(artifacts),
        );
    }
}

fn measure(
    kind: &str,
    name: &str,
    policy: Truncation,
    chunk: &[u8],
    pushed: u64,
    store: Option<Arc<dyn ArtifactStore>>,
) {
    let before = resident();
    let mut peak = before;
    let mut sink = sink(policy, None, store);
    let mut done = 0;
    while done < pushed {
        sink.push(chunk);
        done += chunk.len() as u64;
        if done % (64 << 20) < chunk.len() as u64 {
            peak = peak.max(resident());
        }
    }
    peak = peak.max(resident());
    let report = sink.finish(&end());
    peak = peak.max(resident());
    print(
        kind,
        name,
        peak.saturating_sub(before),
        report.summary.total_bytes,
    );
}

#[expect(clippy::print_stdout, reason = "a bench prints its figures")]
fn print(kind: &str, policy: &str, grown: u64, total: u64) {
    let verdict = if grown <= MAX_GROWTH {
        ""
    } else {
        "  MORE THAN 4 MiB"
    };
    println!(
        "{kind:>20} {policy:>10}: {:>6} KiB more for {} MiB{verdict}",
        grown >> 10,
        total >> 20
    );
}

/// Returns the resident memory in bytes; 0 if the system does not report it.
fn resident() -> u64 {
    std::fs::read_to_string("/proc/self/status")
        .ok()
        .and_then(|status| {
            let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
            line.split_ascii_whitespace().nth(1)?.parse::<u64>().ok()
        })
        .map_or(0, |kilobytes| kilobytes << 10)
}
