#!/usr/bin/env bash
# Claude Code 2.1.332 (npm): `> /dev/stderr` in a command erases all that the command printed
# before.
#
# Expected: `echo second > /dev/stderr` appends to standard error, as on a terminal or a pipe. Seen:
# Claude Code gives its shell one regular file for both streams, opened for appending. Linux opens
# the file behind `/dev/stderr` anew, and `>` truncates it. The model reads "second" and "third" of
# three lines, the exit code is 0, and nothing says that output is missing. `>&2` is safe.
#
# For agent-bash: `agent-bash shell` writes to its streams by descriptor, never by name.
set -eu
. "$(dirname "$0")/lib/agent.sh"
claude_code '[["Bash", {"command": "echo first; echo second > /dev/stderr; echo third"}],
              ["Bash", {"command": "echo first; echo second >&2; echo third"}]]'
by_name=$(result 0 | paste -sd ' ')
by_number=$(result 1 | paste -sd ' ')
echo "Claude Code 2.1.332: > /dev/stderr gives '$by_name', >&2 gives '$by_number'"
[ "$by_name" = 'second third' ] && [ "$by_number" = 'first second third' ]
