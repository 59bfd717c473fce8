"""Every error that leafscar raises on purpose.

    LeafscarError
    ├── SessionError            a session file cannot be used
    │   ├── SessionRefused      it cannot be read at all (binary, empty, wrong version, a giant line)
    │   ├── SessionBusy         another process holds it
    │   └── AppendFailed        an entry could not be written; what was there before is as it was
    ├── BadReference            a recall reference names nothing that can be recalled
    ├── BadSearch               a search cannot be run as it was asked for
    ├── SettingsError           a settings pair or file is not valid; nothing was written
    ├── PolicyError             a policy name or fraction is not known
    ├── WindowUnknown           no source states the context window
    ├── ContextOverflow         the next request is known not to fit; nothing was sent
    ├── SummaryFailed           the summariser gave nothing usable
    └── BrokenPair              a rebuilt list would hold a call or a result without its partner

The message is one line: what, where, and what to do next. Data stand in the fields, so nothing parses text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

__all__ = [
    "AppendFailed",
    "BadReference",
    "BadSearch",
    "BrokenPair",
    "ContextOverflow",
    "LeafscarError",
    "PolicyError",
    "SessionBusy",
    "SessionError",
    "SessionRefused",
    "SettingsError",
    "SummaryFailed",
    "WindowUnknown",
]


class LeafscarError(Exception):
    """Base of the tree; ``exit_code`` is what the command line ends with (docs/cli.md)."""

    exit_code = 1


class SessionError(LeafscarError):
    """A session file cannot be used: ``path``, ``line`` (1-based physical line or None), ``reason``, ``hint``."""

    def __init__(self, path: Path | str, reason: str, *, line: int | None = None, hint: str = "") -> None:
        self.path = str(path)
        self.reason = reason
        self.line = line
        self.hint = hint
        where = self.path if line is None else f"{self.path} line {line}"
        super().__init__(f"{where}: {reason}" + (f"; {hint}" if hint else ""))


class SessionRefused(SessionError):
    """The file cannot be read as a session at all."""


class SessionBusy(SessionError):
    """Another process holds the file; ``holders`` are its process ids, when known."""

    def __init__(self, path: Path | str, reason: str, *, holders: tuple[int, ...] = (), hint: str = "") -> None:
        self.holders = holders
        super().__init__(path, reason, hint=hint)


class AppendFailed(SessionError):
    """An entry could not be written; at most a broken line of it is left, which readers skip."""


class BadReference(LeafscarError):
    """A recall reference names nothing that can be recalled: ``reference`` as given, ``kind`` of the fault.

    Kinds: ``empty``, ``bare-suffix``, ``bad-line``, ``bad-reference``, ``not-found``, ``not-a-result``; of a part:
    ``no-page``, ``no-lines``, ``no-words``, ``two-parts``.
    """

    def __init__(self, message: str, *, reference: str, kind: str) -> None:
        self.reference = reference
        self.kind = kind
        super().__init__(message)


class BadSearch(LeafscarError):
    """A search cannot be run as it was asked for; ``kind`` of the fault.

    Kinds: ``empty``, ``too-long``, ``bad-pattern``, ``too-slow``, ``bad-cursor``.
    """

    def __init__(self, message: str, *, kind: str) -> None:
        self.kind = kind
        super().__init__(message)


class SettingsError(LeafscarError):
    """A settings pair or file is not valid; nothing was written. ``problems`` has one line for each fault."""

    def __init__(self, *problems: str) -> None:
        self.problems = problems
        super().__init__("; ".join(problems))


class PolicyError(LeafscarError):
    """A policy name or its fraction is not known: ``name`` as given."""

    def __init__(self, message: str, *, name: str) -> None:
        self.name = name
        super().__init__(message)


class WindowUnknown(LeafscarError):
    """No source states the context window of ``model``."""

    def __init__(self, message: str, *, model: str | None) -> None:
        self.model = model
        super().__init__(message)


class ContextOverflow(LeafscarError):
    """The next request is known not to fit: ``estimate`` + ``requested`` > ``window`` (all tokens)."""

    def __init__(self, *, estimate: int, requested: int, window: int) -> None:
        self.estimate = estimate
        self.requested = requested
        self.window = window
        super().__init__(
            f"the next request needs about {estimate:,} tokens and asks for {requested:,} more, "
            f"the window holds {window:,}; nothing was sent: shorten the newest message or raise the window"
        )


class SummaryFailed(LeafscarError):
    """The summariser gave nothing usable: ``code`` (aborted | failed | truncated | empty | tool-call), ``words``."""

    def __init__(self, words: str, *, code: str) -> None:
        self.code = code
        self.words = words
        super().__init__(words)


class BrokenPair(LeafscarError):
    """A rebuilt list would hold a call or a result without its partner: ``call_ids``."""

    def __init__(self, call_ids: tuple[str, ...]) -> None:
        self.call_ids = call_ids
        super().__init__(f"tool pairs would break for {', '.join(call_ids)}; the request was not built")
