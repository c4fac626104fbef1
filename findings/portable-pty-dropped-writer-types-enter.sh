#!/usr/bin/env bash
# portable-pty 0.9.0: dropping a terminal's writer types a newline and Ctrl-D into the terminal.
#
# Expected: dropping the writer closes a descriptor; the terminal stays open by the master and its
# other copies, and the program in it notices nothing. Seen: the writer's `Drop` sends "\n" and the
# end-of-file character. A prompt that waits for input takes its default answer: `read` returns 0
# with an empty line. Programs that hand the writer from one task to another, or stop typing, must
# keep it alive, or write by a descriptor of their own.
#
# For agent-bash: the terminal is written by a descriptor of our own.
set -eu
. "$(dirname "$0")/lib/crate.sh"
output=$(run_with_crates 'portable-pty = "=0.9.0"' <<'R'
use portable_pty::{native_pty_system, CommandBuilder};
use std::io::Read as _;

fn main() {
    let pair = native_pty_system().openpty(Default::default()).unwrap();
    let mut reader = pair.master.try_clone_reader().unwrap();
    let mut command = CommandBuilder::new("sh");
    command.args(["-c", "read -r line; echo \"status $?, line <$line>\""]);
    let mut child = pair.slave.spawn_command(command).unwrap();
    drop(pair.slave);
    drop(pair.master.take_writer().unwrap());
    child.wait().unwrap();
    let mut output = String::new();
    let _ = reader.read_to_string(&mut output);
    println!("{}", output.split_whitespace().collect::<Vec<_>>().join(" "));
}
R
) || exit 2
echo "portable-pty 0.9.0: the program's read after the writer is dropped: $output"
[ "$output" = 'status 0, line <>' ]
