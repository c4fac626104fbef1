#!/usr/bin/env bash
# OpenSSH 9.2p1: a remote command that a signal ended has the exit code of a lost connection, 255.
#
# Expected: 137 after SIGKILL, as of a shell or a container, or a message; 255 means that the
# connection failed. Seen: the server reports the signal's name, and the client discards it: exit
# code 255 without a message, for each signal. Scripts that try again on 255 run the command twice,
# and a command killed for its memory looks like a network failure. If the remote shell runs more
# than this one command, the exit code is 137 again.
#
# For agent-bash: the result of a call on a remote host names the signal, as the supervisor runs
# there.
set -eu
. "$(dirname "$0")/lib/debian.sh"
case $(ssh -V 2>&1) in OpenSSH_9.2p1*) ;; *) echo "cannot run: $(ssh -V 2>&1), not 9.2p1"; exit 2 ;; esac
[ -x /usr/sbin/sshd ] && getent passwd sshd > /dev/null || { echo 'cannot run: no sshd'; exit 2; }
for key in host user; do ssh-keygen -q -t ed25519 -N '' -f "$work/$key"; done
echo "host $(cut -d ' ' -f 1,2 "$work/host.pub")" > "$work/known"
printf '%s\n' "HostKey $work/host" "AuthorizedKeysFile $work/user.pub" 'StrictModes no' 'UsePAM no' > "$work/config"
# The server speaks on its standard input. As root, it needs /run/sshd, here in a mount namespace.
cat > "$work/server" <<B
#!/bin/sh
start='exec /usr/sbin/sshd -i -f $work/config -E $work/log'
[ "\$(id -u)" = 0 ] || eval "\$start"
exec unshare -m sh -c "mount -t tmpfs none /run && mkdir -m 755 /run/sshd && \$start"
B
chmod +x "$work/server"
remote() {
    local code=0
    ssh -F none -o ProxyCommand="$1" -o UserKnownHostsFile="$work/known" -o IdentitiesOnly=yes -i "$work/user" \
        "$(id -un)@host" "$2" > "$work/output" 2> "$work/error" || code=$?
    echo "$code"
}
[ "$(remote "$work/server" 'exit 3')" = 3 ] || { echo "cannot run: $(tail -n 1 "$work/error")"; exit 2; }
killed=$(remote "$work/server" 'exec sh -c "kill -9 \$\$"')
message=$(wc -c < "$work/error")
in_shell=$(remote "$work/server" 'sh -c "kill -9 \$\$"; exit')
unreachable=$(remote false 'exit 3')
codes="$killed $in_shell $unreachable"
echo "OpenSSH 9.2p1: killed command, killed below a shell, no connection: $codes; bytes of messages: $message"
[ "$codes/$message" = '255 137 255/0' ]
