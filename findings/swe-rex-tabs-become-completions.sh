#!/usr/bin/env bash
# swe-rex 1.4.0 (PyPI): tabs in a command are lost; a Makefile written by a here-document is broken.
#
# Expected: the text of a command reaches bash unchanged, as with `bash -c`. Seen: the runtime types
# the command into an interactive bash on a terminal. readline takes each tab for the completion
# key, also within a here-document, so the file gets its lines without them. The exit code is 0, and
# `make` then fails with "missing separator". A tab that is written as `\t` for `printf` is safe.
#
# For agent-bash: scripts reach the shell by a descriptor, never by a terminal.
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
    command = "cat > Makefile <<'E'\nall:\n\techo built\nE"
    result = await runtime.run_in_session(BashAction(command=command, timeout=20))
    await runtime.close()
    with open("Makefile") as file:
        print("exit code", result.exit_code, repr(file.read()))

asyncio.run(main())
P
) || exit 2
echo "swe-rex 1.4.0: a here-document with a tab gives $output"
[ "$output" = "exit code 0 'all:\\necho built\\n'" ]
