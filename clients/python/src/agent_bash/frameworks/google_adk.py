"""For Google's Agent Development Kit: `EnvironmentToolset(environment=Environment(shell))`."""

from __future__ import annotations

from pathlib import Path
from typing import Optional, Union

from google.adk.environment import BaseEnvironment, ExecutionResult

from .._async import AsyncShell
from .._errors import ShellError
from ._shared import run_separate, write_file


class Environment(BaseEnvironment):
    """Runs commands and moves files on the shell's machine."""

    def __init__(self, shell: AsyncShell) -> None:
        self._shell = shell
        self._directory: Optional[Path] = None

    async def initialize(self) -> None:
        if self._directory is None:
            self._directory = Path((await self._shell.run("true")).cwd)
        self.is_initialized = True

    @property
    def working_dir(self) -> Path:
        if self._directory is None:
            raise RuntimeError("call `initialize()` before `working_dir`")
        return self._directory

    async def execute(self, command: str, *, timeout: Optional[float] = None) -> ExecutionResult:
        done = await run_separate(self._shell, command, timeout)
        return ExecutionResult(done.exit_code, done.stdout, done.stderr, done.timed_out)

    async def read_file(self, path: Path) -> bytes:
        try:
            return await self._shell.read_file(str(path))
        except ShellError as error:
            raise (FileNotFoundError if error.code == "not_found" else OSError)(str(error)) from error

    async def write_file(self, path: Path, content: Union[str, bytes]) -> None:
        data = content.encode() if isinstance(content, str) else content
        try:
            await write_file(self._shell, str(path), data)
        except ShellError as error:
            raise OSError(str(error)) from error
