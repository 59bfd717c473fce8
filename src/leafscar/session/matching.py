"""Where a text or a regular expression matches; a pattern runs in a process that can be ended (ADR 0060)."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from leafscar.errors import BadSearch
from leafscar.session import _pattern_worker

__all__ = ["MAX_PATTERN", "Match", "Query"]

MAX_PATTERN = 1000
"""Characters of a text or pattern that is searched for."""

_LINES_SHOWN = 3
_ROOM = 1024 * 1024 * 1024  # bytes that a pattern may take up beside the texts
_SHOWN = 60


class Match(Struct, frozen=True, array_like=True):
    """What was found in one text."""

    text: int
    """Index of the text."""
    lines: int
    """Number of lines on which a match begins."""
    spans: list[tuple[int, int]]
    """Start and end, in characters, of the first match on each of the first three of these lines."""


class _Answer(Struct, frozen=True):
    found: list[Match] = []
    error: str | None = None


class Query(Struct, frozen=True, kw_only=True):
    """What is searched for."""

    text: str
    regex: bool = False
    """Whether ``text`` is a regular expression as Python reads them, ``^`` and ``$`` at every line."""
    ignore_case: bool = True

    def check(self) -> None:
        """Raise :class:`BadSearch` when it cannot be searched for; what a pattern means is only seen when it runs."""
        if not self.text:
            raise BadSearch("search: nothing is asked for; give a text", kind="empty")
        if len(self.text) > MAX_PATTERN:
            raise BadSearch(
                f"search: the text has {len(self.text):,} characters; give at most {MAX_PATTERN:,}", kind="too-long"
            )

    def matches(self, texts: Sequence[str], *, seconds: float) -> list[Match]:
        """Search texts. Raises :class:`BadSearch` for a pattern that is none or takes longer than ``seconds``."""
        asked = {
            "pattern": self.text if self.regex else re.escape(self.text),
            "ignoreCase": self.ignore_case,
            "most": _LINES_SHOWN,
            "texts": texts,
            "room": _ROOM,
        }
        answer = self._in_a_process(asked, seconds) if self.regex else _pattern_worker.answer(asked)
        found = msgspec.convert(answer, _Answer)
        if found.error is not None:
            raise BadSearch(f"search: no regular expression: {found.error}: {self._shown}", kind="bad-pattern")
        return found.found

    def _in_a_process(self, asked: Mapping[str, object], seconds: float) -> object:
        command = [sys.executable, "-I", "-S", str(Path(_pattern_worker.__file__))]
        try:
            done = subprocess.run(  # noqa: S603 - our own file, and no shell
                command, input=json.dumps(asked).encode(), capture_output=True, timeout=max(seconds, 0.0), check=True
            )
            return json.loads(done.stdout)
        except subprocess.TimeoutExpired as fault:
            words = f"search: the pattern {self._shown} takes too long; make it simpler, or search without a pattern"
            raise BadSearch(words, kind="too-slow") from fault
        except (subprocess.CalledProcessError, OSError) as fault:  # for want of memory, or of processes
            words = f"search: the pattern {self._shown} could not be run; make it simpler"
            raise BadSearch(words, kind="too-slow") from fault

    @property
    def _shown(self) -> str:
        return repr(self.text if len(self.text) <= _SHOWN else f"{self.text[:_SHOWN]}...")
