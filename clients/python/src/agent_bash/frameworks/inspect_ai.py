"""For Inspect: `use_tools(bash(on=f"docker:{container}"))`."""

from __future__ import annotations

from typing import Any

from inspect_ai.tool import Tool, ToolError, tool

from .._async import AsyncShell
from .._errors import ShellLost


@tool
def bash(**options: Any) -> Tool:
    """The tool `bash`. The options are those of `AsyncShell`; each call has its own shell, as a sample may end at
    any time. Names of jobs and stored outputs stay valid between calls."""

    async def execute(command: str, timeout: float = 180) -> str:
        """Runs a bash command.

        Args:
            command: The command.
            timeout: Its time limit in seconds.

        Returns:
            What it printed, and how it ended.
        """
        try:
            async with AsyncShell(**options) as shell:
                return (await shell.run(command, timeout=timeout)).text
        except ShellLost as error:
            raise ToolError(str(error)) from error

    return execute
