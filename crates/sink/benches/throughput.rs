//! Throughput of a sink. The last group also writes to disk and is compared with `cat > file` over
//! the same input in the same run; the target is at least 0.6 times its speed.

#[path = "shared/fixtures.rs"]
mod fixtures;

use agent_bash_core::{ArtifactStore, StreamId, Truncation};
use agent_bash_sink::{ArtifactDir, FileView, Search};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use fixtures::{end, meta, options, sink, store};
use std::fs::File;
use std::hint::black_box;
use std::io::{Read, Write};
use std::process::Command;

/// The size of the chunks that executors read.
const CHUNK: usize = 64 * 1024;

const TAIL: Truncation = Truncation::Tail { bytes: 50 * 1024 };

/// Returns 4 MiB of output that consists of lines from `line`.
fn filled(mut line: impl FnMut(usize) -> String) -> Vec<u8> {
    let mut bytes = Vec::new();
    for n in 0.. {
        bytes.extend(line(n).into_bytes());
        if bytes.len() >= 4 << 20 {
            break;
        }
    }
    bytes
}

fn text() -> Vec<u8> {
    filled(|n| format!("{n:>8} the quick brown fox jumps over the lazy dog\n"))
}

fn through(c: &mut Criterion) {
    let sgr = filled(|n| {
        format!(
            "\x1b[1;32mok\x1b[0m \x1b[38;5;{}m{n}\x1b[0m \x1b[2mms\x1b[0m\n",
            n % 256
        )
    });
    let head_tail = Truncation::HeadTail {
        max_bytes: 50 * 1024,
        max_lines: 2000,
        head_lines: 500,
        tail_lines: 500,
    };
    let middle = Truncation::Middle {
        max: 128 * 1024,
        ends: 4 * 1024,
    };
    let cases: [(&str, Vec<u8>, Truncation, Option<usize>); 12] = [
        ("text/tail", text(), TAIL, None),
        ("text/tail, clamp 4000", text(), TAIL, Some(4000)),
        ("text/middle", text(), middle, None),
        ("text/head_tail", text(), head_tail, None),
        ("seq", filled(|n| format!("{n}\n")), TAIL, None),
        ("one line", filled(|_| "x".repeat(1000)), TAIL, None),
        ("heavy SGR", sgr, TAIL, None),
        (
            "progress bar",
            filled(|n| format!("\r{n}% done")),
            TAIL,
            None,
        ),
        (
            "accented",
            filled(|n| format!("{n} données reçues, à vérifier dès que possible\n")),
            TAIL,
            None,
        ),
        (
            "CJK",
            filled(|_| "日本語のテキストを表示する試験です。\n".to_owned()),
            TAIL,
            None,
        ),
        (
            "Latin-1",
            b"donn\xe9es re\xe7ues, \xe0 v\xe9rifier d\xe8s que possible ".repeat(100_000),
            TAIL,
            None,
        ),
        (
            "noise",
            filled(|n| char::from((n * 7 % 256) as u8).to_string()),
            TAIL,
            None,
        ),
    ];
    let mut group = c.benchmark_group("through");
    group.sample_size(20);
    for (name, bytes, policy, clamp) in cases {
        group.throughput(Throughput::Bytes(bytes.len() as u64));
        let mut sink = sink(policy, clamp, None);
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                for chunk in bytes.chunks(CHUNK) {
                    black_box(sink.push(chunk));
                }
            });
        });
    }
    group.finish();
}

/// Bytes of one run that writes to disk.
const SPILLED: u64 = 1 << 30;

#[expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a bench stops at the first error, and compares with another process"
)]
fn to_disk(c: &mut Criterion) {
    let root = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let input = root.path().join("input");
    let block = text();
    let mut file = File::create(&input).unwrap();
    for _ in 0..SPILLED / block.len() as u64 {
        file.write_all(&block).unwrap();
    }
    let len = file.metadata().unwrap().len();
    let mut group = c.benchmark_group("to disk, 1 GiB");
    group.throughput(Throughput::Bytes(len)).sample_size(10);
    group.bench_function("cat > file", |bencher| {
        bencher.iter(|| {
            let output = root.path().join("output");
            let status = Command::new("cat")
                .stdin(File::open(&input).unwrap())
                .stdout(File::create(&output).unwrap())
                .status()
                .unwrap();
            assert!(status.success());
            std::fs::remove_file(output).unwrap();
        });
    });
    group.bench_function("sink with artifact", |bencher| {
        bencher.iter(|| {
            let mut sink = sink(TAIL, None, Some(store(root.path())));
            let mut input = File::open(&input).unwrap();
            let mut buffer = vec![0; CHUNK];
            loop {
                match input.read(&mut buffer).unwrap() {
                    0 => break,
                    read => sink.push(&buffer[..read]),
                };
            }
            let report = sink.finish(&end());
            assert_eq!(report.artifact.unwrap().bytes, len);
        });
    });
    group.finish();
}

/// Measures the search for a line in a 100 MB artifact with more than five million lines.
#[expect(clippy::unwrap_used, reason = "a bench stops at the first error")]
fn read(c: &mut Criterion) {
    let root = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let dir = ArtifactDir::new(options(root.path())).unwrap();
    let mut writer = dir.create(&meta(), StreamId::Merged).unwrap();
    for block in 0..100 {
        let numbers = block * 65_536..(block + 1) * 65_536;
        let block: Vec<u8> = numbers
            .flat_map(|n| format!("{n:>15}\n").into_bytes())
            .collect();
        writer.write(&block).unwrap();
    }
    let artifact = writer.finish(&end()).unwrap();
    let mut group = c.benchmark_group("read, 100 MB");
    group.sample_size(10);
    group.bench_function("open and show line 5,000,000", |bencher| {
        bencher.iter(|| {
            let page = dir
                .open(artifact.id)
                .unwrap()
                .lines(5_000_000, Some(20))
                .unwrap();
            assert!(page.piece.text.trim_start().starts_with("4999999"));
        });
    });
    group.bench_function("the same without an index", |bencher| {
        bencher.iter(|| {
            let view = FileView::open(artifact.path.as_ref()).unwrap();
            let page = view.lines(5_000_000, Some(20)).unwrap();
            assert!(page.piece.text.trim_start().starts_with("4999999"));
        });
    });
    group.bench_function("search", |bencher| {
        let search = Search {
            pattern: "4999999$".into(),
            before: 2,
            after: 2,
            from_line: 1,
            max_matches: 10,
        };
        bencher.iter(|| {
            let found = dir.open(artifact.id).unwrap().search(&search).unwrap();
            assert_eq!(found.total_matches, 1);
        });
    });
    group.finish();
}

criterion_group!(benches, through, to_disk, read);
criterion_main!(benches);
