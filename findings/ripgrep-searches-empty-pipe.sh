#!/usr/bin/env bash
# ripgrep 13.0.0 (Debian): below a program that gives it a pipe, `rg PATTERN` searches no file.
#
# Expected: `rg needle` searches the current directory, as on a terminal and as its manual's
# examples have it. Seen: with a pipe or a socket as standard input, it searches that instead. An
# empty one gives no match and exit code 1, as if no file had the word; one that stays open, as in
# `child_process.exec` of Node, makes it wait for ever. With /dev/null as standard input, the same
# command finds the file. `rg needle .` always does.
#
# For agent-bash: a command reads /dev/null, unless `stdin` says otherwise.
set -eu
. "$(dirname "$0")/lib/debian.sh"
unpack ripgrep=13.0.0-4+b2
mkdir "$work/project"
cd "$work/project"
echo needle > file
search() { code=0; output=$(rg needle "$@") || code=$?; echo "$code:$output"; }
null=$(search < /dev/null)
pipe=$(true | search)
named=$(true | search .)
waits=$(sleep 3 | { timeout 1 rg needle > "$work/log" || echo "$?"; })
echo "ripgrep 13.0.0, exit code and match: /dev/null $null, empty pipe $pipe, with '.' $named; open pipe, within 1 s: $waits"
[ "$null $pipe $named $waits" = '0:file:needle 1: 0:./file:needle 124' ]
