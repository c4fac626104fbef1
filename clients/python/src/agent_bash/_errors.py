"""The errors of the shell itself. A failed command is not an error but a `Result`."""

from __future__ import annotations

from typing import Optional

from ._result import Result


class ShellError(Exception):
    """The program refused a request, cannot be found, or was used in a way that cannot work.

    `code` is the kind of error, where a program can do something about it: `not_found`, `protocol`, ….
    """

    def __init__(self, text: str, code: Optional[str] = None) -> None:
        super().__init__(text)
        self.code = code


class ShellLost(ShellError):
    """The program has ended. Every call in flight fails with this error; none is retried."""


class NoJob(ShellError):
    """`start` returns no job: a check refused the command, it could not be started, or it has ended already.
    `result` says which."""

    def __init__(self, result: Result) -> None:
        super().__init__(result.text)
        self.result = result


def result_of(error: BaseException) -> Optional[Result]:
    """The partial result of a cancelled call, attached to its exception or that exception's cause.

    `asyncio.wait_for` and `asyncio.timeout` turn a `CancelledError` into a `TimeoutError`, which refers to it.
    """
    seen = set()
    at: Optional[BaseException] = error
    while at is not None and id(at) not in seen:
        seen.add(id(at))
        found = getattr(at, "result", None)
        if isinstance(found, Result):
            return found
        at = at.__cause__ or at.__context__
    return None
