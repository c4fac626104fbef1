#!/usr/bin/env bash
# BusyBox 1.35.0: `timeout` exits with 143, not 124, and a command of 143 looks the same.
#
# Expected: `timeout 1 COMMAND` exits with 124 if the time is over, as that of coreutils does;
# scripts and agents test for 124 to tell a timeout from a failure. Seen: BusyBox (Alpine images)
# returns the status of the signal that it sent, 143, as for a command that another process ended.
# With `-s INT`, it is 130. coreutils 9.1 exits with 124 for both.
#
# For agent-bash: a timeout of a call is a field of its result, not only its exit code.
set -u
version=$(busybox 2> /dev/null | sed -n '1s/^BusyBox v\([0-9.]*\).*/\1/p')
[ "$version" = 1.35.0 ] || { echo "cannot run: BusyBox '$version', not 1.35.0"; exit 2; }
[[ $(timeout --version) = *'coreutils) 9.1'* ]] || { echo 'cannot run: no coreutils 9.1'; exit 2; }
output=$(
    for timeout in 'busybox timeout' timeout; do
        for signal in TERM INT; do bash -c "$timeout -s $signal 0.2 sleep 5" 2> /dev/null; printf '%s ' $?; done
    done
)
echo "BusyBox 1.35.0: exit codes of timeout with TERM and INT, then those of coreutils: $output"
[ "$output" = '143 130 124 124 ' ]
