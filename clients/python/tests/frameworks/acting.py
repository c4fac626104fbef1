"""Actions that the tests of frameworks perform while a command runs."""

from __future__ import annotations

import os
import signal
import threading
from typing import Any, Callable

from ..conftest import World


def later(world: World, what: Callable[[], Any]) -> threading.Thread:
    """Performs the action as soon as the command under test reports that it runs."""

    def wait() -> None:
        world.wait_for((world.work / "begun").exists)
        what()

    thread = threading.Thread(target=wait)
    thread.start()
    return thread


def kill(pid: int) -> Callable[[], None]:
    return lambda: os.kill(pid, signal.SIGKILL)
