"""The environment for Google's Agent Development Kit."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any, AsyncGenerator, Dict, List

import pytest

from agent_bash import AsyncShell

from ..conftest import World
from .acting import kill, later


async def observe(sh: AsyncShell, tool: str, arguments: Dict[str, Any]) -> Dict[str, Any]:
    """Returns the result that the model gets of its one call."""
    from google.adk.agents import LlmAgent
    from google.adk.models import BaseLlm, LlmRequest, LlmResponse
    from google.adk.runners import InMemoryRunner
    from google.adk.tools.environment import EnvironmentToolset
    from google.genai import types

    from agent_bash.frameworks.google_adk import Environment

    results: List[Dict[str, Any]] = []

    class Script(BaseLlm):
        async def generate_content_async(
            self, llm_request: LlmRequest, stream: bool = False
        ) -> AsyncGenerator[LlmResponse, None]:
            parts = llm_request.contents[-1].parts or []
            results.extend(part.function_response.response or {} for part in parts if part.function_response)
            part = types.Part(text="done") if results else types.Part.from_function_call(name=tool, args=arguments)
            yield LlmResponse(content=types.Content(role="model", parts=[part]))

    agent = LlmAgent(name="a", model=Script(model="script"), tools=[EnvironmentToolset(environment=Environment(sh))])
    runner = InMemoryRunner(agent, app_name="test")
    session = await runner.session_service.create_session(app_name="test", user_id="u")
    message = types.Content(role="user", parts=[types.Part(text="go")])
    async for _ in runner.run_async(user_id="u", session_id=session.id, new_message=message):
        pass
    return results[0]


def test_it(world: World) -> None:
    async def test() -> None:
        from agent_bash.frameworks.google_adk import Environment

        async with AsyncShell(**world.options) as sh:
            assert await observe(sh, "Execute", {"command": "echo one"}) == {"status": "ok", "stdout": "one\n"}
            failed = await observe(sh, "Execute", {"command": "echo out; echo err >&2; exit 3"})
            assert failed == {"status": "error", "stdout": "out\n", "stderr": "err\n", "exit_code": 3}
            assert (await observe(sh, "WriteFile", {"path": "new/deep/a.txt", "content": "x\n"}))["status"] == "ok"
            assert (world.work / "new/deep/a.txt").read_text() == "x\n"
            assert "x" in str(await observe(sh, "ReadFile", {"path": "new/deep/a.txt"}))
            assert (await observe(sh, "ReadFile", {"path": "absent"}))["status"] == "error"

            environment = Environment(sh)
            await environment.initialize()
            assert environment.working_dir == world.work
            late = await environment.execute("echo before; sleep 60", timeout=1)
            assert (late.exit_code, late.timed_out) == (124, True) and "before" in late.stdout
            with pytest.raises(FileNotFoundError):
                await environment.read_file(Path("absent"))

            task = asyncio.create_task(environment.execute("echo $$ > pid; touch begun; sleep 600"))
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
            lost = await observe(sh, "Execute", {"command": "touch begun; sleep 600"})
            thread.join()
            assert lost["status"] == "error" and "killed by signal 9" in lost["error"]

    asyncio.run(asyncio.wait_for(test(), 120))
