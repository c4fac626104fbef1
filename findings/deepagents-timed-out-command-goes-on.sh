#!/usr/bin/env bash
# deepagents 0.7.32 (PyPI): a command that "timed out" goes on, and its output is lost.
#
# Expected: after a timeout with exit code 124, the command is ended, as by `timeout`: the local
# shell starts it in a session of its own, as programs do that end whole process groups. Seen: only
# `sh` gets the signal. The program that it started, a build or a test run, finishes its work later,
# maybe together with the model's second try. What it printed before the timeout is dropped.
#
# For agent-bash: a timeout ends all processes of the call, and the result has the output until
# then.
set -eu
. "$(dirname "$0")/lib/python.sh"
output=$(run_with_packages 'deepagents==0.7.32' <<'P'
import os, time
from deepagents.backends import LocalShellBackend

shell = LocalShellBackend(root_dir=".", inherit_env=True)
result = shell.execute("echo started; bash -c 'sleep 2; touch finished'; true", timeout=1)
before = os.listdir(".")
time.sleep(2.5)
print(result.exit_code, "started" in result.output, before, os.listdir("."))
P
) || exit 2
echo "deepagents 0.7.32: exit code, output, files at the timeout, files later: $output"
[ "$output" = "124 False [] ['finished']" ]
