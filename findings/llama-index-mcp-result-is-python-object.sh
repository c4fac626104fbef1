#!/usr/bin/env bash
# llama-index-tools-mcp 0.6.0 (PyPI): the model reads the result of an MCP tool as a Python object.
#
# Expected: the model reads the text of the result, and a result with `isError` is an error, as for
# a function of Python that raises. Seen: the content of the tool's output is the `repr` of the
# SDK's result object: `meta=None content=[TextContent(type='text', text='line one\nline two' ...`.
# Line ends and quotes are escaped, so the lines of a file or a diff are one line. `is_error` of the
# output is False for a failure, too; it is one more word within the text.
#
# For agent-bash: an answer over MCP is one text; below this client, the model reads it escaped, on
# one line, and knows a failure by the last line with the exit code.
set -eu
. "$(dirname "$0")/lib/python.sh"
cp "$(dirname "$0")/lib/mcp_server.py" "$work/server.py"
output=$(run_with_packages 'llama-index-tools-mcp==0.6.0 llama-index-core==0.14.25 mcp==2.3.0' <<'P'
import asyncio, sys
from llama_index.tools.mcp import BasicMCPClient, McpToolSpec

async def main():
    [tool] = await McpToolSpec(BasicMCPClient(sys.executable, args=["../server.py"])).to_tool_list_async()
    for command in ("true", "false"):
        output = await tool.acall(command=command)
        start = output.content.partition(", annotations")[0]
        print(start, f"lines={len(output.content.splitlines())} is_error={output.is_error}", end="; ")

asyncio.run(main())
P
) || exit 2
echo "llama-index-tools-mcp 0.6.0: results of two lines, the second with isError: $output"
[ "$output" = "meta=None content=[TextContent(type='text', text='line one\\ntrue, call 1' lines=1 is_error=False; \
meta=None content=[TextContent(type='text', text='line one\\nfalse, call 1' lines=1 is_error=False; " ]
