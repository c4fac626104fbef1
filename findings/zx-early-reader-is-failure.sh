#!/usr/bin/env bash
# zx 8.8.5 (npm): `seq 100000 | head -n 1` throws, with the exit code 141.
#
# Expected: a pipeline whose last command succeeds is a success, as `sh -c`, `bash -c` and Node's
# `exec` have it. Seen: zx puts `set -euo pipefail` before each command. A command that is ended by
# SIGPIPE because `head` or `grep -q` has read enough makes the pipeline fail, if it writes more
# than fits into the pipe: so the same line passes in a small repository and throws in a large one.
# The text of the command does not show the prefix.
#
# For agent-bash: bash runs a command without options of its own; a `head` at the end applies to
# the output, so the exit status is that of the command.
set -eu
. "$(dirname "$0")/lib/agent.sh"
install zx@8.8.5
cat > "$work/main.mjs" <<'J'
import { $ } from 'zx';
import { execSync } from 'node:child_process';
const small = await $`seq 10 | head -n 1`.then((it) => it.exitCode, (it) => it.exitCode);
const large = await $`seq 1000000 | head -n 1`.then((it) => it.exitCode, (it) => it.exitCode);
const node = execSync('seq 1000000 | head -n 1', { stdio: ['ignore', 'pipe', 'ignore'] });
console.log(`codes ${small} ${large} ${String(node).trim()}`);
J
in_clean_environment SHELL=/bin/bash node "$work/main.mjs" || cannot_run "$(tail -n 1 "$work/log")"
output=$(sed -n 's/^codes //p' "$work/log")
echo "zx 8.8.5: exit code of a short and a long pipeline, and the output in Node's execSync: $output"
[ "$output" = '0 141 1' ]
