#!/usr/bin/env bash
# agent-framework-tools 1.0.0b261022 (PyPI): with a `workdir`, the model is told that `cd` stays, and it does not.
#
# Expected: the tool does what its description for the model says: "Commands run in a persistent
# session so `cd` and environment variables from previous calls are preserved". Seen: if the agent
# names a `workdir`, each command begins with a `cd` back to it by default (`confine_workdir`), and
# the description is the same. A model that works as told runs its second command in another
# directory, without an error. Variables stay.
#
# For agent-bash: a named session keeps its directory.
set -eu
. "$(dirname "$0")/lib/python.sh"
output=$(run_with_packages 'agent-framework-tools==1.0.0b261022' <<'P'
import asyncio, os
from agent_framework_tools.shell import LocalShellTool
async def main():
    os.mkdir("sub")
    for options in ({}, {"workdir": os.getcwd()}):
        async with LocalShellTool(approval_mode="never_require", acknowledge_unsafe=True, **options) as shell:
            await shell.run("cd sub; x=kept")
            after = await shell.run("basename $PWD; echo $x")
            told = "`cd` and environment variables from previous calls are preserved" in shell.as_function().description
            print(told, *after.stdout.split())
asyncio.run(main())
P
) || exit 2
output=$(echo "$output" | paste -sd ';')
echo "agent-framework-tools 1.0.0b261022: told that cd stays, the directory and a variable after it; with a workdir: $output"
[ "$output" = 'True sub kept;True project kept' ]
