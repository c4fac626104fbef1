#!/usr/bin/env bash
# dash 0.5.12 (Debian's /bin/sh): SIGTERM ends a script without its EXIT trap.
#
# Expected: `trap 'rm -rf "$dir"' EXIT` cleans up whenever the shell can still run it; only SIGKILL
# skips it. In bash it does, for SIGTERM, SIGINT and SIGHUP. Seen: dash runs the trap only when the
# script exits by itself. A timeout or a supervisor that terminates a `#!/bin/sh` script leaves its
# temporary directory and its lock, and the same script under bash leaves none.
#
# For agent-bash: after a timeout, a `#!/bin/sh` script may leave files; recorded changes list
# them.
set -eu
version=$(dpkg-query -W -f '${Version}' dash 2> /dev/null) || { echo 'cannot run: no Debian package of dash'; exit 2; }
case $version in 0.5.12-*) ;; *) echo "cannot run: dash $version, not 0.5.12"; exit 2 ;; esac
ends() { for signal in TERM INT HUP; do "$1" -c 'trap "printf cleaned" EXIT; kill -'$signal' $$; sleep 1; exit' || true; printf '.'; done 2> /dev/null; }
dash=$(ends dash)
bash=$(ends bash)
exits=$(dash -c 'trap "printf cleaned" EXIT; exit 1') || true
echo "dash 0.5.12, EXIT trap after TERM, INT, HUP: '$dash'; of exit: $exits; bash: '$bash'"
[ "$dash $exits $bash" = '... cleaned cleaned.cleaned.cleaned.' ]
