#!/usr/bin/env bash
# MCP for Python 2.3.0 (PyPI, mcp): an optional text parameter refuses the text of a JSON file.
#
# Expected: for a tool `write(content: str | None = None)`, a client can pass any text, as for
# `content: str`. Seen: unless the annotation is exactly `str`, the server parses texts that are
# JSON. The text of a package.json arrives as an object, and the call fails: "Input should be a valid
# string". The text "null" arrives as None, without an error. Numbers and JSON strings stay texts.
# The tool's schema says that a string is valid.
#
# For agent-bash: a parameter is what its JSON type says; a text is never parsed.
set -eu
. "$(dirname "$0")/lib/python.sh"
output=$(run_with_packages 'mcp==2.3.0' <<'P'
import asyncio, logging
from mcp import Client
from mcp.server import MCPServer
logging.disable()
server = MCPServer("texts")
@server.tool()
def exact(content: str):
    return repr(content)
@server.tool()
def optional(content: str | None = None):
    return repr(content)
async def main():
    async with Client(server) as client:
        for tool in ("exact", "optional"):
            for text in ('{"name": "x"}', "null", "12"):
                result = await client.call_tool(tool, {"content": text})
                shown = result.content[0].text
                print(tool, "error" if "valid string" in shown else shown)
asyncio.run(main())
P
) || exit 2
output=$(echo "$output" | paste -sd ';')
echo "MCP for Python 2.3.0: an object, null and a number as text: $output"
[ "$output" = "exact '{\"name\": \"x\"}';exact 'null';exact '12';optional error;optional None;optional '12'" ]
