#!/usr/bin/env bash
# OpenSSH 9.2p1: in a user namespace, a file in /etc/ssh/ssh_config.d makes each `ssh` fail.
#
# Expected: ssh reads the system's configuration as outside: nothing has changed about it, and the
# user is the same. Seen: root's files belong to the overflow user there, since the namespace maps
# one user only. ssh wants included files to belong to root or the user: "Bad owner or permissions
# on /etc/ssh/ssh_config.d/…", exit code 255, and with it `git fetch`, rsync and scp fail. The file
# that includes them, with the same owner, is read. Distributions ship such files. `ssh -F none` or
# `GIT_SSH_COMMAND` with it is the cure.
#
# For agent-bash: in the sandbox of an ordinary user, git by ssh needs `GIT_SSH_COMMAND="ssh -F
# none"`.
set -eu
version=$(ssh -V 2>&1 | cut -d' ' -f 1)
[ "$version" = OpenSSH_9.2p1 ] || { echo "cannot run: $version, not 9.2p1"; exit 2; }
[ "$(id -u)" = 0 ] || { echo 'cannot run: needs root, to mount a file of root below /etc/ssh'; exit 2; }
grep -q '^Include /etc/ssh/ssh_config.d/\*.conf' /etc/ssh/ssh_config || { echo 'cannot run: no such Include'; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/config"
printf 'Host *\n    ServerAliveInterval 5\n' > "$work/config/site.conf"
cat > "$work/run" <<'R'
mount --bind "$1/config" /etc/ssh/ssh_config.d || exit 2
as_user() { setpriv --reuid 1000 --regid 1000 --clear-groups "$@" 2> /dev/null; }
as_user unshare -U --map-user=1000 --map-group=1000 true || exit 2
cd "$1"
plain=$(as_user ssh -G host.invalid | sed -n 's/^serveraliveinterval //p')
as_user unshare -U --map-user=1000 --map-group=1000 ssh -G host.invalid > out; mapped=$?
as_user unshare -U --map-user=1000 --map-group=1000 ssh -F none -G host.invalid > out; none=$?
echo "$plain $mapped $none"
R
result=$(unshare -m bash "$work/run" "$work") || { echo 'cannot run: no namespaces'; exit 2; }
echo "OpenSSH 9.2p1, interval of the file outside, exit code in a user namespace, with -F none: $result"
[ "$result" = '5 255 0' ]
