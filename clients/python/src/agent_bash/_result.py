"""The results of calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, List, Mapping, Optional, cast

if TYPE_CHECKING:
    from . import _types as t


class Result:
    """The end of a command and its output. `data` has all fields, including those unknown to this version."""

    __slots__ = ("data",)

    def __init__(self, data: t.ToolResult) -> None:
        self.data = data

    def __repr__(self) -> str:
        return f"Result({dict(self.status)}, {self.text!r})"

    @property
    def status(self) -> t.Status:
        """The end of the command; `status["kind"]` tells the cases apart."""
        return self.data["status"]

    @property
    def exit_code(self) -> Optional[int]:
        """The exit code, if the command exited."""
        code: Optional[int] = cast("Mapping[str, Any]", self.status).get("code")
        return code

    @property
    def is_error(self) -> bool:
        """True if the model should see an error."""
        return self.data["is_error"]

    @property
    def text(self) -> str:
        """The text for the model."""
        return self.data["text"]

    @property
    def output(self) -> t.OutputSummary:
        """Counts of the output, and of the part that is shown."""
        return self.data["output"]

    @property
    def duration_ms(self) -> float:
        return self.data["duration_ms"]

    @property
    def started_at(self) -> str:
        return self.data["started_at"]

    @property
    def cwd(self) -> str:
        return self.data["cwd"]

    @property
    def stages(self) -> List[t.Stage]:
        """The exit status of each stage of the last pipeline."""
        return self.data["stages"]

    @property
    def survivors(self) -> List[t.Survivor]:
        """Processes that the command started and that are still alive."""
        return self.data["survivors"]

    @property
    def notices(self) -> List[t.Notice]:
        """Further facts about the call."""
        return self.data["notices"]

    @property
    def artifacts(self) -> List[t.ArtifactRef]:
        """Files with the full output; read them with `artifact(id)`."""
        return self.data["artifacts"]

    @property
    def changes(self) -> Optional[t.Changes]:
        """The changes to files, if they were recorded."""
        return self.data.get("changes")

    @property
    def offers_trial(self) -> bool:
        """True if a trial of the refused command would run: the same request with `trial`."""
        return self.data.get("offers_trial", False)

    @property
    def exception_code(self) -> Optional[str]:
        """The code with which the user can allow the refused command: `agent-bash allow CODE`."""
        return self.data.get("exception_code")

    @property
    def sandbox(self) -> Optional[t.Sandboxed]:
        """The sandbox of the call, if any."""
        return self.data.get("sandbox")

    @property
    def target(self) -> Optional[str]:
        """The remote machine or container that ran the call, if any."""
        return self.data.get("target")

    @property
    def rule(self) -> Optional[str]:
        """The rule that refused the command."""
        return self.data["rule"]

    @property
    def suggested_tool(self) -> Optional[str]:
        """The tool that a refusal suggests."""
        return self.data["suggested_tool"]


class Delta:
    """The output of a running command since the last delta.

    First `rewind` bytes are taken off the end of the text so far (a progress bar redraws itself), then `text` is
    appended. `skipped_bytes` were left out before it because they came too fast.
    """

    __slots__ = ("rewind", "skipped_bytes", "text", "total_bytes")

    def __init__(self, text: str, rewind: int, skipped_bytes: int, total_bytes: int) -> None:
        self.text = text
        self.rewind = rewind
        self.skipped_bytes = skipped_bytes
        self.total_bytes = total_bytes

    def __repr__(self) -> str:
        return f"Delta({self.text!r}, rewind={self.rewind}, skipped_bytes={self.skipped_bytes})"


class Answer:
    """The result of `call`: the answer of a tool, in the format of its agent."""

    __slots__ = ("content", "data", "is_error", "result", "structured")

    def __init__(self, data: t.AdapterCallData) -> None:
        self.data = data
        self.content = data["content"]
        self.is_error = data["is_error"]
        self.structured: Any = data["structured"]
        result = data["result"]
        #: The regular result of the command, if one has ended.
        self.result = None if result is None else Result(result)

    def __repr__(self) -> str:
        return f"Answer({self.content!r}, is_error={self.is_error})"


class Page(str):
    """A part of a stored output, as a string; `data` has its position, and the start of the next part."""

    data: t.PageData

    @classmethod
    def of(cls, data: t.PageData) -> Page:
        page = cls(data["text"])
        page.data = data
        return page


class Found(str):
    """The matches of `grep`, as a string; `data` has the lines one by one, and the start of the rest."""

    data: t.FoundData

    @classmethod
    def of(cls, data: t.FoundData) -> Found:
        found = cls(data["text"])
        found.data = data
        return found
