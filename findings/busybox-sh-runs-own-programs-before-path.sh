#!/usr/bin/env bash
# BusyBox 1.35.0 (Debian): below `busybox sh`, a program that is first in PATH is not run.
#
# Expected: a shell runs the first program of that name in PATH; that is how tests put a stub of
# `date` or `wget` before the real one. Seen: for each name that BusyBox has, its shell runs its own
# version without a look at PATH, and `command -v` prints the bare name, as for a builtin. `env
# date` and `xargs date` skip the stub, too, as `env` and `xargs` are BusyBox's as well. A test with
# stubs passes by dash, and runs the real `wget` by `busybox sh`.
#
# For agent-bash: what a command name means depends on the shell that reads it; the rules also read
# the script of `busybox sh -c`.
set -eu
version=$(busybox 2> /dev/null | head -n 1) || version=
case $version in 'BusyBox v1.35.0 (Debian'*) ;; *) echo "cannot run: '$version', not BusyBox 1.35.0 of Debian"; exit 2 ;; esac
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
printf '#!/bin/sh\necho stub\n' > "$work/date"
chmod +x "$work/date"
script='command -v date | sed "s|.*/||"; for run in "" env "xargs -n 1"; do
    case $(echo +%Y | $run date 2> /dev/null) in stub) echo stub ;; *) echo own ;; esac; done'
results() { PATH=$work:$PATH "$@" -c "$script" | paste -sd ' '; }
own=$(results busybox sh)
dash=$(results dash)
directory=$(PATH=$work:$PATH busybox sh -c 'command -v date')
echo "BusyBox 1.35.0: date is '$directory', runs by name, env and xargs: ${own#* }; dash: ${dash#* }"
[ "$directory/${own#* }/${dash#* }" = 'date/own own own/stub stub stub' ]
