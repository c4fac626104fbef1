#!/usr/bin/env bash
# portable-pty 0.9.0: without `cwd`, a command starts in the home directory, not in the current one.
#
# Expected: `CommandBuilder` resembles std's `Command`, and so does its child's working directory:
# the one of the program. Seen: the child is in $HOME. Relative paths in its arguments, `make` and
# `git status` mean other files than for the program that starts it.
#
# For agent-bash: the supervisor starts what runs on a terminal, in the directory of the call.
set -eu
. "$(dirname "$0")/lib/crate.sh"
run_with_crates 'portable-pty = "=0.9.0"' > "$work/first" <<'R' || exit 2
use portable_pty::{native_pty_system, CommandBuilder};
use std::io::Read as _;

fn main() {
    let pair = native_pty_system().openpty(Default::default()).unwrap();
    let mut reader = pair.master.try_clone_reader().unwrap();
    let mut child = pair.slave.spawn_command(CommandBuilder::new("/bin/pwd")).unwrap();
    drop(pair.slave);
    child.wait().unwrap();
    let mut output = String::new();
    let _ = reader.read_to_string(&mut output);
    println!("{}", output.trim());
}
R
mkdir "$work/home" "$work/project"
output=$(cd "$work/project" && HOME=$work/home "$work/target/debug/finding")
echo "portable-pty 0.9.0: started in project, the command is in ${output##*/}"
[ "$output" = "$work/home" ]
