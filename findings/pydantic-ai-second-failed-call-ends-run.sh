#!/usr/bin/env bash
# pydantic-ai-slim 2.68.0 (PyPI): two failed calls of an MCP tool in a row end the agent's run.
#
# Expected: a result with `isError` is for the model, which reads it and goes on, as the protocol
# says of errors of a tool. Seen: the toolset takes it for a request to repeat the same call with
# better arguments, and allows one. The second failed call in a row, also of another command, raises
# `UnexpectedModelBehavior`, "exceeded max retries count of 1": the model does not read the second
# result, and the run has no answer. A shell tool that marks each failed command with `isError` ends
# runs in which a test fails twice. A success in between resets the count.
#
# For agent-bash: a failed command is an answer with `isError`; pydantic-ai needs a higher
# `max_retries` or another `tool_error_behavior` for it.
set -eu
. "$(dirname "$0")/lib/python.sh"
cp "$(dirname "$0")/lib/mcp_server.py" "$work/server.py"
output=$(run_with_packages 'pydantic-ai-slim[mcp]==2.68.0' <<'P'
import asyncio, sys
from fastmcp.client.transports import StdioTransport
from pydantic_ai import Agent
from pydantic_ai.exceptions import UnexpectedModelBehavior
from pydantic_ai.mcp import MCPToolset
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel

async def run(*commands):
    def model(messages, _):
        done = sum(isinstance(message, ModelResponse) for message in messages)
        if done < len(commands):
            return ModelResponse(parts=[ToolCallPart("run", {"command": commands[done]})])
        return ModelResponse(parts=[TextPart("answer")])

    tools = MCPToolset(StdioTransport(sys.executable, ["../server.py"]))
    try:
        return (await Agent(FunctionModel(model), toolsets=[tools]).run("go on")).output
    except UnexpectedModelBehavior as error:
        return str(error).partition(".")[0]

print(asyncio.run(run("false 1", "true", "false 2")), asyncio.run(run("false 1", "false 2")), sep="; ")
P
) || exit 2
echo "pydantic-ai 2.68.0, failed calls with a success between and without: $output"
[ "$output" = "answer; Tool 'run' exceeded max retries count of 1" ]
