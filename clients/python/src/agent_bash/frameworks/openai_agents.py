"""For the OpenAI Agents SDK: `ShellTool(executor=executor(shell))`, and `SandboxClient(shell)` for a `SandboxAgent`."""

from __future__ import annotations

from pathlib import Path
from shlex import join, quote
from typing import Any, Awaitable, Callable, Dict, Optional

from agents import ShellCallOutcome, ShellCommandOutput, ShellCommandRequest, ShellResult
from agents.sandbox import ExecTimeoutError
from agents.sandbox.sandboxes.unix_local import UnixLocalSandboxClient, UnixLocalSandboxSession
from agents.sandbox.session import SandboxSession, SandboxSessionState
from agents.sandbox.types import ExecResult

from .._async import AsyncShell
from ._shared import run_separate


def executor(shell: AsyncShell) -> Callable[[ShellCommandRequest], Awaitable[ShellResult]]:
    """Runs a model's calls of the tool `shell`. Cancelling the agent ends the command."""

    async def execute(request: ShellCommandRequest) -> ShellResult:
        action = request.data.action
        arguments: Dict[str, Any] = {"commands": action.commands}
        limits = {"timeout_ms": action.timeout_ms, "max_output_length": action.max_output_length}
        arguments.update((name, value) for name, value in limits.items() if value is not None)
        answer = await shell.call("shell", arguments, adapter="openai-shell")
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


class _Session(UnixLocalSandboxSession):
    """A workspace of this machine. Commands run by agent-bash, and without a terminal."""

    shell: AsyncShell

    def supports_pty(self) -> bool:
        return False

    # The SDK calls this method, in spite of its name, on each class of sessions.
    async def _exec_internal(self, *command: "str | Path", timeout: Optional[float] = None) -> ExecResult:
        manifest = self.state.manifest
        variables = await manifest.environment.resolve()
        words = [*(f"{name}={value}" for name, value in variables.items()), *map(str, command)]
        # A model's command arrives as `sh -c TEXT`; the rules read TEXT, too.
        script = f"cd -- {quote(str(manifest.root))} && env {join(words)}"
        done = await run_separate(self.shell, script, timeout)
        if done.timed_out:
            raise ExecTimeoutError(command=command, timeout_s=timeout)
        return ExecResult(stdout=done.stdout.encode(), stderr=done.stderr.encode(), exit_code=done.exit_code)


class SandboxClient(UnixLocalSandboxClient):
    """Runs the commands of a `SandboxAgent` by agent-bash, in a directory of this machine. What confines them is the
    setting `sandbox` of the shell."""

    def __init__(self, shell: AsyncShell) -> None:
        super().__init__()
        self._shell = shell

    async def create(self, **options: Any) -> SandboxSession:
        return await self.resume((await super().create(**options)).state)

    async def resume(self, state: SandboxSessionState) -> SandboxSession:
        session = _Session(state=state)  # type: ignore[arg-type]
        session.shell = self._shell
        return self._wrap_session(session, instrumentation=self._instrumentation)
