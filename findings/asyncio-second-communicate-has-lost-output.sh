#!/usr/bin/env bash
# Python 3.11, asyncio: after a time limit, `communicate()` returns none of the output until then.
#
# Expected: as of `subprocess`, whose manual says that another `communicate` after TimeoutExpired
# loses no output. The usual code for a time limit is `wait_for(process.communicate(), limit)`, then
# a kill, then `communicate()` for the output so far. Seen: the first call has read "before", and its
# cancellation discards it. The second call returns only what came later. Tools for agents that are
# written so have no output of a command that timed out.
#
# For agent-bash: the result of a call that timed out has the output until then.
set -eu
case $(python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])') in
    3.11) ;;
    *) echo "cannot run: $(python3 --version), not 3.11"; exit 2 ;;
esac
output=$(python3 - <<'P'
import asyncio, subprocess
COMMAND = ["bash", "-c", "echo before; sleep 4; echo after"]
def by_subprocess():
    process = subprocess.Popen(COMMAND, stdout=subprocess.PIPE)
    try:
        return process.communicate(timeout=2)
    except subprocess.TimeoutExpired:
        return process.communicate()[0]
async def by_asyncio():
    process = await asyncio.create_subprocess_exec(*COMMAND, stdout=subprocess.PIPE)
    try:
        return await asyncio.wait_for(process.communicate(), 2)
    except asyncio.TimeoutError:
        return (await process.communicate())[0]
print(by_subprocess().split(), asyncio.run(by_asyncio()).split())
P
) || exit 1
echo "Python 3.11: the output after a time limit, by subprocess and by asyncio: $output"
[ "$output" = "[b'before', b'after'] [b'after']" ]
