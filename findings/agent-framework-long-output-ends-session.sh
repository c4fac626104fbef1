#!/usr/bin/env bash
# agent-framework-tools 1.0.0b261022 (PyPI): an output over 256 KiB ends the session, with exit code -1.
#
# Expected: as documented, output beyond `max_output_bytes` (64 KiB) is cut, and variables and the
# directory of the session stay for the next command. Seen: from four times that length on, the
# shell is ended in the middle of the command. `seq 60000` has the exit code -1 and says only that
# it was cut; the next command runs in another shell, without the variables. `seq 9000` is a success.
#
# For agent-bash: an output of any length is stored, and the session goes on.
set -eu
. "$(dirname "$0")/lib/python.sh"
output=$(run_with_packages 'agent-framework-tools==1.0.0b261022' <<'P'
import asyncio
from agent_framework_tools.shell import LocalShellTool
async def main():
    for last in (9_000, 60_000):
        async with LocalShellTool(approval_mode="never_require", acknowledge_unsafe=True) as shell:
            await shell.run("x=kept")
            result = await shell.run(f"seq {last}")
            after = await shell.run("echo x=$x")
            print(result.exit_code, result.truncated, result.timed_out, after.stdout.strip())
asyncio.run(main())
P
) || exit 2
output=$(echo "$output" | paste -sd ';')
echo "agent-framework-tools 1.0.0b261022: exit code, cut, timed out and the variable after 9,000 and 60,000 lines: $output"
[ "$output" = '0 False False x=kept;-1 True False x=' ]
