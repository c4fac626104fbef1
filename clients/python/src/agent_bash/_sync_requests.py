"""The requests of a `Shell`. Made from `_async_requests.py` by `make_sync.py`; do not edit."""

from __future__ import annotations

from base64 import b64decode, b64encode
from types import TracebackType
from typing import (
    TYPE_CHECKING,
    Any,
    Dict,
    List,
    Optional,
    Sequence,
    Type,
    Union,
)

from ._call import PIECE_BYTES, tool_answer, tool_list, tool_request, undo_request
from ._errors import NoJob, ShellError
from ._result import Answer, Found, Page, Result

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack

    from . import _types as t


class Requests:
    """The methods of a shell that only send requests."""

    def __init__(self) -> None:
        self._adapter: Optional[str] = None
        #: The name of the agent's turn, to which the calls of `run`, `stream`, `start` and `call("bash", …)` belong from
        #: now on. Then `undo(turn=…)` undoes them together.
        self.turn: Optional[str] = None

    def request(self, kind: str, **fields: Any) -> Any:
        """Sends any request of the protocol; returns its data."""
        raise NotImplementedError

    def run(self, command: str, **options: Unpack[t.CallOptions]) -> Result:
        """Runs a command and returns its result. A failed command has a result, too.

        On Ctrl-C the command is ended first; the `KeyboardInterrupt` has what it printed so far as
        `result` (see `result_of`).
        """
        return Result(self.request("tool_call", request={"command": command, **options}, turn=self.turn))

    def start(self, command: str, **options: Unpack[t.CallOptions]) -> Job:
        """Starts a command in the background."""
        options["mode"] = "background"
        result = self.run(command, **options)
        if result.status["kind"] != "moved_to_background":
            raise NoJob(result)
        return Job(self, result.status["job"], result)

    def terminal(
        self, command: str, *, size: Optional[str] = None, **options: Unpack[t.CallOptions]
    ) -> Terminal:
        """Starts a command on a terminal of `size` (`"80x24"`). Returns when its first screen is quiet."""
        request = {"command": command, **options}
        return Terminal(self, self.request("terminal.start", request=request, size=size))

    def tools(self, adapter: Optional[str] = None) -> List[Dict[str, Any]]:
        """The tool definitions of an adapter for a model. `call` refers to these tools from now on."""
        data = self.request("schema", adapter=adapter)
        self._adapter = adapter
        tools: List[Dict[str, Any]] = tool_list(data)
        return tools

    def call(self, tool: str, input: Any, *, adapter: Optional[str] = None) -> Answer:
        """Passes on a model's call of one of the adapter's tools, unchanged."""
        adapter = adapter or self._adapter
        kind, fields = tool_request(adapter, tool, input, self.turn)
        return tool_answer(adapter, self.request(kind, **fields))

    def artifact(self, artifact: Union[int, str]) -> Artifact:
        """A stored output, by its number, its link, or its path."""
        return Artifact(self, artifact)

    def artifacts(self) -> List[t.ArtifactData]:
        data: t.ArtifactsData = self.request("artifact.list")
        return data["artifacts"]

    def job(self, job: Union[int, str]) -> Job:
        """A background job, by its number."""
        return Job(self, str(job))

    def jobs(self, *, port: Optional[int] = None) -> List[t.JobData]:
        """The background jobs; with `port`, those that listen on it."""
        data: t.JobsData = self.request("jobs.list", port=port)
        return data["jobs"]

    def changes(self) -> List[t.ChangesSetData]:
        """The recorded change sets, oldest first."""
        data: t.ChangesListData = self.request("changes.list")
        return data["sets"]

    def diff(self, changes: Union[int, str], *, paths: Optional[Sequence[str]] = None) -> List[t.FileDiffData]:
        """The differences of a change set's files; with `paths`, of those files."""
        data: t.ChangesDiffData = self.request("changes.diff", changes=str(changes), paths=paths)
        return data["files"]

    def undo(
        self,
        changes: Union[int, str, None] = None,
        *,
        since: Union[int, str, None] = None,
        turn: Optional[str] = None,
        paths: Optional[Sequence[str]] = None,
        partial: bool = False,
    ) -> Union[t.ChangesDoneData, t.ChangesGroupData]:
        """Puts the files of a change set back, or those of all change sets `since` a number or a time (`"10m"`), or of
        a `turn` (a name, or `"last"`). A `ShellError` with the code `conflict` names files that were changed later;
        `partial` leaves those as they are. `paths` limits the undo of one change set to these files."""
        limit = {} if paths is None else {"paths": paths}
        kind, fields = undo_request("undo", changes, since, turn, partial=partial, **limit)
        data: Union[t.ChangesDoneData, t.ChangesGroupData] = self.request(kind, **fields)
        return data

    def redo(
        self,
        changes: Union[int, str, None] = None,
        *,
        since: Union[int, str, None] = None,
        turn: Optional[str] = None,
    ) -> Union[t.ChangesDoneData, t.ChangesGroupData]:
        """Makes undone changes again; the arguments are those of `undo`."""
        kind, fields = undo_request("redo", changes, since, turn)
        data: Union[t.ChangesDoneData, t.ChangesGroupData] = self.request(kind, **fields)
        return data

    def commit(self, changes: Union[int, str]) -> t.ChangesDoneData:
        """Applies the changes that a trial has held."""
        data: t.ChangesDoneData = self.request("changes.commit", changes=str(changes))
        return data

    def discard(self, changes: Union[int, str]) -> t.ChangesDoneData:
        """Drops the changes that a trial has held."""
        data: t.ChangesDoneData = self.request("changes.discard", changes=str(changes))
        return data

    def check(
        self, command: str, *, session: Optional[str] = None, cwd: Optional[str] = None
    ) -> t.CheckData:
        """Returns whether a command would be refused, and why. Does not run it."""
        data: t.CheckData = self.request(
            "check", command=command, session=session, cwd=cwd
        )
        return data

    def explain(
        self, command: str, *, session: Optional[str] = None, cwd: Optional[str] = None
    ) -> t.ExplainData:
        """Returns how a command is parsed, and the decision of each rule. Does not run it."""
        data: t.ExplainData = self.request(
            "explain", command=command, session=session, cwd=cwd
        )
        return data

    def read_file(self, path: str) -> bytes:
        """The content of a file on the machine that runs the commands."""
        content = bytearray()
        while True:
            piece: t.FilePieceData = self.request("file.read", path=path, offset=len(content))
            content += b64decode(piece["data"])
            if piece["at_end"]:
                return bytes(content)

    def write_file(self, path: str, content: bytes, *, mode: Optional[int] = None) -> None:
        """Replaces a file atomically. Its directory must exist."""
        upload: Optional[int] = None
        for start in range(0, max(len(content), 1), PIECE_BYTES):
            end = start + PIECE_BYTES
            written: t.FileWrittenData = self.request(
                "file.write",
                path=path,
                data=b64encode(content[start:end]).decode(),
                mode=mode,
                more=end < len(content),
                upload=upload,
            )
            upload = written.get("upload")

    def ping(self) -> t.PingData:
        data: t.PingData = self.request("ping")
        return data


