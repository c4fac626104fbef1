"""The program as a child process, and the one thread that reads and writes for it.

Both shells are built on this. The thread never waits for a consumer, so the child can always write; a write that the
pipe does not take at once is left to the thread, so no caller waits for the child.
"""

from __future__ import annotations

import itertools
import json
import os
import select
import subprocess
import threading
import time
import weakref
from typing import Any, Callable, Dict, List, Mapping, Optional

from ._errors import ShellError, ShellLost

#: Takes an update or a response, or the error with which the child was lost. Called in the connection's thread.
Deliver = Callable[[Mapping[str, Any], Optional[ShellError]], None]

#: The time that a child may take to exit after its stdin is closed: before SIGTERM, and before SIGKILL.
EXIT_TIMEOUT = 20.0
SIGTERM_TIMEOUT = 2.0

_CHUNK = 1 << 16
_STDERR_TAIL_BYTES = 4096

#: To close their ends of the pipes in a forked process, which would keep the child alive.
_open: weakref.WeakSet[Connection] = weakref.WeakSet()


class Connection:
    def __init__(
        self,
        words: List[str],
        cwd: Optional[str],
        env: Optional[Mapping[str, str]],
        on_other: Callable[[Mapping[str, Any]], None],
    ) -> None:
        logs = "AGENT_BASH_LOG" in (os.environ if env is None else env)
        try:
            self._process = subprocess.Popen(
                words,
                bufsize=0,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=None if logs else subprocess.PIPE,
                cwd=cwd,
                env=None if env is None else dict(env),
                # Ctrl-C at the terminal is for this process, which sends the child the requests to cancel.
                start_new_session=True,
            )
        except OSError as error:
            raise ShellError(f"cannot start {words[0]}: {error}") from error
        assert self._process.stdin and self._process.stdout
        self._stdin = self._process.stdin.fileno()
        self._stdout = self._process.stdout.fileno()
        self._stderr = None if self._process.stderr is None else self._process.stderr.fileno()
        os.set_blocking(self._stdin, False)
        self._wake_reader, self._wake_writer = os.pipe()
        os.set_blocking(self._wake_reader, False)
        os.set_blocking(self._wake_writer, False)
        self._owner = os.getpid()
        self._forked = False
        # Reentrant: an object that is collected while the lock is held may cancel its command here.
        self._lock = threading.RLock()
        self._ids = itertools.count(1)
        self._waiting: Dict[int, Deliver] = {}
        self._on_other = on_other
        self._unsent = bytearray()
        self._closing = False
        self._lost: Optional[ShellLost] = None
        self._stderr_tail = b""
        _open.add(self)
        self._thread = threading.Thread(target=self._serve, name="agent-bash", daemon=True)
        self._thread.start()

    @property
    def pid(self) -> int:
        return self._process.pid

    def begin(self, kind: str, fields: Mapping[str, Any], deliver: Deliver) -> int:
        """Sends a request and returns its id. `deliver` gets the responses."""
        number = next(self._ids)
        line = json.dumps({"id": number, "type": kind, **fields}).encode() + b"\n"
        with self._lock:
            self._usable()
            self._waiting[number] = deliver
            self._send(line)
        return number

    def cancel(self, number: int) -> None:
        """Cancels a request; its own response follows. Does nothing after the response or without a child."""
        with self._lock:
            if number in self._waiting and not self._closing and self._lost is None and not self._forked:
                self._send(json.dumps({"type": "cancel", "target": number}).encode() + b"\n")

    def forget(self, number: int) -> None:
        """Drops further messages for a request."""
        with self._lock:
            self._waiting.pop(number, None)

    def close_input(self) -> bool:
        """Starts to end the child: commands are cancelled, and calls in flight answered. Does not wait. Returns
        whether it was open."""
        with self._lock:
            was_open = not self._closing and not self._forked and self._lost is None
            if was_open:
                self._closing = True
                self._wake()
            return was_open

    def close(self) -> None:
        """Ends the child and waits until it has ended."""
        self.close_input()
        if not self._forked and threading.current_thread() is not self._thread:
            self._thread.join()

    def _usable(self) -> None:
        if self._forked:
            raise ShellError(
                f"this shell belongs to process {self._owner}, and this is a fork of it ({os.getpid()}); open another here"
            )
        if self._lost is not None:
            raise ShellLost(str(self._lost))
        if self._closing:
            raise ShellError("this shell has been closed; open another")

    def _send(self, line: bytes) -> None:
        """Writes as much as the pipe accepts; the thread writes the rest. The lock is held."""
        if not self._unsent:
            try:
                line = line[os.write(self._stdin, line) :]
            except BlockingIOError:
                pass
            except OSError:
                return  # The child has exited; the thread notices at its stdout.
        if line:
            self._unsent += line
            self._wake()

    def _wake(self) -> None:
        try:
            os.write(self._wake_writer, b"!")
        except OSError:
            pass  # Full: the thread is about to wake. Closed: the thread has ended.

    # In the thread.

    def _serve(self) -> None:
        poll = select.poll()
        poll.register(self._stdout, select.POLLIN)
        poll.register(self._wake_reader, select.POLLIN)
        if self._stderr is not None:
            poll.register(self._stderr, select.POLLIN)
        unread = bytearray()
        writing = stdin_open = True
        input_closed_at: Optional[float] = None
        poll.register(self._stdin, 0)
        while True:
            with self._lock:
                if self._unsent and stdin_open:
                    self._write_unsent()
                if self._closing and not self._unsent and stdin_open:
                    poll.unregister(self._stdin)
                    assert self._process.stdin
                    self._process.stdin.close()
                    stdin_open = False
                if self._closing and input_closed_at is None:
                    input_closed_at = time.monotonic()
                if stdin_open and writing != bool(self._unsent):
                    writing = bool(self._unsent)
                    poll.modify(self._stdin, select.POLLOUT if writing else 0)
            if input_closed_at is not None:
                self._enforce_exit(time.monotonic() - input_closed_at)
            ready = poll.poll(None if input_closed_at is None else 500)
            for number, _ in ready:
                if number == self._wake_reader:
                    _read(number)
                elif number == self._stderr:
                    chunk = _read(number)
                    self._stderr_tail = (self._stderr_tail + chunk)[-_STDERR_TAIL_BYTES:]
                    if not chunk:
                        poll.unregister(number)
                elif number == self._stdin and not self._unsent:
                    # The other end is closed; the end of stdout shows whether the child has exited.
                    poll.unregister(number)
                    stdin_open = False
            if any(number == self._stdout for number, _ in ready):
                chunk = _read(self._stdout)
                if not chunk:
                    break
                unread += chunk
                if b"\n" in chunk and not self._handle_lines(unread):
                    break
        self._end()

    def _handle_lines(self, unread: bytearray) -> bool:
        """Handles complete lines. Returns whether they were messages."""
        lines = bytes(unread).split(b"\n")
        unread[:] = lines.pop()
        for line in lines:
            try:
                message = json.loads(line)
            except ValueError:
                self._stderr_tail = b"it wrote an invalid message: " + line[:200]
                self._process.kill()
                return False
            self._handle(message)
        return True

    def _write_unsent(self) -> None:
        try:
            del self._unsent[: os.write(self._stdin, self._unsent[:_CHUNK])]
        except BlockingIOError:
            pass
        except OSError:
            self._unsent.clear()

    def _enforce_exit(self, since: float) -> None:
        if since > EXIT_TIMEOUT + SIGTERM_TIMEOUT:
            self._process.kill()
        elif since > EXIT_TIMEOUT:
            self._process.terminate()

    def _handle(self, message: Dict[str, Any]) -> None:
        number: Any = message.get("id")
        kind = message.get("type")
        if kind not in ("update", "response"):
            self._on_other(message)
            return
        with self._lock:
            deliver = self._waiting.get(number)
            if kind == "response":
                self._waiting.pop(number, None)
        if deliver is not None:
            deliver(message, None)

    def _end(self) -> None:
        if self._stderr is not None:
            os.set_blocking(self._stderr, False)
            self._stderr_tail = (self._stderr_tail + _read(self._stderr))[-_STDERR_TAIL_BYTES:]
        try:
            code = self._process.wait(SIGTERM_TIMEOUT)
        except subprocess.TimeoutExpired:
            # The child has closed its stdout and does not exit.
            self._process.kill()
            code = self._process.wait()
        exit_text = f"was killed by signal {-code}" if code < 0 else f"ended with exit code {code}"
        stderr_tail = self._stderr_tail.decode(errors="replace").strip()
        with self._lock:
            self._lost = ShellLost(f"agent-bash {exit_text}" + (f": {stderr_tail}" if stderr_tail else ""))
            unanswered = list(self._waiting.values())
            self._waiting.clear()
            self._unsent.clear()
            self._close_files()
        for deliver in unanswered:
            deliver({}, self._lost)

    def _close_files(self) -> None:
        _open.discard(self)
        for file in (self._process.stdin, self._process.stdout, self._process.stderr):
            if file is not None:
                file.close()
        os.close(self._wake_reader)
        os.close(self._wake_writer)

    def after_fork(self) -> None:
        """Runs in a forked process: the child and the pipes belong to its parent."""
        self._forked = True
        # Another thread may have held it when the process was forked.
        self._lock = threading.RLock()
        self._close_files()
        # Otherwise `Popen` would wait for a child of another process.
        self._process.returncode = 0


def _read(number: int) -> bytes:
    try:
        return os.read(number, _CHUNK)
    except BlockingIOError:
        return b""


def _after_fork() -> None:
    for connection in list(_open):
        connection.after_fork()


os.register_at_fork(after_in_child=_after_fork)
