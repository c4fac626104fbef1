#!/usr/bin/env bash
# util-linux 2.38.1: after `flock FILE COMMAND` has returned, the lock can still be held.
#
# Expected: `flock lock make` frees the lock when it returns, as its exit code is make's. Seen: the
# lock belongs to an open file, which every process below the command inherits. A daemon that the
# command started (a compiler server, a build daemon, `server &`) holds the lock until it ends, and
# the next `flock lock make` waits for that. `flock --close` is the cure.
#
# For agent-bash: a call that waits for ever at a lock may wait for a survivor of an earlier call.
set -eu
version=$(flock --version)
[ "$version" = 'flock from util-linux 2.38.1' ] || { echo "cannot run: $version, not 2.38.1"; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
free() { flock --nonblock "$work/$1" true && echo free || echo held; }
flock "$work/plain" sh -c 'sleep 3 > /dev/null 2>&1 & exit 5' || code=$?
after=$(free plain)
flock --close "$work/close" sh -c 'sleep 3 > /dev/null 2>&1 &'
closed=$(free close)
sleep 4
later=$(free plain)
echo "util-linux 2.38.1: flock returned $code, and the lock is $after, $later when the daemon has ended; with --close $closed"
[ "$code $after $later $closed" = '5 held free free' ]
