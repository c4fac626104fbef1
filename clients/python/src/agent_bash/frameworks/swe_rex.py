"""For SWE-ReX, and so for SWE-agent: `Runtime(shell)` in place of its `LocalRuntime`."""

from __future__ import annotations

import asyncio
from pathlib import Path
from shlex import join, quote
from typing import Dict, Optional

from swerex import exceptions
from swerex.runtime import abstract as rex
from swerex.utils.log import get_logger

from .._async import AsyncShell, AsyncStream
from .._errors import ShellError
from .._result import Delta, Result
from ._shared import run_separate, write_file


class Runtime(rex.AbstractRuntime):
    """Each session is a `session` of the shell. A time limit ends its bash: the next command has the exported variables
    and the directory, not the others. Interactive programs (`is_interactive_command`) are refused: use
    `shell.terminal`."""

    def __init__(self, shell: AsyncShell) -> None:
        self.logger = get_logger("agent-bash")
        self._shell = shell
        #: The call that runs in a session; None between two calls.
        self._sessions: Dict[str, Optional[AsyncStream]] = {}

    async def is_alive(self, *, timeout: Optional[float] = None) -> rex.IsAliveResponse:
        try:
            await asyncio.wait_for(self._shell.ping(), timeout)
        except (ShellError, asyncio.TimeoutError) as error:
            return rex.IsAliveResponse(is_alive=False, message=str(error))
        return rex.IsAliveResponse(is_alive=True)

    async def create_session(self, request: rex.CreateBashSessionRequest) -> rex.CreateBashSessionResponse:
        if request.session in self._sessions:
            raise exceptions.SessionExistsError(f"session {request.session} already exists")
        self._sessions[request.session] = None
        sources = "; ".join(f"source {path}" for path in request.startup_source)
        output, _ = await self._call(request.session, sources or ":", request.startup_timeout if sources else None)
        return rex.CreateBashSessionResponse(output=output)

    async def run_in_session(self, action: rex.Action) -> rex.BashObservation:
        if action.session not in self._sessions:
            raise exceptions.SessionDoesNotExistError(f"session {action.session!r} does not exist")
        if isinstance(action, rex.BashInterruptAction):
            self._cancel(action.session)
            return rex.BashObservation(exit_code=0)
        if action.is_interactive_command or action.is_interactive_quit:
            raise NotImplementedError("interactive commands: start the program with `shell.terminal`")
        await self._check_syntax(action.command)
        output, result = await self._call(action.session, action.command, action.timeout)
        if result.status["kind"] == "timed_out":
            raise exceptions.CommandTimeoutError(
                f"timeout after {action.timeout} seconds while running command {action.command!r}"
            )
        code = result.exit_code
        if code is None and not output:
            output = result.text
        if action.check == "raise" and code != 0:
            raise exceptions.NonZeroExitCodeError(
                f"{action.error_msg + ': ' if action.error_msg else ''}Command {action.command!r} failed with exit "
                f"code {code}. Here is the output:\n{output!r}"
            )
        return rex.BashObservation(output=output, exit_code=None if action.check == "ignore" else code)

    async def close_session(self, request: rex.CloseBashSessionRequest) -> rex.CloseBashSessionResponse:
        if request.session not in self._sessions:
            raise exceptions.SessionDoesNotExistError(f"session {request.session!r} does not exist")
        self._cancel(request.session)
        del self._sessions[request.session]
        await self._shell.request("session.close", session=request.session)
        return rex.CloseBashSessionResponse()

    async def execute(self, command: rex.Command) -> rex.CommandResponse:
        words = ["/bin/sh", "-c", command.command] if command.shell else command.command
        script = join([words] if isinstance(words, str) else words)  # type: ignore[arg-type]
        if command.env is not None:
            script = f"env -i {join(f'{name}={value}' for name, value in command.env.items())} {script}"
        if command.cwd is not None:
            script = f"cd -- {quote(command.cwd)} && {script}"
        if command.merge_output_streams:
            script = f"{{ {script}; }} 2>&1"
        done = await run_separate(self._shell, script, command.timeout)
        if done.timed_out:
            raise exceptions.CommandTimeoutError(f"Timeout ({command.timeout}s) exceeded while running command")
        if command.check and done.exit_code != 0:
            raise exceptions.NonZeroExitCodeError(
                f"{command.error_msg + ': ' if command.error_msg else ''}Command {command.command!r} failed with exit "
                f"code {done.exit_code}. Stdout:\n{done.stdout!r}\nStderr:\n{done.stderr!r}"
            )
        return rex.CommandResponse(stdout=done.stdout, stderr=done.stderr, exit_code=done.exit_code)

    async def read_file(self, request: rex.ReadFileRequest) -> rex.ReadFileResponse:
        try:
            content = await self._shell.read_file(request.path)
        except ShellError as error:
            raise (FileNotFoundError if error.code == "not_found" else OSError)(str(error)) from error
        return rex.ReadFileResponse(content=content.decode(request.encoding or "utf-8", request.errors or "strict"))

    async def write_file(self, request: rex.WriteFileRequest) -> rex.WriteFileResponse:
        await write_file(self._shell, request.path, request.content.encode())
        return rex.WriteFileResponse()

    async def upload(self, request: rex.UploadRequest) -> rex.UploadResponse:
        source = Path(request.source_path)
        files = [path for path in source.rglob("*") if path.is_file()] if source.is_dir() else [source]
        for path in files:
            target = Path(request.target_path, path.relative_to(source)) if source.is_dir() else request.target_path
            await write_file(self._shell, str(target), path.read_bytes())
        return rex.UploadResponse()

    async def close(self) -> rex.CloseResponse:
        for session in list(self._sessions):
            await self.close_session(rex.CloseBashSessionRequest(session=session))
        return rex.CloseResponse()

    def _cancel(self, session: str) -> None:
        """Cancels the call that runs in the session, if any. Its `run_in_session` then returns what it printed."""
        running = self._sessions[session]
        if running is not None and running._call is not None:
            self._shell._opened().cancel(running._call.number)

    async def _check_syntax(self, command: str) -> None:
        checked = await self._shell.run(f"bash -n -c {quote(command)}")
        if checked.exit_code:
            raise exceptions.BashIncorrectSyntaxError(
                f"Error (exit code {checked.exit_code}) while checking bash command \n{command!r}\n{checked.text}",
                extra_info={"bash_stdout": "", "bash_stderr": checked.text},
            )

    async def _call(self, session: str, command: str, timeout: Optional[float]) -> "tuple[str, Result]":
        """Runs a command in a session. Returns its output without the program's own lines, and its result."""
        stream = self._shell.stream(command, session=session, timeout=timeout, wait=timeout is None)
        self._sessions[session] = stream
        output = b""
        try:
            async for event in stream:
                if isinstance(event, Delta):
                    output = output[: len(output) - event.rewind] + event.text.encode()
        finally:
            self._sessions[session] = None
        assert stream.result is not None
        return output.decode(errors="replace"), stream.result
