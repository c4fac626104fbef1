"""Checks the adapters' answers with the SDKs whose formats they have: `anthropic`, `openai` and `openai-agents`.

Started by tests/tests/clients, in a world of its own. Argument: the SDK to check with. No network is used: the model is a
class in this file. Exits 0 if every check passes.
"""

import asyncio
import copy
import json
import os
import subprocess
import sys

server = subprocess.Popen(["agent-bash", "rpc"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
last = 0


def ask(type, **fields):
    global last
    last += 1
    server.stdin.write(json.dumps({"id": last, "type": type, **fields}) + "\n")
    message = json.loads(server.stdout.readline())
    check(message["success"] and message["id"] == last, message)
    return message["data"]


def call(adapter, tool, input):
    return ask("adapter_call", adapter=adapter, tool=tool, input=input)


def tools(adapter):
    return ask("schema", adapter=adapter)["tools"]


def check(condition, what):
    if not condition:
        raise AssertionError(what)


def same(ours, theirs, of):
    check(ours == theirs, f"{of}:\n  ours   {ours!r}\n  theirs {theirs!r}")


async def anthropic_part():
    from anthropic.lib.tools._beta_functions import aclose_runnable_tool
    from anthropic.lib.tools.agent_toolset import AgentToolContext, ToolError, beta_bash_tool
    from anthropic.types import ToolBash20250124Param, ToolResultBlockParam
    from anthropic.types.beta import BetaManagedAgentsAgentToolset20260401Params as Toolset
    from pydantic import ConfigDict, TypeAdapter, with_config

    # The SDK accepts our declarations, and they have no field that it does not know.
    for adapter, kind in (("anthropic-bash", ToolBash20250124Param), ("anthropic-agent", Toolset)):
        [declared] = tools(adapter)
        taken = TypeAdapter(with_config(ConfigDict(extra="forbid"))(kind)).validate_python(declared)
        # Pydantic validates lists lazily: iterating forces it.
        check(len(list(taken.get("configs", []))) == len(declared.get("configs", [])), taken)

    real = beta_bash_tool(AgentToolContext(workdir=os.getcwd()))

    # Makes the same call through the SDK's own implementation and through ours.
    async def ask_both(**input):
        try:
            said, is_error = await real.call(input), False
        except ToolError as error:
            said, is_error = error.content, True
        answer = call("anthropic-agent", "bash", input)
        TypeAdapter(ToolResultBlockParam).validate_python(
            {"type": "tool_result", "tool_use_id": "1", "content": answer["content"], "is_error": answer["is_error"]}
        )
        same(answer["is_error"], is_error, f"is_error of {input}")
        return answer["content"], said

    for input in (
        {"command": "echo hi; echo err >&2"},
        {"command": "printf '  a\\n\\n b \\n\\n\\n'"},
        {"command": "true"},
        {"command": "echo x; (exit 3)"},
        {"command": "(exit 7)"},
        {"command": "cat"},
        {"command": "printf '\\033[31mred\\033[0m\\n'"},
        {"command": "mkdir -p d; cd d; A=1"},
        {"command": "pwd; echo $A"},
        {"command": "echo no", "restart": True},
        {"command": "pwd; echo [$A]"},
        {"restart": True},
        {"command": "echo zero", "timeout_ms": 0},
        {},
        {"command": ""},
        {"command": None, "timeout_ms": 10},
    ):
        same(*await ask_both(**input), input)

    # After a timeout the SDK loses the output; ours has it below the SDK's text.
    ours, theirs = await ask_both(command="echo part; exec sleep 60", timeout_ms=1500)
    check(ours.startswith(theirs + "\n") and "part" in ours, (ours, theirs))
    await ask_both(restart=True)
    ours, theirs = await ask_both(command="yes 123456789 | head -n 20000")
    mark = "[output truncated]\n"
    check(ours.startswith(mark) and theirs.startswith(mark), (ours[:40], theirs[:40]))
    shown, _, link = ours.removeprefix(mark).rpartition("\n\n[Showing ")
    check(shown.endswith(theirs.removeprefix(mark)) and len(shown) <= 100 * 1024, (len(shown), len(theirs)))
    check("artifact://" in link, link)
    await aclose_runnable_tool(real)


async def openai_part():
    from agents import Agent, ModelResponse, RunConfig, Runner, ShellResult, ShellTool, Usage
    from agents.models.interface import Model
    from agents.run_internal.tool_execution import (
        normalize_shell_output,
        normalize_shell_output_entries,
        render_shell_outputs,
        truncate_shell_outputs,
    )
    from openai.types.responses import (
        FunctionShellTool,
        ResponseFunctionShellToolCall,
        ResponseFunctionShellToolCallOutput,
        ResponseOutputMessage,
    )

    [declared] = tools("openai-shell")
    same(FunctionShellTool.model_validate(declared, strict=True).to_dict(), declared, "the declaration")

    class Asks(Model):
        """A model that makes one call and keeps the answer it gets."""

        def __init__(self, action):
            self.action = action

        async def get_response(self, system_instructions, input, *_, **__):
            self.told = [item for item in input if isinstance(item, dict) and item.get("type") == "shell_call_output"]
            if self.told:
                text = {"type": "output_text", "text": "done", "annotations": []}
                message = {"id": "m", "type": "message", "role": "assistant", "status": "completed", "content": [text]}
                output = ResponseOutputMessage.model_validate(message)
            else:
                output = ResponseFunctionShellToolCall.model_validate(
                    {"id": "c", "call_id": "call", "type": "shell_call", "status": "completed", "action": self.action}
                )
            return ModelResponse(output=[output], usage=Usage(), response_id=None)

        def stream_response(self, *_, **__):
            raise NotImplementedError

    async def through_the_sdk(action, change=lambda structured: structured):
        """What a model gets, and what the adapter answered, for one call that the Agents SDK makes."""
        answers = []

        def execute(request):
            asked = request.data.action
            input = {"commands": asked.commands, "timeout_ms": asked.timeout_ms}
            if asked.max_output_length is not None:
                input["max_output_length"] = asked.max_output_length
            answers.append(call("openai-shell", "shell", input))
            structured = change(copy.deepcopy(answers[0]["structured"]))
            return ShellResult(
                output=structured["output"], max_output_length=structured.get("max_output_length")
            )

        model = Asks(action)
        agent = Agent(name="a", model=model, tools=[ShellTool(executor=execute)])
        await Runner.run(agent, "go", run_config=RunConfig(tracing_disabled=True))
        [told], [answer] = model.told, answers
        return told, answer

    fails = {"commands": ["echo out; echo err >&2; exit 3", "true"]}
    for action in (
        {"commands": ["echo hi"]},
        fails,
        {"commands": ["kill -9 $$"]},
        {"commands": ["git push --force"]},
        {"commands": ["echo part; sleep 60", "echo never"], "timeout_ms": 1000},
        {"commands": ["seq 50000", "echo second"], "max_output_length": 300},
        {"commands": ["echo zero"], "timeout_ms": 0},
    ):
        told, answer = await through_the_sdk(action)
        structured = answer["structured"]
        # The model gets our answer unchanged: no invented exit code, no further truncation.
        same(told["output"], structured["output"], action)
        same(told.get("max_output_length"), action.get("max_output_length"), action)
        item = {**told, "id": "o", "status": "completed"}
        ResponseFunctionShellToolCallOutput.model_validate(item, strict=True)
        outputs = [normalize_shell_output(entry) for entry in structured["output"]]
        longest = structured.get("max_output_length")
        if longest is not None:
            same(truncate_shell_outputs(outputs, longest), outputs, action)
        same(answer["content"], render_shell_outputs(outputs), action)

    # Control: without the exit code, which ours always has, the SDK takes a failure for a success.
    def without_exit_code(structured):
        for entry in structured["output"]:
            entry["outcome"].pop("exit_code", None)
        return structured

    told, answer = await through_the_sdk(fails, without_exit_code)
    codes = [entry["outcome"].get("exit_code") for entry in answer["structured"]["output"]]
    same(codes, [3, 0], "the codes as ours gives them")
    check(told["output"][0]["outcome"].get("exit_code") != 3, told)
    [first, _] = normalize_shell_output_entries(without_exit_code(answer["structured"])["output"])
    same(first["outcome"], {"type": "exit", "exit_code": 0}, "a failure without its code")


asyncio.run({"anthropic": anthropic_part, "openai": openai_part}[sys.argv[1]]())
server.stdin.close()
check(server.stdout.read() == "" and server.wait() == 0, "the end")
print("ok")
