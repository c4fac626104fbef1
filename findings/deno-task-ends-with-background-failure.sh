#!/usr/bin/env bash
# deno 2.9.6 (npm): in `deno task`, a failing background command ends the foreground command.
#
# Expected: the script of package.json `lint & build` has the exit code of build, as below npm, bun
# and every POSIX shell, where the status of a background command is looked at by `wait` only. Seen:
# deno runs the text by a shell of its own. When the background command fails, the running
# foreground command is killed, what follows does not run, and the task ends with the background
# command's exit code. And it never ends before the background command.
#
# For agent-bash: the scripts of package.json have another shell below each runner: npm sh, bun
# bash, deno its own.
set -eu
. "$(dirname "$0")/lib/agent.sh"
install deno@2.9.6
program=$(find "$work/node_modules/@deno" -name deno -type f | head -n 1)
[ -n "$program" ] || cannot_run 'the package has no program for this machine'
echo '{"name": "a", "scripts": {"both": "sh -c \"exit 4\" & sh -c \"sleep 2; echo built\" && echo next"}}' > "$work/project/package.json"
run() { code=0; in_clean_environment "$@" || code=$?; echo "$code '$(paste -sd ' ' "$work/log")'"; }
npm=$(run npm run --silent both)
deno=$(run "$program" task --quiet both)
echo "deno 2.9.6, exit code and output: $deno; npm $(npm --version): $npm"
[ "$deno/$npm" = "4 ''/0 'built next'" ]
