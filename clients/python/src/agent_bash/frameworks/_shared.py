"""What several frameworks need: calls with separate streams, and files in directories that do not exist yet."""

from __future__ import annotations

from posixpath import dirname
from shlex import quote
from typing import Any, Dict, NamedTuple, Optional

from .._async import AsyncShell
from .._errors import ShellError


class Separate(NamedTuple):
    """The end of a command, with the text of each stream, shortened as the adapter `openai-shell` does."""

    stdout: str
    stderr: str
    #: As shells report it: 124 if the time limit ended the command.
    exit_code: int
    timed_out: bool


async def run_separate(shell: AsyncShell, command: str, timeout: Optional[float] = None) -> Separate:
    """Runs a command. `timeout` is in seconds."""
    arguments: Dict[str, Any] = {"commands": [command]}
    if timeout is not None:
        arguments["timeout_ms"] = max(1, round(timeout * 1000))
    answer = await shell.call("shell", arguments, adapter="openai-shell")
    if answer.structured is None:
        raise ValueError(answer.content)
    output = answer.structured["output"][0]
    timed_out: bool = output["outcome"]["type"] == "timeout"
    code = 124 if timed_out else output["outcome"]["exit_code"]
    return Separate(output["stdout"], output["stderr"], code, timed_out)


async def write_file(shell: AsyncShell, path: str, content: bytes) -> None:
    """Replaces a file, and makes the directories above it if they are missing."""
    try:
        await shell.write_file(path, content)
    except ShellError as error:
        if error.code != "not_found":
            raise
        await shell.run(f"mkdir -p -- {quote(dirname(path))}")
        await shell.write_file(path, content)
