#!/usr/bin/env bash
# mini-swe-agent 2.4.6 (PyPI): a command that has ended in time is a timeout, if its server runs on.
#
# Expected: `server & echo started` ends with its shell; the result is "started" with exit code 0,
# and the server runs. Seen: the agent reads the output until every process has closed it. At the
# time limit it reports -1 and "timed out" for a shell that had ended with 0 after some
# milliseconds, and it kills the server. `server > log 2>&1 &` is safe.
#
# For agent-bash: a call ends with its shell; the result names what runs on.
set -eu
. "$(dirname "$0")/lib/python.sh"
export MSWEA_SILENT_STARTUP=1
output=$(run_with_packages 'mini-swe-agent==2.4.6' <<'P'
import os, time
from minisweagent.environments.local import LocalEnvironment

shell = LocalEnvironment(timeout=2)
for command in ("(sleep 4; touch one) & echo started", "(sleep 4; touch two) > log 2>&1 & echo started"):
    result = shell.execute({"command": command})
    print(result["returncode"], repr(result["output"]), "timed out" in result["exception_info"])
time.sleep(5)
print([name for name in ("one", "two") if os.path.exists(name)])
P
) || exit 2
output=$(paste -sd ' ' <<< "$output")
echo "mini-swe-agent 2.4.6: exit code, output, timed out: $output ran to its end (first with the agent's pipe, then with a log)"
[ "$output" = "-1 'started\\n' True 0 'started\\n' False ['two']" ]
