"""`Shell`: `AsyncShell` without asyncio. Any number of threads may use one."""

from __future__ import annotations

import queue
import threading
import time
import traceback
import warnings
from types import TracebackType
from typing import (
    TYPE_CHECKING,
    Any,
    Callable,
    Mapping,
    Optional,
    Sequence,
    Type,
    Union,
)
from weakref import WeakMethod

from . import _program
from ._call import (
    MAX_IN_FLIGHT,
    PROTOCOL,
    Call,
    Outcome,
    attach_result,
    cancel_timeout,
    data_of,
)
from ._connection import Connection
from ._errors import ShellError
from ._result import Delta, Result
from ._sync_requests import Requests

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack

    from . import _types as t


class Shell(Requests):
    """One conversation's shell, in its own child process. Its methods block, and may be called from any thread.

    Open it with `with`, or with `shell.open()` and `shell.close()`. The parameters are those of `AsyncShell`, except
    that `on_event` is called in a thread of the shell's and must not call it. `on_prompt` is called in a thread of its
    own.
    """

    def __init__(
        self,
        *,
        cwd: Optional[str] = None,
        on: Optional[str] = None,
        profile: Optional[str] = None,
        state: Optional[str] = None,
        other_tools: Optional[Sequence[str]] = None,
        env: Optional[Mapping[str, str]] = None,
        program: Optional[str] = None,
        options: Sequence[str] = (),
        on_event: Optional[Callable[[Mapping[str, Any]], object]] = None,
        on_prompt: Optional[Callable[[Mapping[str, Any]], Optional[str]]] = None,
    ) -> None:
        super().__init__()
        self._start = (program, on, profile, state, other_tools, options)
        self._cwd = cwd
        self._env = env
        self._on_event = on_event
        self._on_prompt = on_prompt
        self._connection: Optional[Connection] = None
        self._gate = Gate()
        self._hello: Optional[t.HelloData] = None
        self._cancel_timeout = cancel_timeout("")

    def open(self) -> Self:
        """Starts the program and waits until it answers."""
        if self._connection is not None:
            raise ShellError("this shell has been opened before; make another")
        self._connection = Connection(
            _program.command(*self._start), self._cwd, self._env, _guarded(WeakMethod(self._receive_other))
        )
        try:
            hello = self.request("hello", protocol=PROTOCOL, prompts=self._on_prompt is not None)
        except BaseException:
            self.close()
            raise
        self._hello = hello
        self._cancel_timeout = cancel_timeout(hello["profile"])
        return self

    def close(self) -> None:
        """Ends the program: running commands are cancelled, background jobs continue."""
        if self._connection is not None:
            self._connection.close()

    def _receive_other(self, message: Mapping[str, Any]) -> None:
        if message.get("type") == "prompt" and self._on_prompt is not None:
            threading.Thread(target=self._answer, args=(message,), name="agent-bash-prompt", daemon=True).start()
        elif self._on_event is not None:
            self._on_event(message)

    def _answer(self, prompt: Mapping[str, Any]) -> None:
        answer = None
        try:
            if self._on_prompt is not None:
                answer = self._on_prompt(prompt)
        except Exception:
            traceback.print_exc()
        try:
            self.request("prompt.answer", prompt=prompt["prompt"], answer=answer)
        except ShellError:
            pass  # The program that asked has ended.

    def __enter__(self) -> Self:
        return self.open()

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        self.close()

    def __del__(self) -> None:
        connection = getattr(self, "_connection", None)
        if connection is not None and connection.close_input():
            warnings.warn(f"{self!r} was not closed", ResourceWarning, source=self)

    @property
    def hello(self) -> t.HelloData:
        """The program's answer to the handshake: its version, and the profile."""
        if self._hello is None:
            raise ShellError(NOT_OPEN)
        return self._hello

    @property
    def pid(self) -> int:
        """The pid of the program."""
        return self._opened().pid

    def stream(self, command: str, **options: Unpack[t.CallOptions]) -> Stream:
        """Runs a command; iterates over its live output, then its result. Leaving the loop early cancels it."""
        return Stream(self, {"command": command, **options})

    def request(self, kind: str, **fields: Any) -> Any:
        """Sends any request of the protocol; returns its data."""
        self._opened()
        with self._gate:
            call = self._begin(kind, fields)
            try:
                return data_of(call.outcome())
            except KeyboardInterrupt as error:
                attach_result(error, self._settle(call))
                raise

    def _opened(self) -> Connection:
        if self._connection is None:
            raise ShellError(NOT_OPEN)
        return self._connection

    def _begin(self, kind: str, fields: Mapping[str, Any]) -> SyncCall:
        call = SyncCall()
        call.number = self._opened().begin(kind, fields, call.deliver)
        return call

    def _settle(self, call: SyncCall) -> Optional[Outcome]:
        """Cancels a call and waits for its answer."""
        connection = self._opened()
        connection.cancel(call.number)
        outcome = call.outcome_within(self._cancel_timeout)
        connection.forget(call.number)
        return outcome


