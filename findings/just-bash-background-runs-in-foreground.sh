#!/usr/bin/env bash
# just-bash 3.4.2 (npm): `&` runs a command in the foreground, before the next one.
#
# Expected: `(sleep 1; echo late) & echo first` prints "first" and then "late", as in bash, or `&`
# is an error of this bash written in TypeScript, as other missing features are. Seen: the command
# is awaited at the `&`: the output is "late first", `$!` is 0, and `server & curl ...` cannot work.
# `wait` succeeds.
#
# For agent-bash: commands run in the real bash; what runs on is a job, or is named.
set -eu
. "$(dirname "$0")/lib/agent.sh"
install just-bash@3.4.2
cat > "$work/main.mjs" <<'J'
import { Bash } from 'just-bash';
const result = await new Bash().exec('(sleep 1; echo late) & echo first $!; wait; echo $?');
console.log(JSON.stringify([result.stdout, result.stderr, result.exitCode]));
J
in_clean_environment node "$work/main.mjs" || cannot_run "$(tail -n 1 "$work/log")"
by_bash=$(bash -c '(sleep 1; echo late) & echo first $!; wait; echo $?' | sed 's/ .*//' | paste -sd ' ')
output=$(grep '^\[' "$work/log")
echo "just-bash 3.4.2: $output; bash: $by_bash"
[ "$output" = '["late\nfirst 0\n0\n","",0]' ] && [ "$by_bash" = 'first late 0' ]
