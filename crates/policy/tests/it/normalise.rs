//! Normalisation against real bash: the original script must show the same as the script with its
//! limits removed and applied to its full output.

#![expect(clippy::disallowed_methods, reason = "a test runs real bash")]
#![expect(
    clippy::unwrap_used,
    reason = "a bash that cannot be started fails the test"
)]

use std::num::NonZeroU64;
use std::process::{Command, Stdio};

use agent_bash_policy::{LiftedScript, Parsed, lift, trimmed};

/// Runs a script; returns its stdout and stderr.
fn run(script: &str) -> (String, String) {
    let output = Command::new("bash")
        .args(["-c", script])
        .current_dir("/")
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    (text(output.stdout), text(output.stderr))
}

/// Returns the lines that the limits keep.
fn view(output: &str, limits: &LiftedScript<'_>) -> String {
    let mut lines: Vec<&str> = output.split_inclusive('\n').collect();
    if let Some(head) = limits.head.map(NonZeroU64::get) {
        lines.truncate(usize::try_from(head).unwrap());
    }
    if let Some(tail) = limits.tail.map(NonZeroU64::get) {
        let skip = lines.len().saturating_sub(usize::try_from(tail).unwrap());
        lines.drain(..skip);
    }
    lines.concat()
}

/// Scripts that print lines. No script writes to stderr after its second line: bash has a race
/// there, after `head` has closed the pipe.
const PRODUCERS: [&str; 14] = [
    "seq 9",
    "seq 1000",
    "true",
    "false",
    "printf 'a\\nb\\nc'",
    "printf 'a'",
    "echo",
    "printf '\\n\\n\\n'",
    "{ echo a; echo e >&2; echo b; }",
    "(seq 3; seq 4) 2>&1",
    "{ for i in 1 2 3; do echo e$i >&2; done; for i in 1 2 3; do echo $i; done; }",
    "seq 20 | sort -r",
    "seq 20 | grep 1 | cat",
    "echo 'x | head -1'",
];

const CUTS: [&str; 52] = [
    "| head -3",
    "| head -n 3",
    "| tail -n2",
    "| tail --lines=2",
    "| head -n 5 | tail -n 2",
    "| tail -n 5 | head -n 2",
    "| head -1 | head -2",
    "| tail -1 | tail -2",
    "| head -3 | tail -2 | tail -1",
    "| tail -n +2",
    "| head -n -1",
    "| head -3; echo after",
    "|| head -3",
    "|head -3 ",
    "|\n head -3",
    "| head -3 # first",
    "| head -3\n",
    "| head -n5",
    "| head --lines 3",
    "| head -n +3",
    "| head -0",
    "| head -03",
    "| head -n 18446744073709551616",
    "| head -3 -q",
    "| head -q -3",
    "| head -3 | cat",
    "| head -3 2>/dev/null",
    "| A=1 head -3",
    "| 'head' -3",
    "| /usr/bin/head -3",
    "| head -c 5",
    "| head",
    "| tail",
    "| tail -f -n 2",
    "| tail -r",
    "| head -n $((1+2))",
    "| head -3 &",
    "| (head -3)",
    "| { head -3; }",
    "|& head -3",
    "2>&1 | head -3",
    "2>/dev/null | tail -2",
    "| sort | head -2 | tail -1",
    "| tail -3 | tail -2 | head -1",
    "&& seq 3 | head -1",
    "; seq 3 | tail -1",
    "| head -2 | wc -l",
    "| head -n 2 -- ",
    "| head -n2 -",
    "| head --lines=2 | tail --lines=1",
    "| tail -n 1 | cat | head -1",
    "\t|\ttail -n\t2",
];

#[test]
fn shown_output_is_the_same() {
    let mut lifted = 0;
    for producer in PRODUCERS {
        for cut in CUTS {
            let script = format!("{producer} {cut}");
            let Some(limits) = lift(&Parsed::read(trimmed(&script))) else {
                continue;
            };
            lifted += 1;
            let (stdout, stderr) = run(&script);
            let (full, full_stderr) = run(limits.command);
            assert_eq!(view(&full, &limits), stdout, "{script}");
            assert_eq!(full_stderr, stderr, "{script}");
        }
    }
    // Negative control: limits are removed in a good part of them.
    assert!(lifted >= PRODUCERS.len() * 10, "{lifted}");
}
