#!/usr/bin/env bash
# bash 5.2.15: an exported TMOUT makes `while read` loops of scripts lose lines, with exit code 0.
#
# Expected: TMOUT ends an idle shell at its prompt, as hardened machines set it in /etc/profile, and
# does not concern scripts. Seen: it is also the time limit of each `read` without `-t`. If a loop
# `make | while read -r line` waits longer for a line than TMOUT, the loop ends as at the end of its
# input: the rest is lost, nothing is printed, and the loop's exit code is 0. `mapfile` waits. The
# same script reads all lines below dash 0.5.12 and zsh 5.9.
#
# For agent-bash: a command gets no TMOUT of the environment or of a start file, except from
# `agent-bash shell`, which passes everything on.
set -eu
[ "${BASH_VERSION%%(*}" = 5.2.15 ] || { echo "cannot run: bash $BASH_VERSION, not 5.2.15"; exit 2; }
lines() {
    TMOUT=1 "$1" -c '{ echo one; sleep 2.5; echo two; } | {
        while read -r line; do printf "%s " "$line"; done; echo "code $?"; }' 2>&1
}
bash=$(lines bash)
dash=$(lines dash)
echo "with TMOUT=1, the second of two lines 2.5 s later: bash 5.2.15: $bash; dash: $dash"
[ "$bash/$dash" = 'one code 0/one two code 0' ]
