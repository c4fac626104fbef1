#!/usr/bin/env bash
# assert_cmd 2.2.2 (crates.io): a time limit of half a second takes as long as a grandchild runs.
#
# Expected: `Command::timeout` bounds the test: after the limit, the program is killed and `output`
# returns. Seen: the program is killed in time, but `output` returns when the last process that holds
# its output ends, here one that a shell script had started, after 4 seconds. The result is the
# status of the kill, with nothing that says why. A server that a program leaves behind holds a test
# for ever.
#
# For agent-bash: a time limit of a call ends all its processes, and bounds its result.
set -eu
. "$(dirname "$0")/lib/crate.sh"
output=$(run_with_crates 'assert_cmd = "=2.2.2"' <<'R'
use std::time::{Duration, Instant};
fn main() {
    for script in ["exec sleep 4", "sleep 4 & wait"] {
        let start = Instant::now();
        let limit = Duration::from_millis(500);
        let ended = assert_cmd::Command::new("sh").args(["-c", script]).timeout(limit).output();
        let seconds = start.elapsed().as_secs();
        print!("{}, {}; ", ended.map_or("error".into(), |it| it.status.to_string()), if seconds < 3 { "in time" } else { "late" });
    }
}
R
) || exit 2
echo "assert_cmd 2.2.2: a limit for a program, and for one with a child: $output"
[ "$output" = 'signal: 9 (SIGKILL), in time; signal: 9 (SIGKILL), late; ' ]
