#!/usr/bin/env bash
# Gemini CLI 0.61.0 (npm): the "Background PIDs" of a result are of processes that have ended.
#
# Expected: `server & echo started` returns at once, and the process ID that the result names is of
# a running process; the model is to use it to stop the server. Seen: the command ends only when
# the background process has closed the output, so the process has ended by then, and its ID may
# be another's. With output to a file, the command does return at once, and the ID is right. Both
# results have the same form.
#
# For agent-bash: a call ends with its shell; the process IDs of survivors are of running
# processes.
set -eu
. "$(dirname "$0")/lib/agent.sh"
gemini_cli '[["run_shell_command", {"command": "(sleep 6; touch finished-1) & echo started"}],
             ["run_shell_command", {"command": "ls; echo listed"}],
             ["run_shell_command", {"command": "(sleep 6; touch finished-2) > /dev/null 2>&1 & echo started"}],
             ["run_shell_command", {"command": "ls; echo listed"}]]'
named() { result "$1" | grep -oE 'Background PIDs: [0-9]' > /dev/null && echo named || echo unnamed; }
state() { grep -q "finished-$2" <<< "$(result "$1")" && echo ended || echo running; }
grep -q listed <<< "$(result 3)" || cannot_run 'the last command has no result'
output="$(named 0) $(state 1 1) $(named 2) $(state 3 2)"
echo "Gemini CLI 0.61.0: background process with the agent's output: ${output% * *}; with its own: ${output#* * }"
[ "$output" = 'named ended named running' ]
