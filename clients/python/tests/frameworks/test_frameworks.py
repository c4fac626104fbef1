"""The frameworks themselves run an agent with the shell; their models follow a script.

Each sees a success, a failure, a time limit, a cancellation and a lost shell, as far as it has a word for it.
"""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from typing import Any, Callable, Dict, List

import pytest

from agent_bash import AsyncShell, Shell, ShellLost, result_of

from ..conftest import World


def later(world: World, what: Callable[[], Any]) -> threading.Thread:
    """Does it as soon as the command under test says that it runs."""

    def wait() -> None:
        world.wait_for((world.work / "begun").exists)
        what()

    thread = threading.Thread(target=wait)
    thread.start()
    return thread


def kill(pid: int) -> Callable[[], None]:
    return lambda: os.kill(pid, signal.SIGKILL)


class TestOpenAIAgents:
    """`ShellTool` of openai-agents."""

    async def told(self, sh: AsyncShell, action: Dict[str, Any]) -> str:
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

    def test_it(self, world: World) -> None:
        async def test() -> None:
            async with AsyncShell(**world.options) as sh:
                assert "one" in await self.told(sh, {"commands": ["echo one"]})
                told = await self.told(sh, {"commands": ["echo out; exit 3"]})
                assert "'exit_code': 3" in told and "out" in told
                told = await self.told(sh, {"commands": ["echo before; sleep 60"], "timeout_ms": 1000})
                assert "timeout" in told and "before" in told

                task = asyncio.create_task(self.told(sh, {"commands": ["echo $$ > begun; sleep 600"]}))
                while not (world.work / "begun").exists():
                    await asyncio.sleep(0.02)
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
                pid = (world.work / "begun").read_text().strip()
                while os.path.exists(f"/proc/{pid}"):
                    await asyncio.sleep(0.02)
                (world.work / "begun").unlink()

                thread = later(world, kill(sh.pid))
                told = await self.told(sh, {"commands": ["touch begun; sleep 600"]})
                thread.join()
                assert "killed by signal 9" in told

        asyncio.run(asyncio.wait_for(test(), 120))


class TestDeepAgents:
    """`BaseSandbox` of deepagents."""

    def test_an_agent(self, world: World) -> None:
        from deepagents import create_deep_agent
        from langchain_core.language_models.fake_chat_models import FakeMessagesListChatModel
        from langchain_core.messages import AIMessage, ToolMessage

        from agent_bash.frameworks.deepagents import Sandbox

        class Script(FakeMessagesListChatModel):
            def bind_tools(self, tools: Any, **_: Any) -> Any:
                return self

        def told(sh: Shell, command: str) -> str:
            call = {"name": "execute", "args": {"command": command}, "id": "1", "type": "tool_call"}
            model = Script(responses=[AIMessage(content="", tool_calls=[call]), AIMessage(content="done")])
            agent = create_deep_agent(model=model, backend=Sandbox(sh))
            messages = agent.invoke({"messages": [{"role": "user", "content": "go"}]})["messages"]
            return str(next(m for m in messages if isinstance(m, ToolMessage)).content)

        with Shell(**world.options) as sh:
            assert "one" in told(sh, "echo one")
            assert "out" in told(sh, "echo out; exit 3") and "3" in told(sh, "echo out; exit 3")

    def test_how_calls_end(self, world: World) -> None:
        from agent_bash.frameworks.deepagents import Sandbox

        with Shell(**world.options) as sh:
            sandbox = Sandbox(sh)
            assert sandbox.id
            response = sandbox.execute("echo one")
            assert (response.output, response.exit_code, response.truncated) == ("one\n", 0, False)
            assert sandbox.execute("exit 3").exit_code == 3
            response = sandbox.execute("echo before; sleep 60", timeout=1)
            assert response.exit_code == 124 and "before" in response.output
            assert sandbox.execute("seq 100000").truncated

            path = str(world.work / "a.txt")
            assert [r.error for r in sandbox.upload_files([(path, b"text"), ("/no/such/dir/a", b"")])] == [
                None,
                "file_not_found",
            ]
            down = sandbox.download_files([path, "/no/such/file", str(world.work)])
            assert [(r.content, r.error) for r in down] == [
                (b"text", None),
                (None, "file_not_found"),
                (None, "is_directory"),
            ]
            # What the framework itself makes of these.
            assert sandbox.edit(path, "text", "words").error is None
            assert sandbox.download_files([path])[0].content == b"words"

            thread = later(world, kill(sh.pid))
            response = sandbox.execute("touch begun; sleep 600")
            thread.join()
            assert response.exit_code is None and "killed by signal 9" in response.output

    def test_a_cancelled_agent(self, world: World) -> None:
        from agent_bash.frameworks.deepagents import Sandbox

        # The framework runs `execute` in a thread, which nobody can interrupt: closing the shell does.
        sh = Shell(**world.options).open()
        thread = later(world, sh.close)
        response = Sandbox(sh).execute("echo part; touch begun; sleep 600")
        thread.join()
        assert response.exit_code is None and "part" in response.output


