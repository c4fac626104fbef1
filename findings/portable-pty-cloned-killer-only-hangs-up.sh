#!/usr/bin/env bash
# portable-pty 0.9.0: `kill` by a cloned killer succeeds, and a process that ignores SIGHUP runs
# on.
#
# Expected: `child.clone_killer()` gives another thread the `kill` of the child; both end a
# process for certain, as that of the standard library. Seen: `kill` of the child sends SIGHUP,
# waits a moment and then sends SIGKILL. `kill` of the clone sends SIGHUP only, and returns Ok. A
# program below `nohup`, or a server that reads its settings again at SIGHUP, goes on, and the
# thread that waits for the child waits for ever.
#
# For agent-bash: the supervisor ends what runs on a terminal, by SIGTERM and then SIGKILL.
set -eu
. "$(dirname "$0")/lib/crate.sh"
output=$(run_with_crates 'portable-pty = "=0.9.0"' <<'R'
use portable_pty::{native_pty_system, CommandBuilder, PtySize};
use std::io::{BufRead as _, BufReader};

fn main() {
    let mut results = Vec::new();
    for cloned in [false, true] {
        let pair = native_pty_system().openpty(PtySize::default()).unwrap();
        let mut command = CommandBuilder::new("sh");
        command.args(["-c", "trap '' HUP; echo ready; sleep 8; exit 3"]);
        let mut child = pair.slave.spawn_command(command).unwrap();
        let mut line = String::new();
        BufReader::new(pair.master.try_clone_reader().unwrap()).read_line(&mut line).unwrap();
        let mut killer = child.clone_killer();
        let killed = if cloned { killer.kill() } else { child.kill() };
        let status = child.wait().unwrap();
        results.push(format!("{killed:?}, signal {:?}, exit code {}", status.signal(), status.exit_code()));
    }
    println!("{}", results.join("; by a clone "));
}
R
) || exit 2
echo "portable-pty 0.9.0: kill of a child that ignores SIGHUP, and how it ended: $output"
[ "$output" = 'Ok(()), signal Some("Killed"), exit code 1; by a clone Ok(()), signal None, exit code 3' ]
