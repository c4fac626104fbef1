#!/usr/bin/env bash
# Linux 6.18: in a process group without a parent in its session, SIGTSTP does nothing at all.
#
# Expected: SIGTSTP (Ctrl-Z, `kill -TSTP`) stops a process that does not handle it, as SIGSTOP does.
# Seen: after `setsid`, where agents start their shells, the kernel discards SIGTSTP, SIGTTIN and
# SIGTTOU: the sender gets success, the process goes on. `suspend`-like keys of editors and `kill
# -TSTP` in scripts have no effect there, while SIGSTOP works, and another process must continue it.
# The group counts, not the process: a child in a group of its own, with its parent in the session,
# does stop.
#
# For agent-bash: on a terminal, the supervisor stays the parent in the session, and continues
# groups that stopped themselves.
set -eu
case $(uname -r) in 6.18.*) ;; *) echo "cannot run: Linux $(uname -r), not 6.18"; exit 2 ;; esac
output=$(python3 - <<'P'
import os, signal, time
def state(pid):
    time.sleep(0.2)
    with open(f"/proc/{pid}/stat") as file:
        return file.read().rsplit(") ", 1)[1][0]
def sleeper():
    pid = os.fork()
    if pid == 0:
        time.sleep(30)
        os._exit(0)
    return pid
report, write = os.pipe()
leader = os.fork()
if leader == 0:
    os.setsid()
    orphaned = sleeper()
    grouped = sleeper()
    os.setpgid(grouped, grouped)
    states = []
    for pid, number in ((orphaned, signal.SIGTSTP), (orphaned, signal.SIGSTOP), (grouped, signal.SIGTSTP)):
        os.kill(pid, number)
        states.append(state(pid))
    os.write(write, "".join(states).encode())
    for pid in (orphaned, grouped):
        os.kill(pid, signal.SIGKILL)
    os._exit(0)
os.waitpid(leader, 0)
print(os.read(report, 9).decode())
P
)
echo "Linux 6.18: states S (sleeps) or T (stopped): TSTP, STOP in the session's first group, TSTP in a second: $output"
[ "$output" = STT ]
