"""Live output for a slow consumer: unread output is merged into one delta of bounded length."""

from __future__ import annotations

from typing import Any, Mapping, Optional

from ._result import Delta

#: The maximum of unread output, in bytes. More is skipped, from the front, and counted.
MAX_PENDING_BYTES = 256 * 1024


class PendingDelta:
    """The unread deltas, merged into one."""

    __slots__ = ("_rewind", "_skipped", "_text", "_total", "_waiting")

    def __init__(self) -> None:
        self._text = bytearray()
        self._rewind = 0
        self._skipped = 0
        self._total = 0
        self._waiting = False

    def add(self, update: Mapping[str, Any]) -> None:
        rewind = update["rewind"]
        unread_rewind = min(rewind, len(self._text))
        if unread_rewind:
            del self._text[-unread_rewind:]
        if not self._skipped:
            # The rest of a rewind concerns text that was read; skipped text cannot be rewound.
            self._rewind += rewind - unread_rewind
        self._skipped += update["skipped_bytes"]
        self._text += update["delta"].encode()
        self._total = update["total_bytes"]
        self._waiting = True
        excess = len(self._text) - MAX_PENDING_BYTES
        if excess > 0:
            # Not in the middle of a character.
            while excess < len(self._text) and self._text[excess] & 0xC0 == 0x80:
                excess += 1
            self._skipped += excess
            del self._text[:excess]

    def take(self) -> Optional[Delta]:
        """The merged delta, if there is any."""
        if not self._waiting:
            return None
        delta = Delta(self._text.decode(errors="replace"), self._rewind, self._skipped, self._total)
        self._text = bytearray()
        self._rewind = self._skipped = 0
        self._waiting = False
        return delta
