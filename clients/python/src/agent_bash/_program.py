"""Finds the program and builds its command line."""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig
from typing import List, Optional, Sequence

from ._errors import ShellError

#: Names a program to use instead of the packaged one.
VARIABLE = "AGENT_BASH_PROGRAM"


def find() -> str:
    """The packaged program; without one (a checkout), the program on the `PATH`."""
    named = os.environ.get(VARIABLE)
    if named:
        return named
    package_folder = os.path.dirname(os.path.abspath(__file__))
    folders = [
        sysconfig.get_path("scripts"),
        os.path.join(sys.prefix, "bin"),
        # `pip install --target` puts the program next to the package, `--user` and `--prefix` above the libraries.
        os.path.join(os.path.dirname(package_folder), "bin"),
        os.path.normpath(os.path.join(package_folder, "..", "..", "..", "..", "bin")),
    ]
    for folder in folders:
        program = os.path.join(folder, "agent-bash")
        if os.access(program, os.X_OK):
            return program
    on_path = shutil.which("agent-bash")
    if on_path:
        return on_path
    raise ShellError(
        f"the program agent-bash is neither in {', '.join(dict.fromkeys(folders))} nor on the PATH; install the wheel "
        f"of this package for your platform, or name the program in {VARIABLE}"
    )


def command(
    program: Optional[str],
    on: Optional[str],
    profile: Optional[str],
    state: Optional[str],
    tools: Optional[Sequence[str]],
    options: Sequence[str],
) -> List[str]:
    """The command line of a server."""
    words = [program or find(), "rpc"]
    for name, value in (("--on", on), ("--profile", profile), ("--state", state)):
        if value is not None:
            words += [name, value]
    if tools is not None:
        words += ["--tools", ",".join(tools)]
    return [*words, *options]
