"""A request in flight, as both shells see it."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, Mapping, Optional, Tuple

from ._deltas import Pending
from ._errors import ShellError, ShellLost
from ._result import Answer, Delta, Result

if TYPE_CHECKING:
    from . import _types as t

#: Requests of one shell that may be in flight; the others wait for their turn. The program takes 256, and some are
#: left for what ends the others.
MOST_IN_FLIGHT = 240

#: The version of the protocol that is spoken here. A program that speaks another one says so.
PROTOCOL = 1

#: Bytes of a file in one request.
PIECE = 4 * 1024 * 1024

#: How long a cancelled command may take to end before it is killed, in seconds, by profile.
_GRACE = {"modes": 15.0}
_GRACE_OF_OTHERS = 2.0

Outcome = Tuple[Mapping[str, Any], Optional[ShellError]]


def patience(profile: str) -> float:
    """How long to wait for the answer of a cancelled call."""
    return _GRACE.get(profile, _GRACE_OF_OTHERS) + 2.0


class Call:
    """Takes what comes for a request, in the connection's thread, until somebody looks.

    However much comes, `tell` is called once until the next look, and the deltas are kept as one.
    """

    def __init__(self) -> None:
        self.number = 0
        self._lock = threading.Lock()
        self._pending = Pending()
        self._outcome: Optional[Outcome] = None
        self._told = False

    def tell(self) -> None:
        """Called in the connection's thread when there is something to look at."""
        raise NotImplementedError

    def deliver(self, message: Mapping[str, Any], error: Optional[ShellError]) -> None:
        with self._lock:
            if error is None and message["type"] == "update":
                self._pending.add(message)
            else:
                self._outcome = (message, error)
            tell = not self._told
            self._told = True
        if tell:
            self.tell()

    def look(self) -> Tuple[Optional[Delta], Optional[Outcome]]:
        with self._lock:
            self._told = False
            return self._pending.take(), self._outcome


def data_of(outcome: Outcome) -> Any:
    """The data of a response, or the error that it is."""
    message, error = outcome
    if error is not None:
        raise ShellLost(str(error))
    if not message["success"]:
        raise ShellError(message["error"], message.get("code"))
    return message.get("data")


def partial(outcome: Optional[Outcome]) -> Optional[Result]:
    """The result that a cancelled call has, if it is a call and was answered."""
    if outcome is None or outcome[1] is not None or not outcome[0].get("success"):
        return None
    message = outcome[0]
    data = message["data"]
    if message["command"] == "adapter_call":
        data = data["result"]
    elif message["command"] != "tool_call":
        return None
    return None if data is None else Result(data)


def carry(error: BaseException, outcome: Optional[Outcome]) -> None:
    """Puts the partial result on the exception of a cancelled call. See `result_of`."""
    error.result = partial(outcome)  # type: ignore[attr-defined]


def tool_request(
    adapter: Optional[str], tool: str, input: Any
) -> Tuple[str, Mapping[str, Any]]:
    """The request that a call of a model's tool is."""
    if adapter is None:
        if tool != "bash":
            raise ShellError(
                f"no tool {tool!r}: without an adapter there is `bash`; name one, as in tools('codex'), or pass adapter="
            )
        return "tool_call", {"request": input}
    return "adapter_call", {"adapter": adapter, "tool": tool, "input": input}


def tool_answer(adapter: Optional[str], data: Any) -> Answer:
    if adapter is not None:
        return Answer(data)
    result: t.ToolResult = data
    return Answer(
        {"content": result["text"], "is_error": result["is_error"], "structured": None, "result": result}
    )


def tool_list(data: Any) -> Any:
    return data["tools"] if "tools" in data else [data]
