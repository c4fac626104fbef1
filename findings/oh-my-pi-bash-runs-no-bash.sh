#!/usr/bin/env bash
# Oh My Pi 18.2.3 (npm, @oh-my-pi/pi-natives-linux-x64): the tool `bash` starts no bash, and an EXIT trap
# does not run.
#
# Expected: a tool named `bash`, in which $BASH_VERSION is 5.2.37, runs bash, or reports what it cannot
# do. Seen: a shell within the agent's own process ($$ is the agent) reads the text. It succeeds with
# another meaning: the command of `trap … EXIT` never runs, so nothing is cleaned up; `wait` returns
# 0 for a failed list in the background; a name reference (`local -n`) assigns nothing; `$!` is empty
# after `sleep 5 &`. `exec` is "command not found". A script in a file with "#!/bin/bash" has bash.
#
# For agent-bash: a call runs in bash; the hook for Oh My Pi reads a text as bash would.
set -eu
. "$(dirname "$0")/lib/agent.sh"
install @oh-my-pi/pi-natives-linux-x64@18.2.3
cat > "$work/scripts" <<'B'
trap 'echo cleaned' EXIT; echo one
(exit 7) & wait $! || echo failed
f() { local -n name=$1; name=set; }; f variable; echo "variable: $variable"
sleep 5 & [ -n "$!" ] && echo 'has a process id'; kill $! 2> /dev/null; true
B
cat > "$work/main.mjs" <<'J'
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
const package_ = createRequire(import.meta.url)('@oh-my-pi/pi-natives-linux-x64/pi_natives.linux-x64-baseline.node');
for (const command of readFileSync('../scripts', 'utf8').trim().split('\n')) {
    let output = '';
    const { exitCode } = await package_.executeShell({ command, cwd: '.' }, (_, chunk) => { output += chunk; });
    console.log(`${exitCode} ${output.trim().replaceAll('\n', ' ')}`);
}
process.exit(0);
J
in_clean_environment node "$work/main.mjs" || cannot_run "$(tail -n 1 "$work/log")"
agent=$(paste -sd '|' "$work/log")
bash=$(while IFS= read -r script; do
    output=$(bash -c "$script") && code=0 || code=$?
    echo "$code ${output//$'\n'/ }"
done < "$work/scripts" | paste -sd '|')
echo "Oh My Pi 18.2.3: exit codes and outputs: $agent; bash: $bash"
[ "$agent|$bash" = '0 one|0 |0 variable:|0 |0 one cleaned|0 failed|0 variable: set|0 has a process id' ]
