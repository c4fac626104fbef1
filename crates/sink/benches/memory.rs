//! How much memory a sink needs, whatever goes through it: resident memory before and at the most after 1 GiB of
//! several kinds of output. 3.5 asks for at most 4 MiB more.

use agent_bash_core::{
    ArtifactEnd, ArtifactMeta, OutputLimits, Status, StreamId, Timestamp, Truncation,
};
use agent_bash_sink::{CarriageReturn, OutputSink, SinkOptions};
use std::time::Duration;

/// Bytes pushed per kind.
const PUSHED: u64 = 1 << 30;

fn main() {
    // `cargo test --benches` only wants to know that it runs.
    let pushed = if std::env::args().any(|arg| arg == "--bench") {
        PUSHED
    } else {
        1 << 22
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
        ("head", Truncation::Head { bytes: 100 * 1024 }),
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
            let before = resident();
            let mut most = before;
            let mut sink = sink(policy);
            let mut done = 0;
            while done < pushed {
                sink.push(chunk.as_bytes());
                done += chunk.len() as u64;
                if done % (64 << 20) < chunk.len() as u64 {
                    most = most.max(resident());
                }
            }
            most = most.max(resident());
            let report = sink.finish(&ArtifactEnd {
                status: Status::Exited { code: 0 },
                duration: Duration::ZERO,
            });
            most = most.max(resident());
            print(
                kind,
                name,
                most.saturating_sub(before),
                report.summary.total_bytes,
            );
        }
    }
}

#[expect(clippy::print_stdout, reason = "a bench prints its figures")]
fn print(kind: &str, policy: &str, grown: u64, total: u64) {
    let verdict = if grown <= 4 << 20 {
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

fn sink(truncation: Truncation) -> OutputSink {
    let options = SinkOptions {
        limits: OutputLimits {
            truncation,
            max_line_chars: None,
        },
        head: None,
        tail: None,
        carriage_return: CarriageReturn::Overwrite,
        stream: StreamId::Merged,
    };
    let meta = ArtifactMeta {
        command: "bench".into(),
        cwd: "/".into(),
        started_at: Timestamp(0),
    };
    OutputSink::new(options, None, meta)
}

/// Resident memory in bytes; 0 where the system does not tell.
fn resident() -> u64 {
    std::fs::read_to_string("/proc/self/status")
        .ok()
        .and_then(|status| {
            let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
            line.split_ascii_whitespace().nth(1)?.parse::<u64>().ok()
        })
        .map_or(0, |kilobytes| kilobytes << 10)
}
