#!/usr/bin/env bash
# swe-rex 1.4.0 (PyPI): a line that ends in `&` makes the lines after it a syntax error.
#
# Expected: two lines, `sleep 1 &` and `echo next`, run as in a script. Seen: the runtime splits a
# command at its line ends and joins the parts with " ; ". After `&` that gives "& ;", which bash
# rejects: "syntax error near unexpected token `;'". Nothing of the command runs, and the runtime's
# own check by `bash -n`, made before, has passed. On one line, `sleep 1 & echo next` works.
#
# For agent-bash: bash reads the script as it is; nothing is joined or split.
set -eu
. "$(dirname "$0")/lib/python.sh"
output=$(run_with_packages 'swe-rex==1.4.0' <<'P'
import asyncio, logging
logging.disable(logging.CRITICAL)
from swerex.runtime.abstract import BashAction, CreateBashSessionRequest
from swerex.runtime.local import LocalRuntime

async def main():
    runtime = LocalRuntime()
    await runtime.create_session(CreateBashSessionRequest())
    for command in ("sleep 1 &\necho next", "sleep 1 & echo next"):
        result = await runtime.run_in_session(BashAction(command=command, timeout=20, check="silent"))
        print(result.exit_code, "syntax error" in result.output, "next" in result.output.split())
    await runtime.close()

asyncio.run(main())
P
) || exit 2
output=$(paste -sd ' ' <<< "$output")
echo "swe-rex 1.4.0: exit code, syntax error, second command ran: $output (two lines, one line)"
[ "$output" = '2 True False 0 False True' ]
