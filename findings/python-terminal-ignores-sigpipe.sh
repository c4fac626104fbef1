#!/usr/bin/env bash
# Python 3.11, pexpect 4.9.0 (PyPI): in a terminal that Python has opened, every command ignores
# SIGPIPE.
#
# Expected: a command on such a terminal runs as on the user's: once `head` has its line, SIGPIPE
# ends the commands before it. `subprocess` sees to that, as Python itself ignores the signal.
# Seen: `pty.spawn`, `pty.fork` and pexpect (so also what is built on it, or on ptyprocess:
# swe-rex, Jupyter's terminals) do not restore it, and a shell cannot: it is not allowed to trap
# or reset a signal that was ignored when it started. `yes | head -n 1` prints "Broken pipe" with
# exit code 1, not 141, and a shell's loop that prints goes on to its end after the reader has
# gone.
#
# For agent-bash: commands get the default action, whatever the program that started agent-bash
# ignores.
set -eu
version=$(python3 --version)
case $version in 'Python 3.11.'*) ;; *) echo "cannot run: $version, not 3.11"; exit 2 ;; esac
. "$(dirname "$0")/lib/python.sh"
output=$(run_with_packages 'pexpect==4.9.0 ptyprocess==0.7.0' <<'P'
import io, os, pty, subprocess, sys
import pexpect

script = """{ for i in {1..2000}; do echo $i; done 2> /dev/null; echo "the loop went on" >&2; } | head -n 1
yes 2> /dev/null | head -n 1 > /dev/null; echo ${PIPESTATUS[0]}"""

def words(text):
    return " ".join(sorted(text.replace("\r", "").split("\n"))).strip()

piped = subprocess.run(["bash", "-c", script], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout
child = pexpect.spawn("bash", ["-c", script], encoding="utf-8", timeout=60)
child.expect(pexpect.EOF)
pid, terminal = pty.fork()
if pid == 0:
    os.execvp("bash", ["bash", "-c", script])
forked = b""
while True:
    try:
        forked += os.read(terminal, 4096)
    except OSError:
        break
os.waitpid(pid, 0)
print(f"subprocess: {words(piped)}; pexpect: {words(child.before)}; pty: {words(forked.decode())}")
P
) || exit 2
echo "$version, pexpect 4.9.0: $output"
[ "$output" = 'subprocess: 1 141; pexpect: 1 1 the loop went on; pty: 1 1 the loop went on' ]
