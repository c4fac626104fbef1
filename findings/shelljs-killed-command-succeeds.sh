#!/usr/bin/env bash
# shelljs 0.10.0 (npm): a command that a signal ended is a success.
#
# Expected: a build step that was killed, for its memory or by a user, is a failure of the script: an
# exit code of 137, or an error. Seen: `exec` returns code 0 and sets no error, also with
# `config.fatal`, so that the script goes on. A command that exits with 3 has code 3 and an error.
#
# For agent-bash: as with Mastra: a result has the signal.
set -eu
. "$(dirname "$0")/lib/agent.sh"
install shelljs@0.10.0
cat > "$work/main.mjs" <<'J'
import shell from 'shelljs';
shell.config.silent = true;
for (const fatal of [false, true])
    for (const command of ['kill -KILL $$', 'kill -SEGV $$', 'exit 3']) {
        shell.config.fatal = fatal;
        let outcome = 'throws';
        try {
            const { code } = shell.exec(command);
            outcome = `${code}${shell.error() ? ' with an error' : ''}`;
        } catch {}
        console.log(`outcome ${outcome}`);
    }
J
in_clean_environment node "$work/main.mjs" || cannot_run "$(tail -n 1 "$work/log")"
output=$(sed -n 's/^outcome //p' "$work/log" | paste -sd , )
echo "shelljs 0.10.0: KILL, SEGV, exit 3, then the same with config.fatal: $output"
[ "$output" = '0,0,3 with an error,0,0,throws' ]
