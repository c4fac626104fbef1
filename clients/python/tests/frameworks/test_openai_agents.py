"""`ShellTool` of openai-agents."""

from __future__ import annotations

import asyncio
import os
from typing import Any, Dict, List

import pytest

from agent_bash import AsyncShell

from ..conftest import World
from .acting import kill, later


async def model_text(sh: AsyncShell, action: Dict[str, Any]) -> str:
    from agents import Agent, ModelResponse, RunConfig, Runner, ShellTool, Usage
    from agents.models.interface import Model
    from openai.types.responses import (
        ResponseFunctionShellToolCall,
        ResponseOutputMessage,
        ResponseOutputText,
    )

    from agent_bash.frameworks.openai_agents import executor

    inputs: List[Any] = []

    class Script(Model):
        async def get_response(self, system_instructions: Any, input: Any, *_: Any, **__: Any) -> ModelResponse:
            inputs.append(input)
            if len(inputs) == 1:
                output: Any = ResponseFunctionShellToolCall.model_validate(
                    {
                        "id": "1",
                        "call_id": "c1",
                        "type": "shell_call",
                        "status": "completed",
                        "action": {"timeout_ms": None, "max_output_length": None, **action},
                        "environment": None,
                    }
                )
            else:
                text = ResponseOutputText(type="output_text", text="done", annotations=[])
                output = ResponseOutputMessage(
                    id="2", type="message", role="assistant", status="completed", content=[text]
                )
            return ModelResponse(output=[output], usage=Usage(), response_id=None)

        def stream_response(self, *_: Any, **__: Any) -> Any:
            raise NotImplementedError

    agent = Agent(name="a", model=Script(), tools=[ShellTool(executor=executor(sh))])
    run = await Runner.run(agent, "go", run_config=RunConfig(tracing_disabled=True))
    assert run.final_output == "done"
    return str([item for item in inputs[1] if item.get("type") == "shell_call_output"][0])


def test_sandbox(world: World) -> None:
    from agents.sandbox import ExecTimeoutError, Manifest

    from agent_bash.frameworks.openai_agents import SandboxClient

    async def test() -> None:
        async with AsyncShell(**world.options) as sh:
            client = SandboxClient(sh)
            session = await client.create(manifest=Manifest(root=str(world.work)))
            async with session:
                done = await session.exec("echo out; echo err >&2; pwd >&2; exit 3", timeout=10)
                assert (done.stdout, done.exit_code) == (b"out\n", 3)
                assert done.stderr.decode().split() == ["err", str(world.work)]
                # A refused command is not started.
                done = await session.exec("touch ran; git add -A", timeout=10)
                assert done.exit_code != 0 and not (world.work / "ran").exists()
                with pytest.raises(ExecTimeoutError):
                    await session.exec("echo before; sleep 60", timeout=1)
                # A process that holds the output does not delay the result.
                done = await session.exec("sleep 600 & echo $!", timeout=30)
                os.kill(int(done.stdout), 9)
                assert done.exit_code == 0
            await client.delete(session)

    asyncio.run(asyncio.wait_for(test(), 120))


def test_it(world: World) -> None:
    async def test() -> None:
        async with AsyncShell(**world.options) as sh:
            assert "one" in await model_text(sh, {"commands": ["echo one"]})
            answer = await model_text(sh, {"commands": ["echo out; exit 3"]})
            assert "'exit_code': 3" in answer and "out" in answer
            answer = await model_text(sh, {"commands": ["echo before; sleep 60"], "timeout_ms": 1000})
            assert "timeout" in answer and "before" in answer

            task = asyncio.create_task(model_text(sh, {"commands": ["echo $$ > pid; touch begun; sleep 600"]}))
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
            answer = await model_text(sh, {"commands": ["touch begun; sleep 600"]})
            thread.join()
            assert "killed by signal 9" in answer

    asyncio.run(asyncio.wait_for(test(), 120))
