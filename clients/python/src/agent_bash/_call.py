"""A request in flight, for both kinds of shell."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, Mapping, Optional, Tuple, Union

from ._deltas import PendingDelta
from ._errors import ShellError, ShellLost
from ._result import Answer, Delta, Result

if TYPE_CHECKING:
    from . import _types as t

#: Requests of one shell that may be in flight; the others are queued. The program accepts 256, and the rest is
#: for requests that end others.
MAX_IN_FLIGHT = 240

#: The protocol version of this client. A program with another one answers with an error.
PROTOCOL = 1

#: Bytes of a file in one request.
PIECE_BYTES = 4 * 1024 * 1024

#: The time that a cancelled command may take to end before it is killed, in seconds, by profile.
_GRACE = {"modes": 15.0}
_DEFAULT_GRACE = 2.0

Outcome = Tuple[Mapping[str, Any], Optional[ShellError]]


def cancel_timeout(profile: str) -> float:
    """The time to wait for the answer of a cancelled call."""
    return _GRACE.get(profile, _DEFAULT_GRACE) + 2.0


class Call:
    """Collects the messages for a request in the connection's thread, until they are read.

    `notify` is called once until the next `take`, and the deltas are merged into one.
    """

    def __init__(self) -> None:
        self.number = 0
        self._lock = threading.Lock()
        self._pending = PendingDelta()
        self._outcome: Optional[Outcome] = None
        self._notified = False

    def notify(self) -> None:
        """Called in the connection's thread when there is a new message."""
        raise NotImplementedError

    def deliver(self, message: Mapping[str, Any], error: Optional[ShellError]) -> None:
        with self._lock:
            if error is None and message["type"] == "update":
                self._pending.add(message)
            else:
                self._outcome = (message, error)
            notify = not self._notified
            self._notified = True
        if notify:
            self.notify()

    def take(self) -> Tuple[Optional[Delta], Optional[Outcome]]:
        with self._lock:
            self._notified = False
            return self._pending.take(), self._outcome


def data_of(outcome: Outcome) -> Any:
    """The data of a response, or its error."""
    message, error = outcome
    if error is not None:
        raise ShellLost(str(error))
    if not message["success"]:
        raise ShellError(message["error"], message.get("code"))
    return message.get("data")


def partial(outcome: Optional[Outcome]) -> Optional[Result]:
    """The result of a cancelled request, if it is a call and was answered."""
    if outcome is None or outcome[1] is not None or not outcome[0].get("success"):
        return None
    message = outcome[0]
    data = message["data"]
    if message["command"] == "adapter_call":
        data = data["result"]
    elif message["command"] != "tool_call":
        return None
    return None if data is None else Result(data)


def attach_result(error: BaseException, outcome: Optional[Outcome]) -> None:
    """Attaches the partial result to the exception of a cancelled call. See `result_of`."""
    error.result = partial(outcome)  # type: ignore[attr-defined]


def tool_request(
    adapter: Optional[str], tool: str, input: Any, turn: Optional[str]
) -> Tuple[str, Mapping[str, Any]]:
    """The request for a call of a model's tool."""
    if adapter is None:
        if tool != "bash":
            raise ShellError(
                f"no tool {tool!r}: without an adapter there is `bash`; name one, as in tools('codex'), or pass adapter="
            )
        return "tool_call", {"request": input, "turn": turn}
    return "adapter_call", {"adapter": adapter, "tool": tool, "input": input}


def undo_request(
    kind: str,
    changes: Union[int, str, None],
    since: Union[int, str, None],
    turn: Optional[str],
    **fields: Any,
) -> Tuple[str, Mapping[str, Any]]:
    """The request to undo or redo one change set, or several."""
    scope = {"changes": changes, "since": since, "turn": turn}
    scope = {name: str(value) for name, value in scope.items() if value is not None}
    if len(scope) != 1:
        raise ShellError(f"{kind} takes one of a change set, `since` and `turn`; given: {', '.join(scope) or 'none'}")
    fields.update(scope)
    return f"changes.{kind}" if "changes" in scope else f"changes.{kind}_all", fields


def tool_answer(adapter: Optional[str], data: Any) -> Answer:
    if adapter is not None:
        return Answer(data)
    result: t.ToolResult = data
    return Answer(
        {"content": result["text"], "is_error": result["is_error"], "structured": None, "result": result}
    )


def tool_list(data: Any) -> Any:
    return data["tools"] if "tools" in data else [data]