NOT_OPEN = "this shell is not open; use `with Shell(…) as sh:`, or `sh.open()`"


def _guarded(
    listener: "WeakMethod[Callable[[Mapping[str, Any]], None]]",
) -> Callable[[Mapping[str, Any]], None]:
    """Calls a listener and prints its errors, which must not end the connection's thread.

    The reference is weak: a shell that its user has dropped must not live as long as its connection.
    """

    def guarded_call(message: Mapping[str, Any]) -> None:
        call = listener()
        if call is None:
            return
        try:
            call(message)
        except Exception:
            traceback.print_exc()

    return guarded_call


class Gate:
    """A semaphore that may also be released during garbage collection."""

    def __init__(self) -> None:
        self._permits: queue.SimpleQueue[None] = queue.SimpleQueue()
        for _ in range(MAX_IN_FLIGHT):
            self._permits.put(None)

    def acquire(self) -> None:
        self._permits.get()

    def release(self) -> None:
        self._permits.put(None)

    def __enter__(self) -> None:
        self.acquire()

    def __exit__(self, *_: object) -> None:
        self.release()


class SyncCall(Call):
    def __init__(self) -> None:
        super().__init__()
        self._changes: queue.SimpleQueue[None] = queue.SimpleQueue()

    def notify(self) -> None:
        self._changes.put(None)

    def changed(self) -> None:
        """Waits until there is new output, after a read that found none."""
        self._changes.get()

    def outcome(self) -> Outcome:
        while True:
            _, outcome = self.take()
            if outcome is not None:
                return outcome
            self.changed()

    def outcome_within(self, seconds: float) -> Optional[Outcome]:
        until = time.monotonic() + seconds
        while True:
            _, outcome = self.take()
            remaining = until - time.monotonic()
            if outcome is not None or remaining <= 0:
                return outcome
            try:
                self._changes.get(timeout=remaining)
            except queue.Empty:
                pass


class Stream:
    """The output of a running command: live `Delta`s, then the `Result`.

    A consumer that is slow gets fewer and longer ones. Leaving the loop early cancels the command; `with` waits until
    it has ended, and then `result` has the partial result. `cancel` may be called from another thread.
    """

    def __init__(self, shell: Shell, request: Mapping[str, Any]) -> None:
        self._shell = shell
        self._request = request
        self._call: Optional[SyncCall] = None
        self._over = False
        #: The result, once the command has ended.
        self.result: Optional[Result] = None

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Union[Delta, Result]:
        if self._over:
            raise StopIteration
        try:
            return self._next()
        except KeyboardInterrupt as error:
            self.close()
            error.result = self.result  # type: ignore[attr-defined]
            raise

    def _next(self) -> Union[Delta, Result]:
        if self._call is None:
            self._shell._opened()
            self._shell._gate.acquire()
            try:
                fields = {"request": self._request, "stream": "delta", "turn": self._shell.turn}
                self._call = self._shell._begin("tool_call", fields)
            except BaseException:
                self._over = True
                self._shell._gate.release()
                raise
        while True:
            delta, outcome = self._call.take()
            if delta is not None:
                return delta
            if outcome is not None:
                self._end()
                self.result = Result(data_of(outcome))
                return self.result
            self._call.changed()

    def _end(self) -> None:
        if not self._over:
            self._over = True
            if self._call is not None:
                self._shell._gate.release()

    def cancel(self) -> None:
        """Cancels the command without waiting: the rest of its output and its result still arrive."""
        if self._call is not None and self._shell._connection is not None:
            self._shell._connection.cancel(self._call.number)

    def close(self) -> None:
        """Cancels the command, if it still runs, and waits until it has ended."""
        if not self._over:
            outcome = None
            if self._call is not None:
                outcome = self._shell._settle(self._call)
            self._end()
            if outcome is not None and outcome[1] is None and outcome[0]["success"]:
                self.result = Result(outcome[0]["data"])

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        self.close()

    def __del__(self) -> None:
        # Left early without waiting: the command is still cancelled.
        if self._call is not None and not self._over and self._shell._connection is not None:
            self._shell._connection.cancel(self._call.number)
            self._shell._connection.forget(self._call.number)
            self._end()
