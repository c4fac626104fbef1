#!/usr/bin/env bash
# @lydell/node-pty 1.1.0 (npm; node-pty with compiled programs): a missing program is started.
#
# Expected: `spawn` of a program that does not exist throws or emits an error with ENOENT, as
# `child_process.spawn` does. Seen: it returns a terminal with a process ID. The error is output of
# the terminal, "execvp(3) failed.: No such file or directory", and the exit code is 1, as for a
# command that ran and failed; a shell would have 127. A working directory that does not exist is
# alike.
#
# For agent-bash: a client that starts agent-bash so reads the error from the terminal.
set -eu
. "$(dirname "$0")/lib/agent.sh"
install @lydell/node-pty@1.1.0
cat > "$work/main.mjs" <<'J'
import pty from '@lydell/node-pty';
const run = (file, args, options = {}) => new Promise((resolve) => {
  let output = '';
  const terminal = pty.spawn(file, args, options);
  terminal.onData((data) => { output += data; });
  terminal.onExit((end) => setTimeout(() => resolve(`${end.exitCode} '${output.trim()}'`), 300));
});
const missing = await run('/nonexistent/program', []).catch((error) => error.code);
console.log(`ends ${missing}, ${await run('/bin/sh', ['-c', 'exit 1'], { cwd: '/nonexistent' })}`);
process.exit();
J
in_clean_environment node "$work/main.mjs" || cannot_run "$(tail -n 1 "$work/log")"
output=$(sed -n 's/^ends //p' "$work/log")
echo "@lydell/node-pty 1.1.0: exit code and output for a missing program, a missing directory: $output"
[ "$output" = "1 'execvp(3) failed.: No such file or directory', 1 'chdir(2) failed.: No such file or directory'" ]
