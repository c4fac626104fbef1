//! Measures the time per verdict. Targets: 60 µs for a command of 100 bytes, 5 ms (99th percentile)
//! for a script of 10 KB, 50 ms for any input.

use std::hint::black_box;

use agent_bash_policy::{Context, RuleSelection, Script, check_safety};
use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};

#[path = "../tests/it/limits/shapes.rs"]
mod shapes;

const SHORT: [(&str, &str); 9] = [
    ("true", "true"),
    (
        "48 bytes",
        "git status && git diff | head -20 && cargo check",
    ),
    (
        "100 bytes",
        "find . -name '*.rs' -not -path './target/*' | xargs grep -n 'fn main' | sort -u | tail -n 20 2>&1",
    ),
    (
        "100 bytes, quoted",
        "cd /srv/app && FOO=bar npm run build -- --mode \"production\" > build.log 2>&1 || tail -n 5 build.log",
    ),
    (
        "102 bytes, seven stages",
        "cat src/main.rs | grep -v '^#' | sort | uniq -c | sort -rn | head -20 | awk '{print $2, $1}' > out.txt",
    ),
    (
        "103 bytes, loop",
        "for f in src/*.rs; do if grep -q \"todo\" \"$f\"; then echo \"$f: $(wc -l < \"$f\") lines\"; fi; done | sort -n",
    ),
    (
        "105 bytes, git",
        "git add src/lib.rs src/main.rs && git commit -m \"fix: handle the empty case in the parser\" && git push -q",
    ),
    (
        "102 bytes, python",
        "python3 -c 'import json,sys; print(json.load(sys.stdin)[\"version\"])' < package.json && echo \"$VERSION\"",
    ),
    (
        "104 bytes, wrappers",
        "sudo env FOO=1 timeout 5 nice -n 3 sh -c 'cd /tmp && rm -rf build/x && ls -la' && echo ${X:-none} && pwd",
    ),
];

/// A script of ordinary lines with at least `bytes` bytes.
fn script(bytes: usize) -> String {
    let lines = [
        "set -euo pipefail",
        "ROOT=$(git rev-parse --show-toplevel)",
        "for f in \"$ROOT\"/src/*.rs; do",
        "  if grep -q 'todo' \"$f\"; then echo \"$f: $(wc -l < \"$f\")\"; fi",
        "done",
        "cat <<EOF > \"$ROOT/report.txt\"",
        "built at $(date) by ${USER:-nobody}",
        "EOF",
        "cargo build --release 2>&1 | tail -n 50 || { echo failed >&2; exit 1; }",
        "find target -name '*.d' -mtime +7 -print0 | xargs -0 -r ls -l",
    ];
    let mut out = String::new();
    while out.len() < bytes {
        out.push_str(&lines.join("\n"));
        out.push('\n');
    }
    out
}

fn verdicts(criterion: &mut Criterion) {
    let context = Context::new("/home/u/project").with_home("/home/u");
    let rules = RuleSelection::default();
    let mut group = criterion.benchmark_group("check_safety");
    for (name, text) in SHORT {
        group.bench_with_input(BenchmarkId::new("short", name), text, |bencher, text| {
            bencher.iter(|| check_safety(&Script::read(black_box(text), &context), &rules));
        });
    }
    for bytes in [3_000, 10_000, 60_000] {
        let text = script(bytes);
        group.bench_with_input(BenchmarkId::new("script", bytes), &text, |bencher, text| {
            bencher.iter(|| check_safety(&Script::read(black_box(text), &context), &rules));
        });
    }
    let heredoc = format!(
        "cat <<'EOF' > x\n{}EOF\n",
        "some line of data\n".repeat(12_000)
    );
    group.bench_with_input(
        BenchmarkId::new("heredoc", heredoc.len()),
        &heredoc,
        |bencher, text| {
            bencher.iter(|| check_safety(&Script::read(black_box(text), &context), &rules));
        },
    );
    group.sample_size(10);
    for (name, text) in shapes::absurd() {
        group.bench_with_input(BenchmarkId::new("absurd", name), &text, |bencher, text| {
            bencher.iter(|| check_safety(&Script::read(black_box(text), &context), &rules));
        });
    }
    group.finish();
}

criterion_group!(benches, verdicts);
criterion_main!(benches);
