#!/usr/bin/env bash
# systemd 252: a user's unit with `Delegate=yes` has no attribute `user.delegate`.
#
# Expected, from systemd's page on delegation: the cgroup of every unit with Delegate=yes has the
# extended attribute `user.delegate` with the value 1, so that a program without privileges can tell
# whether it may create cgroups below its own. Seen: only the manager of the system marks its units.
# The manager of a user marks none, and the owner and mode of the cgroup's files are the same with
# and without delegation. The file of a transient unit in $XDG_RUNTIME_DIR/systemd/transient tells.
#
# For agent-bash: limits of a whole call need a delegated cgroup; it reads the file of the unit.
set -eu
version=$(systemctl --version 2>/dev/null | awk 'NR == 1 {print $2}') || version=
case $version in
    252 | 257) ;;
    *) echo "cannot run: systemd ${version:-is missing}, not 252 or 257"; exit 2 ;;
esac
unit="finding-$$.scope"
look='cgroup=/sys/fs/cgroup$(sed -n s/^0:://p /proc/self/cgroup)
    mark=$(getfattr --only-values -n user.delegate "$cgroup" 2>/dev/null)
    option=$(grep "^Delegate=" "$XDG_RUNTIME_DIR/systemd/transient/${cgroup##*/}")
    echo "mark ${mark:-none}, file ${option:-none}"'
run() { systemd-run --user --quiet --scope --unit="$RANDOM-$unit" "$@" bash -c "$look"; }
command -v getfattr > /dev/null || { echo 'cannot run: no getfattr'; exit 2; }
delegated=$(run -p Delegate=yes 2>/dev/null) || { echo 'cannot run: no manager of this user'; exit 2; }
plain=$(run)
echo "systemd $version: delegated: $delegated; otherwise: $plain"
[ "$delegated; $plain" = 'mark none, file Delegate=yes; mark none, file none' ]
