#!/usr/bin/env bash
# Claude Code 2.1.332 (npm): whether exit code 1 is an error depends on the command's name.
#
# Expected: the model is told each exit code other than 0. Seen: exit code 1 of `grep` and of `test`
# arrives as a success without a number, with the text of a command that printed nothing. Exit code
# 1 of `cmp`, which has grep's convention for it, arrives as an error with its number. So a model
# that asks `test -e file` reads the same text for both answers.
#
# For agent-bash: a result always has the exit status.
set -eu
. "$(dirname "$0")/lib/agent.sh"
claude_code '[["Bash", {"command": "test -e missing"}], ["Bash", {"command": "test -e project; test -e ."}],
              ["Bash", {"command": "grep -q zzz /dev/null"}], ["Bash", {"command": "cmp -s /dev/null /etc/passwd"}]]'
first() { result "$1" | sed -n 1p; }
echo "Claude Code 2.1.332: failed test '$(first 0)', passed test '$(first 1)', grep '$(first 2)', cmp '$(first 3)'"
[ "$(first 0)" = "$(first 1)" ] && [ "$(first 0)" = "$(first 2)" ] && [ "$(first 3)" = 'Exit code 1' ]
