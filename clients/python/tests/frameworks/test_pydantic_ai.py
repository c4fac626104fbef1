"""The toolset for Pydantic AI."""

from __future__ import annotations

import asyncio
import os
from typing import Any, Dict, List, Optional

import pytest

from agent_bash import AsyncShell

from ..conftest import World
from .acting import kill, later


async def observe(sh: AsyncShell, tool: str, arguments: Dict[str, Any], adapter: Optional[str] = None) -> str:
    """Returns the result that the model gets of its one call."""
    from pydantic_ai import Agent
    from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
    from pydantic_ai.models.function import AgentInfo, FunctionModel

    from agent_bash.frameworks.pydantic_ai import toolset

    results: List[str] = []

    def model(messages: List[ModelMessage], info: AgentInfo) -> ModelResponse:
        assert tool in [definition.name for definition in info.function_tools]
        results.extend(str(part.content) for part in messages[-1].parts if isinstance(part, ToolReturnPart))
        if results:
            return ModelResponse(parts=[TextPart("done")])
        return ModelResponse(parts=[ToolCallPart(tool, arguments)])

    agent = Agent(FunctionModel(model), toolsets=[await toolset(sh, adapter)])
    assert (await agent.run("go")).output == "done"
    return results[0]


def test_it(world: World) -> None:
    async def test() -> None:
        async with AsyncShell(**world.options) as sh:
            assert await observe(sh, "bash", {"command": "echo one"}) == "one\n"
            failed = await observe(sh, "bash", {"command": "echo out; exit 3"})
            assert "out" in failed and "code 3" in failed
            late = await observe(sh, "bash", {"command": "echo before; sleep 60", "timeout": 1})
            assert "timed out" in late and "before" in late
            assert "two" in await observe(sh, "exec_command", {"cmd": "echo two"}, "codex")

            task = asyncio.create_task(observe(sh, "bash", {"command": "echo $$ > pid; touch begun; sleep 600"}))
            while not (world.work / "begun").exists():
                await asyncio.sleep(0.02)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            pid = (world.work / "pid").read_text().strip()
            while os.path.exists(f"/proc/{pid}"):
                await asyncio.sleep(0.02)
            (world.work / "begun").unlink()

            thread = later(world, kill(sh.pid))
            with pytest.raises(Exception, match="killed by signal 9"):
                await observe(sh, "bash", {"command": "touch begun; sleep 600"})
            thread.join()

    asyncio.run(asyncio.wait_for(test(), 120))
