#!/usr/bin/env bash
# coreutils 9.1: a command below `timeout` survives the end of its caller's process group.
#
# Expected: a program that runs a command for an agent starts it in a process group of its own and
# ends that group; with it ends all that a script runs in the foreground. Seen: `timeout` moves
# itself and its command into a new process group, also in a script without job control. So `kill --
# -GROUP` ends the shell only, and the command runs until the limit of its own `timeout`. With
# `--foreground` it stays in the group, but then its limit does not end the command's children.
# BusyBox 1.35.0 has a `timeout` that stays in the group.
#
# For agent-bash: a time limit and `jobs kill` end all processes of a call, in whatever group they are.
set -eu
[[ $(timeout --version) = *'coreutils) 9.1'* ]] || { echo 'cannot run: no coreutils 9.1'; exit 2; }
version=$(busybox 2> /dev/null | sed -n '1s/^BusyBox v\([0-9.]*\).*/\1/p')
[ "$version" = 1.35.0 ] || { echo "cannot run: BusyBox '$version', not 1.35.0"; exit 2; }
work=$(mktemp -d)
trap 'for file in "$work"/*; do read -r process < "$file"; kill -KILL "$process" 2> /dev/null || true; done
    rm -rf "$work"' EXIT
# outcome NAME PREFIX ...: whether a command below PREFIX outlives the group of the script that runs it.
outcome() {
    setsid bash -c '"${@:2}" bash -c "echo \$\$ > $1; exec sleep 60"; true' bash "$work/$1" "${@:2}" > /dev/null &
    local group=$!
    for _ in {1..100}; do [ -s "$work/$1" ] && break; sleep 0.1; done
    kill -TERM -- "-$group"
    wait "$group" || true
    for _ in {1..20}; do kill -0 "$(cat "$work/$1")" 2> /dev/null || { echo ended; return; }; sleep 0.1; done
    echo runs
}
output="$(outcome coreutils timeout 60) $(outcome foreground timeout --foreground 60)"
output="$output $(outcome busybox busybox timeout 60)"
echo "coreutils 9.1: after the end of the group, below timeout, timeout --foreground, busybox timeout: $output"
[ "$output" = 'runs ended ended' ]
