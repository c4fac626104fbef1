#!/usr/bin/env bash
# glibc 2.36: `posix_spawn` starts programs with the signals 32 and 33 ignored.
#
# Expected: a spawned program has the same ignored signals as a forked one: those that its parent
# ignores. Seen: `/proc/self/status` of every program that `posix_spawn` starts has the bits of the
# signals 32 and 33 in SigIgn. The C library keeps these signals for itself (cancellation, setxid),
# and no program can reset them, since its `sigaction` refuses both. Programs that compare the
# ignored signals of a process with those of its parent (supervisors, `nohup` detectors) must leave
# them out; they are passed on to every descendant. Seen by way of Python's `os.posix_spawn`; Rust's
# `std::process::Command` takes the same way.
#
# For agent-bash: they are left out when dispositions are compared.
set -eu
wanted='glibc 2.36'
version=$(python3 -c 'import os; print(os.confstr("CS_GNU_LIBC_VERSION"))')
[ "$version" = "$wanted" ] || { echo "cannot run: $version, not $wanted"; exit 2; }
output=$(python3 - <<'P'
import os, subprocess, sys
show = "import sys\nfor line in open('/proc/self/status'):\n  if line.startswith('SigIgn'): print(line.split()[1])"
def mask(text): return int(text, 16) & (3 << 31)
read, write = os.pipe()
pid = os.posix_spawn(sys.executable, [sys.executable, "-c", show], os.environ,
                     file_actions=[(os.POSIX_SPAWN_DUP2, write, 1)])
os.close(write)
spawned = os.read(read, 100).decode()
os.waitpid(pid, 0)
forked = subprocess.run([sys.executable, "-c", show], stdout=subprocess.PIPE, close_fds=True).stdout.decode()
print(f"posix_spawn {mask(spawned):#x}, fork {mask(forked):#x}")
P
)
echo "$version: $output"
[ "$output" = 'posix_spawn 0x180000000, fork 0x0' ]
