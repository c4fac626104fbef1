#!/usr/bin/env bash
# Cline 3.0.65 (npm): a command that a signal ended "exited with code 1" for the model.
#
# Expected: 137 after SIGKILL and 143 after SIGTERM, as from a shell, or the signal's name: a
# command that was killed for its memory is something else than a failed test. Seen: code 1 for each
# signal, with no other word. If the killed program is not the last one of the command, bash reports 137, so
# the model reads both codes for the same event.
#
# For agent-bash: the result names the signal.
set -eu
. "$(dirname "$0")/lib/agent.sh"
install cline@3.0.65
start_model '[["run_commands", {"commands": ["kill -KILL $$"]}], ["run_commands", {"commands": ["kill -TERM $$"]}],
    ["run_commands", {"commands": ["sh -c \"kill -KILL \\$\\$\"; exit"]}], ["run_commands", {"commands": ["exit 3"]}]]'
cline=$work/node_modules/@cline/cli-linux-x64/bin/cline
in_clean_environment CLINE_NO_AUTO_UPDATE=1 "$cline" auth -p openai -k none -m stand-in -b "$url/v1" \
    || cannot_run "$(tail -n 1 "$work/log")"
in_clean_environment CLINE_NO_AUTO_UPDATE=1 "$cline" 'go on' || cannot_run "$(tail -n 1 "$work/log")"
code() { result "$1" | sed -n 's/.*"error":"Command exited with code \([0-9]*\)".*/\1/p'; }
codes="$(code 0) $(code 1) $(code 2) $(code 3)"
echo "Cline 3.0.65: codes after SIGKILL, SIGTERM, SIGKILL below the shell, exit 3: $codes"
[ "$codes" = '1 1 137 3' ]
