#!/usr/bin/env bash
# Linux 6.18: a line of 5,000 bytes that is typed into a terminal arrives with 4,095 bytes.
#
# Expected: `write` to the terminal returns how much it took, or waits, as a pipe does. Seen: in
# canonical mode, `write` returns 5001, and the program reads 4,095 bytes and the line end; the
# rest is gone, without an error or a bell. A long URL, a JSON text or a command sent to `cat`,
# `read`, `python -c 'input()'` or a shell without line editing (dash) is cut so. The next line is
# whole again.
#
# For agent-bash: scripts go by a descriptor; long input for a command belongs in a file or a here-
# document.
set -eu
case $(uname -r) in 6.18.*) ;; *) echo "cannot run: Linux $(uname -r), not 6.18"; exit 2 ;; esac
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
output=$(cd "$work" && python3 - <<'P'
import os, pty, time
pid, terminal = pty.fork()
if pid == 0:
    os.execvp("sh", ["sh", "-c", "stty -echo; touch ready; exec cat > lines"])
while not os.path.exists("ready"):
    time.sleep(0.1)
time.sleep(0.3)
written = os.write(terminal, b"x" * 5000 + b"\n")
time.sleep(0.3)
os.write(terminal, b"next\n\x04")
os.waitpid(pid, 0)
with open("lines") as file:
    print(written, *(len(line) for line in file.read().split("\n")))
P
)
echo "Linux 6.18: written, and the lengths of the lines read: $output"
[ "$output" = '5001 4095 4 0' ]
