"""The shell runtime for coding agents.

    async with AsyncShell(cwd="repo") as sh:
        r = await sh.run("make -j8", timeout=600)
        print(r.text if r.is_error else "built")

`Shell` is the same without `async`. A command's failure is a `Result`, never an exception; `ShellError` is a failure of
the shell itself. The types of a result's fields are in `agent_bash.types`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._errors import NoJob, ShellError, ShellLost, result_of
from ._result import Answer, Delta, Found, Page, Result

if TYPE_CHECKING:
    from . import _types as types
    from ._async import AsyncShell, AsyncStream
    from ._async_requests import AsyncArtifact, AsyncJob, AsyncTerminal
    from ._sync import Shell, Stream
    from ._sync_requests import Artifact, Job, Terminal

__version__ = "0.1.0"

__all__ = [
    "Answer",
    "Artifact",
    "AsyncArtifact",
    "AsyncJob",
    "AsyncShell",
    "AsyncStream",
    "AsyncTerminal",
    "NoJob",
    "Delta",
    "Found",
    "Job",
    "Page",
    "Result",
    "Shell",
    "ShellError",
    "ShellLost",
    "Stream",
    "Terminal",
    "result_of",
    "types",
]

# Imported on first use: a program that uses one kind of shell does not load the other.
_MODULES = {
    "AsyncArtifact": "_async_requests",
    "AsyncJob": "_async_requests",
    "AsyncShell": "_async",
    "AsyncStream": "_async",
    "AsyncTerminal": "_async_requests",
    "Artifact": "_sync_requests",
    "Job": "_sync_requests",
    "Shell": "_sync",
    "Stream": "_sync",
    "Terminal": "_sync_requests",
}


def __getattr__(name: str) -> Any:
    import importlib

    if name == "types":
        return importlib.import_module("._types", __name__)
    if name in _MODULES:
        value = getattr(importlib.import_module("." + _MODULES[name], __name__), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
