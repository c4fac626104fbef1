#!/usr/bin/env bash
# bubblewrap 0.8.0: `--die-with-parent` ends the sandbox with a thread of its parent.
#
# Expected: the sandboxed command is killed when the program that started it exits. Seen: the
# kernel's "parent" is the thread that started bwrap. A program that starts it on a thread of a
# pool (`spawn_blocking` of tokio, `asyncio.to_thread`, an executor that shuts down) goes on, and
# the command gets SIGKILL as soon as that thread ends: at random, for the user. `setpriv
# --pdeathsig` behaves alike.
#
# For agent-bash: the supervisor notices the end of its host by a socket, not by
# `PR_SET_PDEATHSIG`.
set -eu
version=$(bwrap --version) || { echo 'cannot run: no bwrap'; exit 2; }
[ "$version" = 'bubblewrap 0.8.0' ] || { echo "cannot run: $version, not 0.8.0"; exit 2; }
bwrap --ro-bind / / true 2> /dev/null || { echo 'cannot run: bwrap gets no user namespace'; exit 2; }
output=$(python3 - <<'P'
import subprocess, threading, time
def start():
    started.append(subprocess.Popen(["bwrap", "--ro-bind", "/", "/", "--die-with-parent", "sleep", "10"]))
    time.sleep(1)
started = []
thread = threading.Thread(target=start)
thread.start(), thread.join()
start()
time.sleep(0.5)
print(*(child.poll() for child in started))
started[1].kill(), started[1].wait()
P
)
echo "bubblewrap 0.8.0: exit codes of commands started by an ended thread, and by the main thread: $output"
[ "$output" = '-9 None' ]
