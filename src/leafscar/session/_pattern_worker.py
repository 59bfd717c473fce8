"""The process that runs a stranger's regular expression; whoever started it ends it when time is up (ADR 0060).

It runs as a file, on its own, and must not import from leafscar. One JSON object comes in on standard input, one goes
out on standard output.
"""

from __future__ import annotations

import json
import re
import sys
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["answer", "main"]


def answer(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Search every text; ``error`` instead when the pattern is none.

    ``found`` has one item for each text that matches: its index, how many of its lines a match begins on, and start
    and end of the first match on each of the first ``most`` of them.
    """
    flags = re.MULTILINE | (re.IGNORECASE if asked["ignoreCase"] else 0)
    try:
        pattern = re.compile(asked["pattern"], flags)
    except (re.error, OverflowError, RecursionError, MemoryError) as fault:
        return {"error": str(fault) or type(fault).__name__}
    found = ((index, *_matches(pattern, text, asked["most"])) for index, text in enumerate(asked["texts"]))
    return {"found": [item for item in found if item[1]]}


def _matches(pattern: re.Pattern[str], text: str, most: int) -> tuple[int, Sequence[tuple[int, int]]]:
    lines, spans, line_end = 0, list[tuple[int, int]](), -1
    for match in pattern.finditer(text):
        if match.start() <= line_end or match.start() == match.end():
            continue
        lines += 1
        if lines <= most:
            spans.append(match.span())
        newline = text.find("\n", match.start())
        line_end = newline if newline >= 0 else len(text)
    return lines, spans


def main() -> None:
    """Answer what standard input asks."""
    warnings.simplefilter("ignore")  # of a pattern that Python will read otherwise some day
    asked = json.load(sys.stdin)
    _bound_memory(asked["room"])
    json.dump(answer(asked), sys.stdout)


def _bound_memory(room: int) -> None:
    """Let a pattern that remembers every letter fail after so many bytes more, and nothing else on the machine."""
    if sys.platform != "linux":  # others do not hold a process to it
        return
    import resource  # noqa: PLC0415 - not there on every system

    wanted = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 + room
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (wanted if most < 0 else min(wanted, most), most))


if __name__ == "__main__":
    main()
