#!/usr/bin/env bash
# Mastra 1.71.0 (npm, @mastra/core): a command that a signal ended has the exit code 128.
#
# Expected: 137 after SIGKILL and 139 after a segmentation fault, as in every shell and container,
# or the signal's name. Seen: the local sandbox reports 128 for each signal, and no signal. A
# command that ran out of memory, one that crashed and one that the user interrupted look alike, and
# 128 is also git's exit code for "fatal". A timeout is 124.
#
# For agent-bash: a result has the signal, and `run` exits with 128 + its number.
set -eu
. "$(dirname "$0")/lib/agent.sh"
install @mastra/core@1.71.0
cat > "$work/main.mjs" <<'J'
import { LocalSandbox } from '@mastra/core/workspace';
const sandbox = new LocalSandbox({ workingDirectory: process.cwd(), env: { PATH: process.env.PATH } });
for (const command of ['kill -KILL $$', 'kill -SEGV $$', 'kill -INT $$', 'exit 3']) {
    const result = await sandbox.executeCommand(command);
    console.log(result.exitCode, Object.values(result).some((value) => /^SIG/.test(value)));
}
process.exit();
J
in_clean_environment node "$work/main.mjs" || cannot_run "$(tail -n 1 "$work/log")"
output=$(grep -E '^[0-9]+ ' "$work/log" | paste -sd ' ')
echo "Mastra 1.71.0: exit code and whether a signal is named, for KILL, SEGV, INT, and exit 3: $output"
[ "$output" = '128 false 128 false 128 false 3 false' ]
