#!/usr/bin/env bash
# bash 5.2.15: assignments to the array DIRSTACK succeed and store nothing.
#
# Expected: an array that a script may assign holds the value, or the assignment fails, as for a
# read-only variable. Seen: `DIRSTACK[5]=word`, `read` and `mapfile` into it return 0, and the array
# is as before: bash changes the element of its directory stack, if that exists, and drops the value
# otherwise. So `mapfile -O 5 DIRSTACK` consumes an input without leaving a variable behind. After
# `unset DIRSTACK` it is an ordinary variable for the rest of the shell.
#
# For agent-bash: a session reads its record into it, so that no variable of the wrapper remains.
set -u
[ "${BASH_VERSION%%(*}" = 5.2.15 ] || { echo "cannot run: bash $BASH_VERSION, not 5.2.15"; exit 2; }
cd /
DIRSTACK[5]=word; assigned=$?
mapfile -O 5 -t DIRSTACK <<< $'first\nsecond'; mapped=$?
special=$(declare -p DIRSTACK)
unset DIRSTACK
DIRSTACK[5]=word
plain=$(declare -p DIRSTACK)
echo "bash 5.2.15: statuses $assigned and $mapped: $special; after unset: $plain"
[ "$assigned$mapped" = 00 ] && [ "$special" = 'declare -a DIRSTACK=([0]="/")' ] && [[ $plain = *'[5]="word"'* ]]
