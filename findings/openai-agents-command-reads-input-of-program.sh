#!/usr/bin/env bash
# openai-agents 0.24.0 (PyPI): a command of the local sandbox reads what the user types for the
# program.
#
# Expected: a command of a model has an empty input: the tool `write_stdin` says "stdin is not
# available for this process" unless the command has a terminal. Seen: without a terminal, which
# is the default, a command inherits the standard input of the program that runs the agent. A
# command that reads (`read`, `cat`, `ssh`, `wc`) takes the user's next line, or the next message
# if that program is a server on standard input, and the program never sees it.
#
# For agent-bash: a command reads /dev/null, unless `stdin` says otherwise.
set -eu
. "$(dirname "$0")/lib/python.sh"
output=$(run_with_packages 'openai-agents==0.24.0' <<'P'
import subprocess, sys
program = r"""
import asyncio, json, sys
from agents.sandbox.capabilities.tools.shell_tool import ExecCommandTool, WriteStdinTool
from agents.sandbox.sandboxes.unix_local import UnixLocalSandboxClient
async def main():
    async with await UnixLocalSandboxClient().create() as session:
        tool, writer = ExecCommandTool(session=session), WriteStdinTool(session=session)
        result = await tool._invoke(None, json.dumps({"cmd": "read -r line; echo got $line"}))
        running = await tool._invoke(None, json.dumps({"cmd": "sleep 5", "yield_time_ms": 250}))
        number = int(running.split("session ID ")[1].split()[0])
        told = await writer._invoke(None, json.dumps({"session_id": number, "chars": "line"}))
    print(f"the command '{result.splitlines()[-1]}', the program '{sys.stdin.readline().strip()}', "
          f"told '{told.split('Output:')[1].strip()[:39]}'")
asyncio.run(main())
"""
print(subprocess.run([sys.executable, "-c", program], input="first\nsecond\n", stdout=subprocess.PIPE, check=True,
                     text=True).stdout.strip())
P
) || exit 2
echo "openai-agents 0.24.0: of two lines of input: $output"
[ "$output" = "the command 'got first', the program 'second', told 'stdin is not available for this process'" ]
