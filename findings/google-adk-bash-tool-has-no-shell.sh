#!/usr/bin/env bash
# google-adk 2.13.0 (PyPI): the tool `execute_bash` starts no bash, and `>` in a command is printed.
#
# Expected: a tool that the model knows as "Executes a bash command" runs it in bash. Seen: the text
# is split into words and executed without a shell. `echo built > out.txt` succeeds with exit code
# 0, prints "built > out.txt", and writes no file. `$HOME` and `*.py` stay as they are, and `cd src`
# is "No such file or directory: 'cd'". The model's description does not mention it.
#
# For agent-bash: a command that agent-bash gets from there has no shell syntax; offer `agent-bash
# mcp` instead of that tool.
set -eu
. "$(dirname "$0")/lib/python.sh"
output=$(run_with_packages 'google-adk==2.13.0' <<'P'
import asyncio, os, pathlib, types
from google.adk.tools.bash_tool import ExecuteBashTool

confirmed = types.SimpleNamespace(tool_confirmation=types.SimpleNamespace(confirmed=True))
tool = ExecuteBashTool(workspace=pathlib.Path.cwd())
result = asyncio.run(tool.run_async(args={"command": "echo built > out.txt"}, tool_context=confirmed))
print(result["returncode"], result["stdout"].strip(), os.listdir("."), "Executes a bash command" in tool.description)
P
) || exit 2
echo "google-adk 2.13.0: exit code, output, files, named bash: $output"
[ "$output" = '0 built > out.txt [] True' ]
