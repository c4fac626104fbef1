#!/usr/bin/env python3
"""Writes `_sync_requests.py`, which is `_async_requests.py` without asyncio. A test compares the two."""

import pathlib
import re

PACKAGE = pathlib.Path(__file__).parent / "src/agent_bash"
SOURCE = PACKAGE / "_async_requests.py"
RESULT = PACKAGE / "_sync_requests.py"

REPLACEMENTS = [
    (r"\basync (def|with|for)\b", r"\1"),
    (r"\bawait ", ""),
    (r"\bAsync(?=[A-Z])", ""),
    (r"\b__aenter__\b", "__enter__"),
    (r"\b__aexit__\b", "__exit__"),
    (r"Cancelling the wait", "Interrupting the wait"),
    (r"If the task is cancelled, the command is ended first; the `CancelledError`", "On Ctrl-C the command is ended first; the `KeyboardInterrupt`"),
    (r"\A\"\"\".*?\"\"\"\n", '"""The requests of a `Shell`. Made from `_async_requests.py` by `make_sync.py`; do not edit."""\n'),
]


def without_asyncio(text: str) -> str:
    for pattern, replacement in REPLACEMENTS:
        text = re.sub(pattern, replacement, text, flags=re.DOTALL)
    return text


if __name__ == "__main__":
    RESULT.write_text(without_asyncio(SOURCE.read_text(encoding="utf-8")), encoding="utf-8")
