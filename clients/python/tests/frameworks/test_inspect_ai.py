"""A tool of Inspect."""

from __future__ import annotations

import os
from typing import Any

import pytest

from ..conftest import World


def test_it(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INSPECT_LOG_DIR", str(world.root / "logs"))
    from inspect_ai import Task, eval
    from inspect_ai.dataset import Sample
    from inspect_ai.log import EvalSample
    from inspect_ai.model import ChatMessageTool, ModelOutput, ModelUsage, get_model
    from inspect_ai.solver import generate, use_tools

    from agent_bash.frameworks.inspect_ai import bash

    def evaluated(tool: Any, arguments: Any, **options: Any) -> EvalSample:
        outputs = [
            ModelOutput.for_tool_call("mockllm/model", "bash", arguments),
            ModelOutput.from_content("mockllm/model", "done"),
        ]
        for output in outputs:
            # Otherwise Inspect downloads tables for counting tokens.
            output.usage = ModelUsage()
        model = get_model("mockllm/model", custom_outputs=outputs)
        task = Task(dataset=[Sample(input="go")], solver=[use_tools(tool), generate()], **options)
        log = eval(task, model=model, display="none")[0]
        assert log.status == "success" and log.samples, log.error
        return log.samples[0]

    def call_tool(program: Any = None, **arguments: Any) -> ChatMessageTool:
        sample = evaluated(bash(program=program, **world.options), arguments)
        return next(m for m in sample.messages if isinstance(m, ChatMessageTool))

    assert call_tool(command="echo one").content == "one\n"
    assert "exited with code 3" in str(call_tool(command="exit 3").content)
    late = str(call_tool(command="echo before; sleep 60", timeout=1).content)
    assert "timed out" in late and "before" in late

    program = world.root / "dies"
    real = os.environ.get("AGENT_BASH_PROGRAM") or "agent-bash"
    program.write_text(f"#!/bin/sh\n(sleep 1; kill -9 $$) & exec {real} \"$@\"\n")
    program.chmod(0o755)
    error = call_tool(str(program), command="sleep 600").error
    assert error and "killed by signal 9" in error.message

    # Inspect cancels a running command when the sample's time is over.
    sample = evaluated(bash(**world.options), {"command": "echo $$ > pid; sleep 600"}, time_limit=5)
    assert sample.limit and sample.limit.type == "time"
    pid = (world.work / "pid").read_text().strip()
    world.wait_for(lambda: not os.path.exists(f"/proc/{pid}"))
