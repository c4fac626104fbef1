"""For the OpenAI Agents SDK: `ShellTool(executor=executor(shell))`."""

from __future__ import annotations

from typing import Any, Awaitable, Callable, Dict

from agents import ShellCallOutcome, ShellCommandOutput, ShellCommandRequest, ShellResult

from .._async import AsyncShell


def executor(shell: AsyncShell) -> Callable[[ShellCommandRequest], Awaitable[ShellResult]]:
    """Runs a model's calls of the tool `shell`. Cancelling the agent ends the command."""

    async def execute(request: ShellCommandRequest) -> ShellResult:
        action = request.data.action
        given: Dict[str, Any] = {"commands": action.commands}
        limits = {"timeout_ms": action.timeout_ms, "max_output_length": action.max_output_length}
        given.update((name, value) for name, value in limits.items() if value is not None)
        answer = await shell.call("shell", given, adapter="openai-shell")
        if answer.structured is None:
            raise ValueError(answer.content)
        return ShellResult(
            output=[
                ShellCommandOutput(
                    stdout=output["stdout"],
                    stderr=output["stderr"],
                    outcome=ShellCallOutcome(output["outcome"]["type"], output["outcome"].get("exit_code")),
                )
                for output in answer.structured["output"]
            ],
            max_output_length=answer.structured.get("max_output_length"),
        )

    return execute
