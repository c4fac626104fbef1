"""For Pydantic AI: `Agent(model, toolsets=[await toolset(shell)])`."""

from __future__ import annotations

from typing import Any, Awaitable, Callable, Optional

from pydantic_ai import FunctionToolset, Tool

from .._async import AsyncShell


async def toolset(shell: AsyncShell, adapter: Optional[str] = None) -> FunctionToolset[Any]:
    """The tools as the program describes them to a model: `bash`, or the tools of an adapter. Cancelling the run ends
    the command."""

    def function(name: str) -> Callable[..., Awaitable[str]]:
        async def call(**arguments: Any) -> str:
            return (await shell.call(name, arguments, adapter=adapter)).content

        return call

    tools = []
    for tool in await shell.tools(adapter):
        schema = tool.get("input_schema") or tool["parameters"]
        tools.append(Tool.from_schema(function(tool["name"]), tool["name"], tool["description"], schema))
    return FunctionToolset(tools)
