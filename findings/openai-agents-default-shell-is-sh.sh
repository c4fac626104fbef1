#!/usr/bin/env bash
# openai-agents 0.24.0 (PyPI): the model is told that its shell is the user's, with `-l`, and gets
# `sh -c`.
#
# Expected: as the tool `exec_command` describes its parameters: `shell` "Defaults to the user's
# default shell", and `login`, "Whether to run the shell with -l/-i semantics. Defaults to true".
# Seen: by default, the local sandbox starts `sh -c`, on Debian dash, and reads no start file,
# whatever SHELL is. Bash's `[[`, arrays and `source` fail, and PATH lacks what the user's profile
# adds. Only a call that names `bash` itself gets a login shell, though `login` is the same.
#
# For agent-bash: the tool's text names the shell that runs the call, which is always bash.
set -eu
. "$(dirname "$0")/lib/python.sh"
export SHELL=/bin/bash
output=$(run_with_packages 'openai-agents==0.24.0' <<'P'
import asyncio, json
from agents.sandbox.capabilities.tools.shell_tool import ExecCommandTool
from agents.sandbox.sandboxes.unix_local import UnixLocalSandboxClient
async def main():
    async with await UnixLocalSandboxClient().create() as session:
        tool = ExecCommandTool(session=session)
        properties = tool.params_json_schema["properties"]
        told = "user's default shell" in properties["shell"]["description"], properties["login"]["default"]
        results = []
        for parameters in ({}, {"shell": "bash"}):
            command = "echo $0 $(shopt -q login_shell 2> /dev/null && echo login)"
            text = await tool._invoke(None, json.dumps({"cmd": command, **parameters}))
            results.append(text.splitlines()[-1])
    print(f"told the user's shell {told[0]}, login {told[1]}; by default '{results[0]}', with shell=bash '{results[1]}'")
asyncio.run(main())
P
) || exit 2
echo "openai-agents 0.24.0: $output"
[ "$output" = "told the user's shell True, login True; by default 'sh', with shell=bash 'bash login'" ]
