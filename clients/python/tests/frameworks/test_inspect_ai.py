"""A tool of Inspect."""

from __future__ import annotations

import asyncio
import os
from typing import Any

import pytest

from agent_bash import result_of

from ..conftest import World


def test_it(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INSPECT_LOG_DIR", str(world.root / "logs"))
    from inspect_ai import Task, eval
    from inspect_ai.dataset import Sample
    from inspect_ai.model import ChatMessageTool, ModelOutput, ModelUsage, get_model
    from inspect_ai.solver import generate, use_tools

    from agent_bash.frameworks.inspect_ai import bash

    def told(**arguments: Any) -> ChatMessageTool:
        outputs = [
            ModelOutput.for_tool_call("mockllm/model", "bash", arguments),
            ModelOutput.from_content("mockllm/model", "done"),
        ]
        for output in outputs:
            # Otherwise they are counted, by tables that are downloaded.
            output.usage = ModelUsage()
        model = get_model("mockllm/model", custom_outputs=outputs)
        task = Task(dataset=[Sample(input="go")], solver=[use_tools(bash(**world.options)), generate()])
        log = eval(task, model=model, display="none")[0]
        assert log.status == "success" and log.samples, log.error
        return next(m for m in log.samples[0].messages if isinstance(m, ChatMessageTool))

    assert told(command="echo one").content == "one\n"
    assert "exited with code 3" in str(told(command="exit 3").content)
    late = str(told(command="echo before; sleep 60", timeout=1).content)
    assert "timed out" in late and "before" in late

    program = world.root / "dies"
    real = os.environ.get("AGENT_BASH_PROGRAM") or "agent-bash"
    program.write_text(f"#!/bin/sh\n(sleep 1; kill -9 $$) & exec {real} \"$@\"\n")
    program.chmod(0o755)
    from inspect_ai.tool import ToolError

    async def lost() -> None:
        with pytest.raises(ToolError, match="killed by signal 9"):
            await bash(program=str(program), **world.options)("sleep 600")

    asyncio.run(lost())

    async def cancelled() -> None:
        with pytest.raises(asyncio.TimeoutError) as caught:
            await asyncio.wait_for(bash(**world.options)("echo part; sleep 600"), 2)
        result = result_of(caught.value)
        assert result and "part" in result.text

    asyncio.run(cancelled())
