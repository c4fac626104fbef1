#!/usr/bin/env bash
# expect 5.45.4 (Debian 12): `unbuffer` reports a command that a signal ended as a success.
#
# Expected: `unbuffer COMMAND`, which shows output at once, has the exit code of the command, as its
# manual says, and 137 for a killed one, as `script -e` and `env` have. Seen: a command that exits
# with 3 gives 3, and one that was killed gives 0, so that `unbuffer make | tee log` of a compiler
# that ran out of memory is a success even with pipefail.
#
# For agent-bash: a command that needs a terminal has `pty: true` instead, and its signal is in the
# result.
set -eu
version=$(dpkg-query -W -f '${Version}' expect 2> /dev/null) || version=none
[[ $version = 5.45.4-* ]] || { echo "cannot run: the package expect is $version"; exit 2; }
outcome() { "$@" > /dev/null 2>&1 < /dev/null && echo 0 || echo $?; }
# `script` runs in another shell, whose message about the killed command is discarded.
output="$(outcome unbuffer sh -c 'exit 3') $(outcome unbuffer sh -c 'kill -KILL $$')"
output+=" $(outcome script -qec 'kill -KILL $$' /dev/null)"
echo "unbuffer 5.45.4: exit 3, killed, killed below script -e: $output"
[ "$output" = '3 0 137' ]