class TestMiniSweAgent:
    """The environment of mini-swe-agent."""

    def test_it(self, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("MSWEA_SILENT_STARTUP", "1")
        monkeypatch.setenv("MSWEA_GLOBAL_CONFIG_DIR", str(world.root))
        from minisweagent.agents.default import DefaultAgent
        from minisweagent.models.test_models import DeterministicModel, make_output

        from agent_bash.frameworks.mini_swe_agent import Environment

        def told(sh: Shell, command: str, **config: Any) -> Dict[str, Any]:
            outputs = [
                make_output("", [{"command": command}], cost=0.0),
                make_output("", [{"command": "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT; echo done"}], cost=0.0),
            ]
            template = "{{output.exception_info}}|{{output.returncode}}|{{output.output}}"
            agent = DefaultAgent(
                DeterministicModel(outputs=outputs, observation_template=template, cost_per_call=0.0),
                Environment(sh, **config),
                system_template="s",
                instance_template="{{task}}",
            )
            if command.startswith("touch begun"):
                outputs.pop()
                outputs.append(make_output("", [], cost=0.0))
                return Environment(sh, **config).execute({"command": command})
            assert agent.run("go")["submission"] == "done\n"
            content = agent.messages[3]["content"]
            info, code, output = str(content).split("|", 2)
            return {"exception_info": info, "returncode": int(code), "output": output}

        with Shell(**world.options) as sh:
            assert told(sh, "echo one") == {"output": "one\n", "returncode": 0, "exception_info": ""}
            failed = told(sh, "echo out; exit 3", cwd="/")
            assert failed["returncode"] == 3 and "out" in failed["output"]
            late = told(sh, "echo before; sleep 60", timeout=1)
            assert late["returncode"] == -1 and "timed_out" in late["exception_info"] and "before" in late["output"]

            thread = later(world, kill(sh.pid))
            lost = told(sh, "touch begun; sleep 600")
            thread.join()
            assert lost["returncode"] == -1 and "killed by signal 9" in lost["exception_info"]

        (world.work / "begun").unlink()
        sh = Shell(**world.options).open()
        thread = later(world, sh.close)
        ended = told(sh, "touch begun; echo part; sleep 600")
        thread.join()
        assert "cancelled" in ended["exception_info"] and "part" in ended["output"]


class TestInspect:
    """A tool of Inspect."""

    def test_it(self, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("INSPECT_LOG_DIR", str(world.root / "logs"))
        from inspect_ai import Task, eval
        from inspect_ai.dataset import Sample
        from inspect_ai.model import ChatMessageTool, ModelOutput, get_model
        from inspect_ai.solver import generate, use_tools

        from agent_bash.frameworks.inspect_ai import bash

        def told(**arguments: Any) -> ChatMessageTool:
            model = get_model(
                "mockllm/model",
                custom_outputs=[
                    ModelOutput.for_tool_call("mockllm/model", "bash", arguments),
                    ModelOutput.from_content("mockllm/model", "done"),
                ],
            )
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
        world.options_program = str(program)
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
