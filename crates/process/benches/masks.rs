//! Masks 100 MB of output in chunks as an executor reads them, with known values and with forms of
//! tokens. A copy of the chunks without a mask is the other side, by turns. Prints MB/s.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a program of its own, which measures real time"
)]

use agent_bash_core::OutputMask;
use agent_bash_process::environment::{SecretFilter, SecretMask};
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::hint::black_box;
use std::time::Instant;

const BYTES: usize = 100_000_000;
const CHUNK_BYTES: usize = 64 * 1024;
const ROUNDS: usize = 5;

/// The secrets of a usual environment.
const VARIABLES: &[(&str, &str)] = &[
    ("GITHUB_TOKEN", "a-value-of-forty-characters-or-some-more"),
    (
        "AWS_SECRET_ACCESS_KEY",
        "another/value+of40characters0123456789==",
    ),
    ("DATABASE_PASSWORD", "hunter2-hunter2"),
    ("OPENAI_API_KEY", "a-third-value-0123456789"),
];

fn main() {
    let variables = VARIABLES.iter();
    let variables = variables.map(|(name, value)| (OsStr::new(name), OsStr::new(value)));
    let mask = |forms| SecretMask::new(variables.clone(), &SecretFilter::default(), forms);
    let (known, forms) = (mask(false), mask(true));
    for (name, output) in outputs() {
        let mut rates = [Vec::new(), Vec::new(), Vec::new()];
        for _ in 0..ROUNDS {
            rates[0].push(rate(&output, None));
            rates[1].push(rate(&output, Some(&known)));
            rates[2].push(rate(&output, Some(&forms)));
        }
        let [off, known, forms] = rates.map(median);
        println!("{name}: off {off:.0} MB/s, known {known:.0} MB/s, forms {forms:.0} MB/s");
    }
}

/// Returns 100 MB of each kind of output, without secrets.
fn outputs() -> [(&'static str, String); 3] {
    let filled = |line: &dyn Fn(&mut String, usize)| {
        let mut text = String::with_capacity(BYTES + 200);
        let mut number = 0;
        while text.len() < BYTES {
            line(&mut text, number);
            number += 1;
        }
        text
    };
    [
        ("numbers", filled(&|text, n| writeln!(text, "{n}").unwrap())),
        (
            "log of a server",
            filled(&|text, n| {
                let port = n % 60_000;
                writeln!(text, "2026-11-29T06:14:27Z info: request {n} from 10.0.0.1:{port} took 3 ms, https://example.org/a?b={n}").unwrap();
            }),
        ),
        (
            "coloured build",
            filled(&|text, n| {
                writeln!(text, "\x1b[1;32m   Compiling\x1b[0m crate-{n} v1.{n}.0 (/home/u/work/crates/crate-{n})").unwrap();
            }),
        ),
    ]
}

/// Passes an output through a mask. Returns the MB/s.
fn rate(output: &str, mask: Option<&SecretMask>) -> f64 {
    let mut shown = Vec::with_capacity(CHUNK_BYTES);
    let mut stream = mask.map(OutputMask::stream);
    let begin = Instant::now();
    for chunk in output.as_bytes().chunks(CHUNK_BYTES) {
        shown.clear();
        match &mut stream {
            None => shown.extend_from_slice(chunk),
            Some(stream) => stream.push(chunk, &mut |piece| shown.extend_from_slice(piece.shown())),
        }
        black_box(&shown);
    }
    output.len() as f64 / 1e6 / begin.elapsed().as_secs_f64()
}

fn median(mut rates: Vec<f64>) -> f64 {
    rates.sort_by(f64::total_cmp);
    rates[rates.len() / 2]
}
