"""One line that says what a long command is at, on a terminal only."""

from __future__ import annotations

from collections.abc import Callable
from typing import TextIO

from leafscar._plain import escaped

__all__ = ["Progress"]

_PATIENCE = 2.0
"""Seconds that pass before anything is shown."""
_BACK = "\r\x1b[K"


class Progress:
    """Rewrites one line of ``stream`` from the second second on; silent where that is no terminal.

    ``clock`` gives seconds, ``width`` the columns of the terminal.
    """

    def __init__(self, stream: TextIO, *, clock: Callable[[], float], width: int) -> None:
        self._stream = stream
        self._clock = clock
        self._width = width
        self._started = clock()
        self._shown = False

    def tell(self, words: str) -> None:
        """Show what is done now, in the place of what was shown before."""
        if self._stream.isatty() and self._clock() - self._started >= _PATIENCE:
            self._write(_BACK + escaped(words)[: self._width - 1])
            self._shown = True

    def end(self) -> None:
        """Leave the line as it was found."""
        if self._shown:
            self._write(_BACK)
            self._shown = False

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()
