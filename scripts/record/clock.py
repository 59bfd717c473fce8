"""The virtual clock that the provider, the driver and (through clock.cjs) the CLI share."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


class Clock:
    """Milliseconds since 1970, moved by hand and mirrored to a file."""

    def __init__(self, path: Path, start_ms: int) -> None:
        self.path = path
        self.ms = start_ms
        self._write()

    def advance(self, seconds: float) -> None:
        """Move time forward."""
        self.ms += round(seconds * 1000)
        self._write()

    def _write(self) -> None:
        fresh = self.path.with_suffix(".new")
        fresh.write_text(str(self.ms), encoding="ascii")
        fresh.replace(self.path)
