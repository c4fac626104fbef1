#!/usr/bin/env bash
# agno 3.1.10 (PyPI): an MCP server is refused by its absolute path, and accepted by its name.
#
# Expected: the absolute path of a program always works as an MCP server's command; a name depends on
# PATH, which services and editors often have without the user's directories. Seen: `MCPTools` takes a
# command if its last part is a program in PATH, or one of fifteen names such as `npx`.
# "/opt/tools/bin/server mcp" raises ValueError, "needs to use one of the following executables". Its
# code has a branch for absolute paths, which the last part of a path never enters.
#
# For agent-bash: agno needs the directory of `agent-bash` in PATH.
set -eu
. "$(dirname "$0")/lib/python.sh"
output=$(run_with_packages 'agno==3.1.10 mcp==2.3.0' <<'P'
import os
from agno.tools.mcp import MCPTools

os.mkdir("bin")
program = os.path.abspath("bin/finding-server")
with open(program, "w") as file:
    file.write("#!/bin/sh\n")
os.chmod(program, 0o755)

def make(command):
    try:
        MCPTools(command=command)
        return "accepted"
    except ValueError as error:
        return str(error).partition(" of the")[0]

path = make(f"{program} mcp")
os.environ["PATH"] += f":{os.getcwd()}/bin"
print(path, make("finding-server mcp"), sep=" / ")
P
) || exit 2
echo "agno 3.1.10: by absolute path, by name: $output"
[ "$output" = 'MCP command needs to use one / accepted' ]
