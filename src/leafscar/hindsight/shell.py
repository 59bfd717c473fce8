"""Shell commands that do nothing but show files: ``cat``, ``head``, ``sed -n 1,80p`` and their like."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence

from leafscar.hindsight.paths import located

__all__ = ["shown_files"]

_LONGEST = 4_000
"""Characters; a longer command is more than a look at a file."""
_JOINS = ("&&", ";", "||")
_RANGE = re.compile(r"([0-9]{1,9})(?:,([0-9]{1,9}|\$))?p")
_COUNT = re.compile(r"-n?([0-9]{1,9})")
_PATTERN = frozenset("*?[$`")
_SILENT = frozenset({"cd", "echo", "pwd", "true", "printf"})
_SHOW_ALL = frozenset({"cat", "bat", "nl", "type", "get-content"})
_OPERATORS = frozenset("|&;()<>")

_Shown = tuple[str, float, float | None]


def shown_files(command: str, folder: str = "") -> tuple[_Shown, ...]:
    """Give the files and lines that ``command`` shows; nothing when it does anything else as well."""
    steps = _steps(command)
    found: list[_Shown] = []
    for words in steps:
        if words[0] == "cd":
            folder = located(words[1], folder) if len(words) > 1 else folder
        elif words[0] not in _SILENT:
            shown = _shown(words)
            if not shown:
                return ()
            found.extend((located(path, folder), first, last) for path, first, last in shown)
    return tuple(found)


def _steps(command: str) -> list[list[str]]:
    """Commands that run one after the other, each with its pipe; nothing when it is no plain list of them."""
    if len(command) > _LONGEST:
        return []
    lexer = shlex.shlex(command.replace("\n", " ; "), posix=True, punctuation_chars=True)
    lexer.whitespace_split, lexer.commenters = True, ""
    lexer.escape = "" if re.search(r"[A-Za-z]:\\", command) else "\\"
    try:
        words = list(lexer)
    except ValueError:  # a quotation without its end
        return []
    steps: list[list[str]] = [[]]
    for word in words:
        if word in _JOINS:
            steps.append([])
        else:
            steps[-1].append(word)
    return [step for step in steps if step]


def _shown(words: Sequence[str]) -> list[_Shown]:
    """Files that one command, or one pipe, shows."""
    words = _without_errors(words)
    if "|" in words:
        at = words.index("|")
        files, (first, last, more) = _shown(words[:at]), _lines(words[at + 1 :])
        return [(path, first, last) for path, _, _ in files] if first and not more else []
    if any(set(word) <= _OPERATORS for word in words):
        return []
    if words[:1] and words[0].lower() in _SHOW_ALL:
        first, last, files = 1, None, [word for word in words[1:] if not word.startswith("-")]
    else:
        first, last, files = _lines(words)
    return [(path, first, last) for path in files] if first and _PATTERN.isdisjoint("".join(files)) else []


def _without_errors(words: Sequence[str]) -> Sequence[str]:
    """Leave out ``2>/dev/null``, which shows nothing."""
    return words[:-3] if list(words[-3:]) == ["2", ">", "/dev/null"] else words


def _lines(words: Sequence[str]) -> tuple[int, float | None, Sequence[str]]:
    """First line, last line and files of ``head`` or ``sed -n``; 0 for any other command."""
    match words:
        case ["sed", "-n", script, *files] if (found := _RANGE.fullmatch(script)) is not None:
            first = max(1, int(found[1]))
            return first, None if found[2] == "$" else max(first, int(found[2] or first)), files
        case ["head", "-n", number, *files] if number.isdecimal():
            return 1, max(1, int(number[:9])), files
        case ["head", option, *files] if (found := _COUNT.fullmatch(option)) is not None:
            return 1, max(1, int(found[1])), files
        case ["head", *files] if not any(word.startswith("-") for word in files):
            return 1, 10, files
        case _:
            return 0, None, ()
