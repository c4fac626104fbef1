#!/usr/bin/env bash
# rustix 1.1.6: `waitpid(None, ...)` waits for the caller's process group only, unlike nix's.
#
# Expected: `None` as the process means any child, as in nix's `waitpid(None, ...)` (-1 in C). Seen:
# rustix passes 0, "any child of my process group". A shell or supervisor that puts its children
# into groups of their own gets `ECHILD`, "no child processes", while they run and when they have
# ended. `rustix::process::wait` is the call for any child. Both signatures take an `Option<Pid>`,
# so code moved from one crate to the other compiles.
#
# For agent-bash: the supervisor calls `rustix::process::wait`.
set -eu
. "$(dirname "$0")/lib/crate.sh"
output=$(run_with_crates 'rustix = { version = "=1.1.6", features = ["process"] }
nix = { version = "=0.31.3", features = ["process"] }' <<'R'
use rustix::process::{waitpid, WaitOptions};
use std::os::unix::process::CommandExt as _;
use std::process::Command;

fn main() {
    let mut child = Command::new("sleep").arg("0.2").process_group(0).spawn().unwrap();
    let rustix = waitpid(None, WaitOptions::empty()).map(|_| "a child");
    let nix = nix::sys::wait::waitpid(None, None).map(|_| "a child");
    println!("rustix {:?}, nix {nix:?}", rustix.map_err(|e| e == rustix::io::Errno::CHILD));
    let _ = child.wait();
}
R
) || exit 2
echo "rustix 1.1.6, child in its own group: $output (true: no child)"
[ "$output" = 'rustix Err(true), nix Ok("a child")' ]
