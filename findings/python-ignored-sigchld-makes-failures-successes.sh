#!/usr/bin/env bash
# Python 3.11: with SIGCHLD ignored, `subprocess.run` returns 0 for each command that failed.
#
# Expected: the exit code, or an error such as `ChildProcessError`. Seen: a program that ignores
# SIGCHLD, so that it has no zombies, passes this on to what it starts by `exec`. In a Python
# there, the kernel discards the status of each child; `subprocess` then takes it for 0, also with
# `check=True`. `asyncio` takes it for 255, `os.system` for -1. A bash in between helps itself
# only: its own `$?` is right, but it gives the ignored signal back to the Python that it starts.
# node and dash restore the default.
#
# For agent-bash: commands get the default action of each signal, whatever the program that
# started agent-bash ignores.
set -eu
version=$(python3 --version)
case $version in 'Python 3.11.'*) ;; *) echo "cannot run: $version, not 3.11"; exit 2 ;; esac
command -v perl > /dev/null || { echo 'cannot run: no perl'; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat > "$work/main.py" <<'P'
import asyncio, os, subprocess
async def run():
    return await (await asyncio.create_subprocess_shell("exit 3")).wait()
print(subprocess.run("exit 3", shell=True, check=os.path.exists("ignored")).returncode, asyncio.run(run()), os.system("exit 3"))
P
cd "$work"
default=$(python3 main.py)
touch ignored
ignoring() { perl -e '$SIG{CHLD} = "IGNORE"; exec @ARGV' "$@" 2> /dev/null; }
output="by default $default; ignored $(ignoring python3 main.py); below bash $(ignoring bash -c '(exit 3); echo $?; python3 main.py' | paste -sd ' ')"
echo "$version: exit 3 by subprocess, asyncio, os.system (there 256 times it): $output"
[ "$output" = 'by default 3 3 768; ignored 0 255 -1; below bash 3 0 255 -1' ]
