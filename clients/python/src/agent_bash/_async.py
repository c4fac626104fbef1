"""`AsyncShell`: for asyncio."""

from __future__ import annotations

import traceback
import warnings
from types import TracebackType
from typing import (
    TYPE_CHECKING,
    Any,
    Awaitable,
    Callable,
    Mapping,
    Optional,
    Sequence,
    Set,
    Type,
    Union,
)

from . import _program
from ._async_requests import AsyncRequests
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

if TYPE_CHECKING:
    import asyncio

    from typing_extensions import Self, Unpack

    from . import _types as t
else:

    class Asyncio:
        """Imported late: asyncio takes longer to import than this package, and an awaiting caller has loaded it."""

        def __getattr__(self, name):
            import asyncio

            return getattr(asyncio, name)

    asyncio = Asyncio()


class AsyncShell(AsyncRequests):
    """One conversation's shell, in its own child process and one event loop.

    Open it with `async with`, or with `await shell.open()` and `await shell.aclose()`. Calls may run at the same time;
    those that name the same `session` run one after another, in the same bash.

    `cwd`: the directory of commands. `on`: the machine or container, for example `docker:box`. `profile`: the behaviour
    of calls and the format of their texts. `state`: the name under which jobs and outputs are kept. `other_tools`: the
    model's other tools. `env`: the whole environment. `options`: further options of `agent-bash rpc`. `on_event`:
    receives unsolicited messages of the program, such as the end of a job. `on_prompt`: asks the user for the input
    that a program of a running call needs, usually a password (`prompt["text"]`), and returns what the user typed, or
    None if the user declines. It needs the setting `prompts.ask_user`; the command that asks gets the answer.
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
        on_prompt: Optional[Callable[[Mapping[str, Any]], Awaitable[Optional[str]]]] = None,
    ) -> None:
        super().__init__()
        self._start = (program, on, profile, state, other_tools, options)
        self._cwd = cwd
        self._env = env
        self._on_event = on_event
        self._on_prompt = on_prompt
        self._prompts: Set[asyncio.Task[None]] = set()
        self._connection: Optional[Connection] = None
        self._hello: Optional[t.HelloData] = None
        self._cancel_timeout = cancel_timeout("")

    async def open(self) -> Self:
        """Starts the program and waits until it answers."""
        if self._connection is not None:
            raise ShellError("this shell has been opened before; make another")
        self._loop = asyncio.get_running_loop()
        self._gate = asyncio.Semaphore(MAX_IN_FLIGHT)
        self._connection = Connection(_program.command(*self._start), self._cwd, self._env, self._receive_other)
        try:
            hello = await self.request("hello", protocol=PROTOCOL, prompts=self._on_prompt is not None)
        except BaseException:
            await self.aclose()
            raise
        self._hello = hello
        self._cancel_timeout = cancel_timeout(hello["profile"])
        return self

    async def aclose(self) -> None:
        """Ends the program: running commands are cancelled, background jobs continue."""
        if self._connection is not None:
            self._connection.close_input()
            loop = asyncio.get_running_loop()
            await asyncio.shield(loop.run_in_executor(None, self._connection.close))

    async def __aenter__(self) -> Self:
        return await self.open()

    async def __aexit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        await self.aclose()

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

    def stream(self, command: str, **options: Unpack[t.CallOptions]) -> AsyncStream:
        """Runs a command; iterates over its live output, then its result. Leaving the loop early cancels it."""
        return AsyncStream(self, {"command": command, **options})

    async def request(self, kind: str, **fields: Any) -> Any:
        """Sends any request of the protocol; returns its data."""
        self._opened()
        async with self._gate:
            call = self._begin(kind, fields)
            try:
                return data_of(await call.outcome())
            except asyncio.CancelledError as error:
                attach_result(error, await self._settle(call))
                raise

    def _opened(self) -> Connection:
        if self._connection is None:
            raise ShellError(NOT_OPEN)
        if asyncio.get_running_loop() is not self._loop:
            raise ShellError(
                "this AsyncShell was opened in another event loop; open one in each loop, or use Shell in threads"
            )
        return self._connection

    def _begin(self, kind: str, fields: Mapping[str, Any]) -> AsyncCall:
        call = AsyncCall(self._loop)
        call.number = self._opened().begin(kind, fields, call.deliver)
        return call

    async def _settle(self, call: AsyncCall) -> Optional[Outcome]:
        """Cancels a call and waits for its answer, even if this task is cancelled again."""
        connection = self._opened()
        connection.cancel(call.number)
        outcome = await call.outcome_within(self._cancel_timeout)
        connection.forget(call.number)
        return outcome

    def _receive_other(self, message: Mapping[str, Any]) -> None:
        listener: Optional[Callable[[Mapping[str, Any]], object]] = self._on_event
        if message.get("type") == "prompt" and self._on_prompt is not None:
            listener = self._begin_answer
        if listener is not None:
            try:
                self._loop.call_soon_threadsafe(listener, message)
            except RuntimeError:
                pass  # The loop is closed: there is no listener.

    def _begin_answer(self, prompt: Mapping[str, Any]) -> None:
        # The loop itself only has weak references to its tasks.
        task = self._loop.create_task(self._answer(prompt))
        self._prompts.add(task)
        task.add_done_callback(self._prompts.discard)

    async def _answer(self, prompt: Mapping[str, Any]) -> None:
        answer = None
        try:
            if self._on_prompt is not None:
                answer = await self._on_prompt(prompt)
        except Exception:
            traceback.print_exc()
        try:
            await self.request("prompt.answer", prompt=prompt["prompt"], answer=answer)
        except ShellError:
            pass  # The program that asked has ended.


NOT_OPEN = "this shell is not open; use `async with AsyncShell(…) as sh:`, or `await sh.open()`"


class AsyncCall(Call):
    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__()
        self._loop = loop
        self._waiter: Optional[asyncio.Future[None]] = None

    def notify(self) -> None:
        try:
            self._loop.call_soon_threadsafe(self._wake)
        except RuntimeError:
            pass  # The loop is closed: there is no waiter.

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def changed(self) -> asyncio.Future[None]:
        """Done when there is new output, after a read that found none."""
        self._waiter = self._loop.create_future()
        return self._waiter

    async def outcome(self) -> Outcome:
        while True:
            _, outcome = self.take()
            if outcome is not None:
                return outcome
            await self.changed()

    async def outcome_within(self, seconds: float) -> Optional[Outcome]:
        """As `outcome`, with a timeout. A cancellation of this task does not end the wait."""
        until = self._loop.time() + seconds
        while True:
            _, outcome = self.take()
            remaining = until - self._loop.time()
            if outcome is not None or remaining <= 0:
                return outcome
            try:
                await asyncio.wait([self.changed()], timeout=remaining)
            except asyncio.CancelledError:
                continue


class AsyncStream:
    """The output of a running command: live `Delta`s, then the `Result`.

    A consumer that is slow gets fewer and longer ones. Leaving the loop early cancels the command; `async with` waits
    until it has ended, and then `result` has the partial result.
    """

    def __init__(self, shell: AsyncShell, request: Mapping[str, Any]) -> None:
        self._shell = shell
        self._request = request
        self._call: Optional[AsyncCall] = None
        self._over = False
        #: The result, once the command has ended.
        self.result: Optional[Result] = None

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Union[Delta, Result]:
        if self._over:
            raise StopAsyncIteration
        try:
            return await self._next()
        except asyncio.CancelledError as error:
            await self.aclose()
            error.result = self.result  # type: ignore[attr-defined]
            raise

    async def _next(self) -> Union[Delta, Result]:
        if self._call is None:
            self._shell._opened()
            await self._shell._gate.acquire()
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
            await self._call.changed()

    def _end(self) -> None:
        if not self._over:
            self._over = True
            if self._call is not None:
                self._shell._gate.release()

    async def aclose(self) -> None:
        """Cancels the command, if it still runs, and waits until it has ended."""
        if not self._over:
            outcome = None
            if self._call is not None:
                outcome = await self._shell._settle(self._call)
            self._end()
            if outcome is not None and outcome[1] is None and outcome[0]["success"]:
                self.result = Result(outcome[0]["data"])

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        await self.aclose()

    def __del__(self) -> None:
        # Left early without waiting: the command is still cancelled.
        if self._call is not None and not self._over and self._shell._connection is not None:
            self._shell._connection.cancel(self._call.number)
            self._shell._connection.forget(self._call.number)
            self._over = True
            try:
                # Garbage collection may run in any thread.
                self._shell._loop.call_soon_threadsafe(self._shell._gate.release)
            except RuntimeError:
                pass  # The loop is closed: there is no waiter.
