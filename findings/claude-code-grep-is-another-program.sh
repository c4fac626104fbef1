#!/usr/bin/env bash
# Claude Code 2.1.332 (npm): `grep -r` in a command skips files that git ignores.
#
# Expected: a shell tool runs the system's grep, and `grep -r needle .` searches all files below
# `.`. Seen: a function of its shell starts ugrep, which is part of Claude Code's program, with
# options that leave out what `.gitignore` names. `command grep`, `xargs grep` and scripts run the
# system's grep, so the same search in a script finds more than the one that the model ran. The
# names also lack the `./`.
#
# For agent-bash: a command that `agent-bash shell` receives may be the agent's function of that
# name.
set -eu
. "$(dirname "$0")/lib/agent.sh"
cd "$work/project"
git init -q . && echo built.txt > .gitignore && echo needle | tee source.txt > built.txt
cd - > /dev/null
claude_code '[["Bash", {"command": "grep -r needle . | sort"}],
              ["Bash", {"command": "command grep -r needle . | sort"}], ["Bash", {"command": "type -t grep"}]]'
function=$(result 0 | paste -sd ' ')
command=$(result 1 | paste -sd ' ')
echo "Claude Code 2.1.332: grep is a $(result 2): '$function'; command grep: '$command'"
[ "$function" = source.txt:needle ] && [ "$command" = './built.txt:needle ./source.txt:needle' ]
