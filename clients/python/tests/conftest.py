"""An isolated world for every test, with a check for leftovers."""

from __future__ import annotations

import os
import tempfile
import time
import uuid
from pathlib import Path
from typing import Any, Dict, Iterator, List, Optional, TypeVar

import pytest

MARK = "AGENT_BASH_CLIENT_TEST"


T = TypeVar("T")


def present(value: Optional[T]) -> T:
    """Returns a field of an answer that must be there."""
    assert value is not None
    return value


class World:
    """A home, a state directory and a mark that every process of the test inherits."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.work = root / "work"
        self.work.mkdir()
        self.mark = uuid.uuid4().hex
        self.env: Dict[str, str] = {
            "HOME": str(root),
            "LANG": "C.UTF-8",
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "TMPDIR": str(root),
            "XDG_STATE_HOME": str(root / "state"),
            "XDG_RUNTIME_DIR": str(root),
            MARK: self.mark,
        }

    @property
    def options(self) -> Dict[str, Any]:
        """For a shell's constructor."""
        return {"cwd": str(self.work), "env": self.env}

    def processes(self) -> List[str]:
        """The living processes with the mark."""
        wanted = f"{MARK}={self.mark}".encode()
        found = []
        for entry in os.listdir("/proc"):
            if not entry.isdigit():
                continue
            try:
                environment = Path("/proc", entry, "environ").read_bytes()
                command = Path("/proc", entry, "cmdline").read_bytes()
            except OSError:
                continue
            if wanted in environment.split(b"\0"):
                found.append(f"{entry} {command.replace(bytes(1), b' ').decode(errors='replace')}")
        return found

    def wait_for(self, condition: Any, seconds: float = 20.0) -> None:
        until = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < until, f"still not so after {seconds} s; alive: {self.processes()}"
            time.sleep(0.02)


@pytest.fixture
def world() -> Iterator[World]:
    with tempfile.TemporaryDirectory(prefix="agent-bash-client-") as root:
        world = World(Path(root))
        yield world
        until = time.monotonic() + 20
        while world.processes() and time.monotonic() < until:
            time.sleep(0.05)
        assert world.processes() == [], "the test left processes behind"
