#!/usr/bin/env bash
# util-linux 2.38.1: `setsid COMMAND` returns 0 at once if its process leads a process group.
#
# Expected: the same line has the same exit code in a script, in `bash -c` and at a prompt. Seen:
# `setsid` forks if it leads a process group, and the parent then exits with 0 at once. In a script
# it leads none, so the command is awaited. In `bash -c 'setsid make'`, bash replaces itself by
# `setsid`; if the caller made that bash a leader, as agents do to end it with its children, the
# call succeeds before make begins. `setsid --wait` is the cure.
#
# For agent-bash: how a host starts bash decides whether a command is awaited; a process that runs
# on is named in the result.
set -eu
version=$(setsid --version)
[ "$version" = 'setsid from util-linux 2.38.1' ] || { echo "cannot run: $version, not 2.38.1"; exit 2; }
command -v python3 > /dev/null || { echo 'cannot run: no python3'; exit 2; }
codes=$(python3 - <<'P'
import subprocess
def run(script, **options):
    return subprocess.run(["bash", "-c", script], **options).returncode
line = 'setsid sh -c "exit 3"'
print(run(line), run(line, process_group=0), run(line + "; exit $?", process_group=0),
      run(line.replace("setsid", "setsid --wait"), process_group=0))
P
) || { echo 'cannot run: needs Python 3.11'; exit 2; }
echo "util-linux 2.38.1, setsid of a command that exits with 3: plain, as leader, as leader with more commands, --wait: $codes"
[ "$codes" = '3 0 3 3' ]
