#!/usr/bin/env bash
# swe-rex 1.4.0 (PyPI): a session that could not be created exists, and its first output is wrong.
#
# Expected: a start file may take 1.5 seconds (conda, nvm), as no time limit was given; if creating a
# session fails, it can be created again. Seen: `create_session` ends with a timeout after one
# second, and the session is registered: a second try is refused with "already exists". Commands run
# in it, and the output of the first begins with the prompt of the start.
#
# For agent-bash: scripts reach a session by a descriptor: its outputs have no prompt.
set -eu
. "$(dirname "$0")/lib/python.sh"
output=$(run_with_packages 'swe-rex==1.4.0' <<'P'
import asyncio, logging, pathlib
from swerex.runtime.abstract import BashAction, CreateBashSessionRequest
from swerex.runtime.local import LocalRuntime

logging.disable(logging.CRITICAL)
pathlib.Path("start.sh").write_text("sleep 1.5\n")

async def main():
    runtime = LocalRuntime()
    request = CreateBashSessionRequest(session="s", startup_source=["./start.sh"])
    names = []
    for _ in range(2):
        try:
            await runtime.create_session(request)
            names.append("created")
        except Exception as error:
            names.append(type(error).__name__)
    await asyncio.sleep(2)
    command = BashAction(session="s", command="echo one", check="silent")
    outputs = [(await runtime.run_in_session(command)).output.strip() for _ in range(2)]
    print(*names, ["as it is" if output == "one" else "longer" for output in outputs])
    await runtime.close()

asyncio.run(main())
P
) || exit 2
echo "swe-rex 1.4.0: two tries, the output of two commands: $output"
[ "$output" = "TIMEOUT SessionExistsError ['longer', 'as it is']" ]
