#!/usr/bin/env bash
# Claude Code 2.1.332 (npm): of a failed command with long output, the model never sees the end.
#
# Expected: a tool that shortens output keeps its end, where the error is, or names a file with all
# of it, as Claude Code does for a command that succeeds. Seen: the output of a failure is cut to
# its first 30,000 characters, and both ends of *that* are kept, some 10,000 characters. The middle
# has a remark about its length; the end looks like the end of the output, and is not. No file is
# named.
#
# For agent-bash: results are cut below the agent's limit, with the end and a link to all of it.
set -eu
. "$(dirname "$0")/lib/agent.sh"
claude_code '[["Bash", {"command": "seq 20000; echo the error; exit 3"}],
              ["Bash", {"command": "seq 20000; echo the error"}]]'
failure=$(result 0)
last=$(grep -oE '^[0-9]+$' <<< "$failure" | sort -n | tail -n 1)
error=$(grep -c 'the error' <<< "$failure") || true
file=$(grep -c "$work" <<< "$failure") || true
success_file=$(result 1 | grep -c "$work") || true
echo "Claude Code 2.1.332: of 20000 lines and an error, the highest number is $last, errors $error, files $file" \
    "(success: files $((success_file > 0)))"
[ "$last" -lt 7000 ] && [ "$error/$file" = 0/0 ] && [ "$success_file" -gt 0 ]
