#!/usr/bin/env bash
# nix 0.31.3: `waitpid` loses the status of a child that a real-time signal ended.
#
# Expected: `WaitStatus::Signaled`, or at least an error that leaves the child to be waited for.
# Seen: nix has an enumeration of 31 signals and answers `EINVAL` for signal 40. The kernel has
# removed the child by then: a second wait, also by std's `Child`, is `ECHILD`. A supervisor that
# retries or logs the error never learns that its child has ended, and how. std's `Child::wait`
# gives the number.
#
# For agent-bash: the supervisor waits by another crate.
set -eu
. "$(dirname "$0")/lib/crate.sh"
output=$(run_with_crates 'nix = { version = "=0.31.3", features = ["process", "signal"] }' <<'R'
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command};

fn child() -> Child {
    Command::new("sh").args(["-c", "kill -40 $$"]).spawn().unwrap()
}

fn main() {
    let mut lost = child();
    let pid = nix::unistd::Pid::from_raw(lost.id() as i32);
    let nix = nix::sys::wait::waitpid(pid, None);
    let again = lost.wait().map_err(|e| e.raw_os_error() == Some(10));
    println!("nix {nix:?}, then no child: {again:?}; std signal {:?}", child().wait().unwrap().signal());
}
R
) || exit 2
echo "nix 0.31.3: $output"
[ "$output" = 'nix Err(EINVAL), then no child: Err(true); std signal Some(40)' ]
