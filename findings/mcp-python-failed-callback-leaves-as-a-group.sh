#!/usr/bin/env bash
# MCP for Python 2.3.0 (PyPI, mcp): a failure of the user's form is an MCPError or not, by the mode.
#
# Expected: if the client's callback that asks the user fails, the server is told, and the call ends
# as other failed calls do. Seen: before revision 2026-07-28 it does: `call_tool` raises an MCPError.
# In the client's default mode, `call_tool` raises an ExceptionGroup with the callback's error, which
# no `except MCPError` catches, and the server gets no answer to its question.
#
# For agent-bash: nothing runs before the answer, so the call can be repeated.
set -eu
. "$(dirname "$0")/lib/python.sh"
output=$(run_with_packages 'mcp==2.3.0' <<'P'
import asyncio, logging
from typing import Annotated
from mcp import Client
from mcp.server import MCPServer
from mcp.server.mcpserver.resolve import Elicit, Resolve
from pydantic import BaseModel

logging.disable(logging.CRITICAL)
server = MCPServer("s")

class Answer(BaseModel):
    yes: bool

@server.tool()
async def ask(answer: Annotated[Answer, Resolve(lambda: Elicit("Sure?", Answer))]) -> str:
    return "asked"

async def user(context, params):
    raise ValueError("the window was closed")

async def main():
    for settings in ({"mode": "legacy"}, {}):
        async with Client(server, elicitation_callback=user, **settings) as client:
            try:
                await client.call_tool("ask", {})
            except Exception as error:
                print(type(error).__name__, end=" ")

asyncio.run(main())
P
) || exit 2
echo "mcp 2.3.0: what a call raises in the mode legacy, and by default: $output"
[ "$output" = 'MCPError ExceptionGroup ' ]