class Job:
    """A background job. It outlives the shell that started it."""

    def __init__(self, shell: Requests, id: str, result: Optional[Result] = None) -> None:
        self._shell = shell
        self.id = id
        #: The answer to `start`, if this object started the job.
        self.result = result

    def __repr__(self) -> str:
        return f"Job({self.id!r})"

    def show(self) -> t.JobData:
        """The state of the job: running, or how it ended."""
        data: t.JobData = self._shell.request("jobs.show", job=self.id)
        return data

    def output(self, *, offset: Optional[int] = None, tail: Optional[int] = None) -> t.JobOutputData:
        """The job's output: from a byte on, or the last lines."""
        data: t.JobOutputData = self._shell.request("jobs.output", job=self.id, offset=offset, tail=tail)
        return data

    def wait(
        self, timeout: Union[float, str, None] = None, *, until: Optional[t.Until] = None, offset: Optional[int] = None
    ) -> t.JobWaitData:
        """Waits until the job has ended, or until one of the conditions `line` (a regular expression, from byte
        `offset` of the output on), `port` and `file` is met. Interrupting the wait does not end the job."""
        data: t.JobWaitData = self._shell.request(
            "jobs.wait", job=self.id, timeout=timeout, until=until, offset=offset
        )
        return data

    def kill(self, grace: Union[float, str, None] = None) -> t.JobKillData:
        """Ends the job with all its processes."""
        data: t.JobKillData = self._shell.request("jobs.kill", job=self.id, grace=grace)
        return data

    def input(self, text: str = "", *, close: bool = False) -> t.JobData:
        """Writes to the job's stdin, if it was started with `stdin="pipe"`."""
        data: t.JobData = self._shell.request("jobs.input", job=self.id, text=text, close=close)
        return data


