"""What a summary says of things: by their words alone."""

from __future__ import annotations

import re
from collections.abc import Iterable

from leafscar.hindsight.lost import Kept
from leafscar.hindsight.rules import Words, is_said, significant
from leafscar.hindsight.shown import bare_lines, telling_lines

__all__ = ["Summary"]

_PATHLIKE = re.compile(r"[^\s`'\"()<>\[\]{},;|=]+")
_SHORTEST_COMMAND = 6
_FEWEST_WORDS = 3


class Summary:
    """The text that took the place of what went out; without a text nothing is known of it."""

    def __init__(self, text: str) -> None:
        self._text = " ".join(text.split())
        self._known = bool(self._text)
        self._words = significant(text)
        self._lines = telling_lines(text)
        self._names = frozenset(_names(text))

    def kept_words(self, words: Words) -> Kept:
        """Whether most of ``words`` stand in it; of fewer than three words nothing can be told."""
        return self._kept(is_said(words, self._words)) if len(words) >= _FEWEST_WORDS else "unknown"

    def kept_file(self, path: str) -> Kept:
        """Whether it names the file, by its path or by its last part."""
        return self._kept(path.rpartition("/")[2].lower() in self._names)

    def kept_output(self, command: str, text: str) -> Kept:
        """Whether it holds the command, or a whole line of the output."""
        named = len(command) >= _SHORTEST_COMMAND and command in self._text
        return self._kept(named or not self._lines.isdisjoint(bare_lines(text)))

    def _kept(self, named: bool) -> Kept:  # noqa: FBT001
        if not self._known:
            return "unknown"
        return "named" if named else "missing"


def _names(text: str) -> Iterable[str]:
    """Last parts of everything that may be a path, without a line number or a full stop behind it."""
    for word in _PATHLIKE.findall(text):
        name = re.split(r"[/\\]", word.rstrip("/\\"))[-1].lower()
        yield name.rstrip(".:!?*_")
        yield name.partition(":")[0]
