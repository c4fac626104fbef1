#!/usr/bin/env bash
# tokio 1.54.1: `Command::output()` lets the child read the program's standard input, unlike std's.
#
# Expected: tokio's `Command` mirrors std's, whose `output()` gives the child an empty standard
# input. Seen: a child `cat` of std returns nothing; one of tokio returns what was sent to the
# program. In a server that reads JSON-RPC from its standard input, a child such as `ssh` or
# `ffmpeg` consumes the client's requests. `.stdin(Stdio::null())` is the cure.
#
# For agent-bash: a server on standard input names the input of every child.
set -eu
. "$(dirname "$0")/lib/crate.sh"
run_with_crates 'tokio = { version = "=1.54.1", features = ["process", "rt", "macros"] }' > "$work/first" <<'R' || exit 2
#[tokio::main(flavor = "current_thread")]
async fn main() {
    let std = std::process::Command::new("cat").output().unwrap().stdout;
    let tokio = tokio::process::Command::new("cat").output().await.unwrap().stdout;
    println!("std '{}', tokio '{}'", String::from_utf8_lossy(&std), String::from_utf8_lossy(&tokio));
}
R
output=$(printf request | "$work/target/debug/finding")
echo "tokio 1.54.1: the child of output() reads: $output"
[ "$output" = "std '', tokio 'request'" ]
