#!/usr/bin/env bash
# Linux 6.18: a user's 1,024th pipe holds 64 KiB, and the next ones 8 KiB.
#
# Expected: a new pipe holds 64 KiB, as pipe(7) has it; a program that writes less before it reads
# does not block. Seen: all pipes of a user, in all processes and containers with that user ID,
# share 16,384 pages. When these are used up, new pipes get two pages, without an error or a
# message. A pattern like "write 20 KB to the child, then read its answer" works in a test and
# blocks on a busy build host. Root is exempt, so tests as root do not show it.
#
# For agent-bash: each pipe of a command has a reader from its start; scripts of any length go by
# files, not by the capacity of a pipe.
set -eu
case $(uname -r) in 6.18.*) ;; *) echo "cannot run: Linux $(uname -r), not 6.18"; exit 2 ;; esac
[ "$(cat /proc/sys/fs/pipe-user-pages-soft)" = 16384 ] || { echo 'cannot run: another fs.pipe-user-pages-soft'; exit 2; }
[ "$(id -u)" = 0 ] || { echo 'cannot run: needs root, to become a user without pipes'; exit 2; }
output=$(python3 - <<'P'
import fcntl, os, resource
F_GETPIPE_SZ = 1032
resource.setrlimit(resource.RLIMIT_NOFILE, (4096, 4096))
def sizes():
    pipes = [os.pipe() for _ in range(1100)]
    found = [fcntl.fcntl(write, F_GETPIPE_SZ) for _, write in pipes]
    for pair in pipes:
        os.close(pair[0]), os.close(pair[1])
    return found
as_root = sizes()
os.setresuid(64123, 64123, 64123)
as_user = sizes()
print(as_root[-1], as_user[0], as_user.count(65536), as_user[-1])
P
)
echo "Linux 6.18: root's last pipe, a user's first, how many of that size, the last: $output"
[ "$output" = '65536 65536 1024 8192' ]