class Terminal:
    """A command on a terminal. It ends with the shell that started it, or at the end of a `with` block.

    Each method returns a `TerminalData`: `screen`, with the lines as `text`, and after the command's end its `result`.
    """

    def __init__(self, shell: Requests, data: t.TerminalData) -> None:
        self._shell = shell
        #: The terminal's name; `None` if the command ended at once.
        self.id: Optional[str] = data.get("terminal")
        #: The last answer.
        self.data = data

    def __repr__(self) -> str:
        return f"Terminal({self.id!r})"

    @property
    def text(self) -> str:
        """The lines of the last answer's screen."""
        screen = self.data.get("screen")
        return "" if screen is None else screen["text"]

    def send(self, text: str, *keys: str) -> t.TerminalData:
        """Types a text, and then presses keys. Returns when the screen is quiet."""
        return self._ask("terminal.input", text=text, keys=list(keys))

    def keys(self, *names: str) -> t.TerminalData:
        """Presses keys by name, such as `"Enter"`, `"C-c"`, `"Up"`, `"F1"`. Returns when the screen is quiet."""
        return self._ask("terminal.input", keys=list(names))

    def resize(self, size: str) -> t.TerminalData:
        """Sets columns and rows, such as `"120x40"`."""
        return self._ask("terminal.input", size=size)

    def screen(
        self, *, until: Optional[t.Until] = None, timeout: Union[float, str, None] = None
    ) -> t.TerminalData:
        """The screen now, or when one of the conditions of `Job.wait` is met. Interrupting the wait does not end the
        command."""
        return self._ask("terminal.screen", until=until, timeout=timeout)

    def wait_until_quiet(self, ms: int = 500, *, timeout: Union[float, str, None] = None) -> t.TerminalData:
        """Waits until nothing was drawn for so many milliseconds."""
        return self.screen(until={"quiet_ms": ms}, timeout=timeout)

    def end(self) -> t.TerminalData:
        """Ends the command with all its processes, if it still runs."""
        if self.id is None or self.data.get("result") is not None:
            return self.data
        return self._ask("terminal.end")

    def _ask(self, kind: str, **fields: Any) -> t.TerminalData:
        if self.id is None:
            raise ShellError("the command has ended: `data` has its result")
        data: t.TerminalData = self._shell.request(kind, terminal=self.id, **fields)
        self.data = data
        return data

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        self.end()


class Artifact:
    """A stored output."""

    def __init__(self, shell: Requests, artifact: Union[int, str]) -> None:
        self._shell = shell
        self.artifact = artifact

    def show(
        self,
        *,
        offset: Optional[int] = None,
        limit: Optional[int] = None,
        tail: Optional[int] = None,
        byte: Optional[int] = None,
    ) -> Page:
        """A page of the output, by lines; `page.data` has the start of the next."""
        return Page.of(
            self._shell.request(
                "artifact.show", artifact=self.artifact, offset=offset, limit=limit, tail=tail, byte=byte
            )
        )

    def grep(
        self, pattern: str, *, context: int = 0, offset: Optional[int] = None, limit: Optional[int] = None
    ) -> Found:
        """The lines that match a regular expression, numbered."""
        return Found.of(
            self._shell.request(
                "artifact.grep", artifact=self.artifact, pattern=pattern, context=context, offset=offset, limit=limit
            )
        )
