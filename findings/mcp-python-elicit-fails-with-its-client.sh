#!/usr/bin/env bash
# MCP for Python 2.3.0 (PyPI, mcp): `ctx.elicit` of its server fails with its own client by default.
#
# Expected: the server and the client of one package, with default settings, can ask the user. Seen:
# the client's default mode speaks the revision 2026-07-28, where a server cannot send requests, and
# the call ends with "no back-channel". With `mode="legacy"` the same tool works. A question as a
# parameter (`Resolve` with `Elicit`) works in both modes.
#
# For agent-bash: the server asks in the way of the revision that the client speaks.
set -eu
. "$(dirname "$0")/lib/python.sh"
output=$(run_with_packages 'mcp==2.3.0' <<'P'
import asyncio, logging
from typing import Annotated
from mcp import Client
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.resolve import Elicit, Resolve
from mcp.types import ElicitResult
from pydantic import BaseModel

logging.disable(logging.CRITICAL)
server = MCPServer("s")

class Answer(BaseModel):
    yes: bool

@server.tool()
async def by_context(context: Context) -> str:
    return (await context.elicit("Sure?", Answer)).action

@server.tool()
async def by_parameter(answer: Annotated[Answer, Resolve(lambda: Elicit("Sure?", Answer))]) -> str:
    return "accept" if answer.yes else "decline"

async def user(context, params):
    return ElicitResult(action="accept", content={"yes": True})

async def main():
    for settings in ({}, {"mode": "legacy"}):
        async with Client(server, elicitation_callback=user, **settings) as client:
            for tool in ("by_context", "by_parameter"):
                try:
                    print((await client.call_tool(tool, {})).content[0].text, end=" ")
                except Exception as error:
                    print(type(error).__name__, end=" ")

asyncio.run(main())
P
) || exit 2
echo "mcp 2.3.0: by context and by parameter, with defaults, then in the mode legacy: $output"
[ "$output" = 'NoBackChannelError accept accept accept ' ]
