"""For deepagents: `create_deep_agent(backend=Sandbox(shell))`."""

from __future__ import annotations

from typing import List, Optional, Tuple

from deepagents.backends.protocol import ExecuteResponse, FileDownloadResponse, FileUploadResponse
from deepagents.backends.sandbox import BaseSandbox

from .._errors import ShellError, ShellLost
from .._sync import Shell

# The names of deepagents for errors that its model gets; other errors are passed on as sentences.
_ERRORS = {
    "not_found": "file_not_found",
    "permission_denied": "permission_denied",
    "not_a_file": "is_directory",
}


class Sandbox(BaseSandbox):
    """Runs commands and moves files on the shell's machine."""

    def __init__(self, shell: Shell) -> None:
        self._shell = shell

    @property
    def id(self) -> str:
        return f"agent-bash-{self._shell.pid}"

    def execute(self, command: str, *, timeout: Optional[int] = None) -> ExecuteResponse:
        try:
            result = self._shell.run(command, timeout=timeout or None)
        except ShellLost as error:
            return ExecuteResponse(output=str(error), exit_code=None)
        code = 124 if result.status["kind"] == "timed_out" else result.exit_code
        if code is None and result.status["kind"] in ("blocked", "not_started"):
            code = 126
        return ExecuteResponse(output=result.text, exit_code=code, truncated=result.output["truncated"])

    def upload_files(self, files: List[Tuple[str, bytes]]) -> List[FileUploadResponse]:
        return [FileUploadResponse(path, self._error(path, content)) for path, content in files]

    def download_files(self, paths: List[str]) -> List[FileDownloadResponse]:
        return [self._download(path) for path in paths]

    def _error(self, path: str, content: bytes) -> Optional[str]:
        try:
            self._shell.write_file(path, content)
        except ShellError as error:
            return _ERRORS.get(error.code or "", str(error))
        return None

    def _download(self, path: str) -> FileDownloadResponse:
        try:
            return FileDownloadResponse(path, content=self._shell.read_file(path))
        except ShellError as error:
            return FileDownloadResponse(path, error=_ERRORS.get(error.code or "", str(error)))
