#!/usr/bin/env bash
# anthropic 2.14.0 (PyPI): an output of 4,046 bytes is a failure, and the next output begins with
# "0".
#
# Expected: the outcome of a command of the SDK's `bash` tool does not depend on the length of its
# output. Seen: the tool reads blocks of 4,096 bytes until it finds its mark, and does not wait for
# the exit code behind it. If a block ends between both, as after 4,046 bytes (8,142, 12,238, ...),
# the code is -1, which the tool reports as an error. The digits are in front of the next command's
# output. One byte less, and the exit code 127 is 1. It happens if all arrive together: often after
# a builtin, seldom after a slow program.
#
# For agent-bash: the exit code is a message of the supervisor, not text in the output.
set -eu
. "$(dirname "$0")/lib/python.sh"
output=$(run_with_packages 'anthropic==2.14.0' <<'P'
import asyncio
from anthropic.lib.tools.agent_toolset import BashSession

async def main():
    for length, code in ((4044, 0), (4046, 0), (4047, 0), (4045, 127)):
        seen = set()
        for _ in range(30):
            session = await BashSession.start(".")
            await session.exec("end() { return $1; }")
            first = await session.exec(f"printf %0{length}d 1; end {code}")
            second = await session.exec("echo next")
            if len(first.output) == length:
                seen.add((first.exit_code, second.output.replace("\n", "/")))
            await session.close()
        print(length, *sorted(seen))

asyncio.run(main())
P
) || exit 2
output=$(echo "$output" | paste -sd ';')
echo "anthropic 2.14.0: length of an output, its exit codes in several runs, and the next output: $output"
case $output in
    "4044 (0, 'next');4046 (-1, '0/next')"*";4047 (0, 'next');4045 (1, '27/next')"*) ;;
    *) exit 1 ;;
esac
