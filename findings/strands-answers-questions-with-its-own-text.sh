#!/usr/bin/env bash
# @strands-agents/sdk 1.16.0 (npm): a command that asks a question gets a line of the tool as its
# answer.
#
# Expected: a command of a tool without a user reads an empty input, so `read` fails and `wc -l`
# counts 0 lines. Seen: the tool `bash` writes the command and then an `echo` with its end mark to
# the standard input of one bash, and the command inherits that input. `read -r name` reads the
# text `echo "..."` as the name, and the call succeeds. A command that reads to the end of its
# input (`wc`, `cat`, `ssh`, ripgrep without a path) takes the end mark, waits until the time
# limit, and the variables and the directory of the session are lost with it.
#
# For agent-bash: scripts reach the shell by a descriptor of their own; a command reads /dev/null.
set -eu
. "$(dirname "$0")/lib/agent.sh"
install @strands-agents/sdk@1.16.0
cat > "$work/main.mjs" <<'J'
import { bash } from '@strands-agents/sdk/vended-tools/bash';
const context = { agent: {} };
const run = (command) => bash.invoke({ mode: 'execute', command, timeout: 3 }, context)
    .then((it) => `'${it.output}'`, (error) => error.name);
const results = [];
for (const command of ['kept=yes; read -r name; echo "name: $name"', 'echo kept: $kept', 'wc -l', 'echo kept: $kept']) {
    results.push(await run(command));
}
console.log('results ' + results.join(', '));
process.exit(0);
J
in_clean_environment node "$work/main.mjs" || cannot_run "$(tail -n 1 "$work/log")"
output=$(sed -n 's/^results //p' "$work/log")
echo "@strands-agents/sdk 1.16.0: $output"
[ "$output" = "'name: echo \"\"', 'kept: yes', BashTimeoutError, 'kept:'" ]
