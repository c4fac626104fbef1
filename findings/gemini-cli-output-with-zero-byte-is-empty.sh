#!/usr/bin/env bash
# Gemini CLI 0.61.0 (npm): output with an early zero byte is "(empty)" for the model.
#
# Expected: `git ls-files -z` or `find -print0` gives its names, at worst with a remark about binary
# output. Seen: if the first 512 bytes have a zero byte, the whole output is taken for a binary
# file. The result is "Output: (empty)" with exit code 0, also for what follows, and it does not
# mention that something was left out. For the model, a repository with two files has none.
#
# For agent-bash: output is cleaned: the agent gets a mark for each zero byte.
set -eu
. "$(dirname "$0")/lib/agent.sh"
git init -q "$work/project"
touch "$work/project/one" "$work/project/two"
git -C "$work/project" add .
gemini_cli '[["run_shell_command", {"command": "git ls-files -z; echo and this line"}],
             ["run_shell_command", {"command": "git ls-files; echo and this line"}]]'
zero=$(result 0 | grep -oE '^Output: .*|and this line' | paste -sd ' ')
lines=$(result 1 | grep -oE '^Output: .*|and this line' | paste -sd ' ')
echo "Gemini CLI 0.61.0: ls-files -z: '$zero'; ls-files: '$lines'"
[ "$zero" = 'Output: (empty)' ] && [ "$lines" = 'Output: one and this line' ]
