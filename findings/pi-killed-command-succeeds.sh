#!/usr/bin/env bash
# pi 0.73.1 (npm, @mariozechner/pi-coding-agent): a command that a signal ended is a success.
#
# Expected: the bash tool reports a killed command as it reports `exit 3`, by an error with the
# code. Seen: Node has no exit code for a process that a signal ended, and the tool takes that for
# no failure: the model reads the output so far, or "(no output)", as of a command that went well. A
# build that the kernel ends for its memory, a crash by a segmentation fault and a `kill` look like
# a short success. Only if another command of the script follows, the shell makes it 137.
#
# For agent-bash: a result has the signal, and `run` exits with 128 + its number.
set -eu
. "$(dirname "$0")/lib/agent.sh"
install @mariozechner/pi-coding-agent@0.73.1
cat > "$work/main.mjs" <<'J'
import { createBashTool } from '@mariozechner/pi-coding-agent';
const tool = createBashTool(process.cwd());
const results = [];
for (const command of ['exec sh -c "echo compiling; kill -KILL $$"', 'kill -SEGV $$', 'sh -c "kill -KILL \\$\\$"; exit $?', 'exit 3']) {
  const text = await tool.execute('id', { command }).then((it) => it.content[0].text, (error) => error.message);
  results.push(text.trim().split('\n').at(-1));
}
console.log('results ' + JSON.stringify(results));
process.exit();
J
in_clean_environment node "$work/main.mjs" || cannot_run "$(tail -n 1 "$work/log")"
output=$(sed -n 's/^results //p' "$work/log")
echo "pi 0.73.1, last line of the result for KILL after output, SEGV, KILL of a child, exit 3: $output"
[ "$output" = '["compiling","(no output)","Command exited with code 137","Command exited with code 3"]' ]
