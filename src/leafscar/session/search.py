"""Searching sessions for what was said and put out, also where the context no longer holds it (docs/sessions.md)."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

from msgspec import Struct

from leafscar.errors import BadSearch, SessionError
from leafscar.model import Entry
from leafscar.model.jsjson import utf16_length
from leafscar.pruning.sizes import whole_prefix
from leafscar.session.matching import Match, Query
from leafscar.session.session import Session, load
from leafscar.session.texts import Kind, Piece, pieces_of

__all__ = ["EXCERPT", "Found", "Hit", "HitLine", "Limits", "Place", "places_of", "search"]

EXCERPT = 300
"""UTF-16 units of a line that a hit shows at most, around the match."""

Place: TypeAlias = Literal["context", "cut", "branch"]
"""Where an entry stands: in the context of the next request, before the newest cut, or on a branch that was left."""

_CURSOR = re.compile(r"([0-9]{1,12})\.([0-9]{1,12})@(.*)", re.DOTALL)
_NEWEST = 10**12 - 1
_DOTS = "..."


class HitLine(Struct, frozen=True, kw_only=True):
    """One line that matches."""

    number: int | None
    """1-based line of the entry's text, as ``recall`` counts them; None where a recall does not give the text."""
    text: str
    """The line, or :data:`EXCERPT` UTF-16 units of it around the match with dots where it goes on."""


class Hit(Struct, frozen=True, kw_only=True):
    """One text of an entry that matches."""

    session: str
    """File of the session, as it was given; empty in memory."""
    reference: str
    """What ``recall`` takes."""
    kind: Kind
    tool: str
    """Name of the tool, for calls and results."""
    place: Place
    at: float | None
    """When the entry was written, in milliseconds since 1970; None when it does not say."""
    lines: tuple[HitLine, ...]
    """The first three lines that match."""
    matches: int
    """How many lines match."""


class Found(Struct, frozen=True, kw_only=True):
    """What a search found, newest session and newest entry first."""

    hits: tuple[Hit, ...]
    searched: int
    """Sessions that were looked through to the end or up to the last hit."""
    skipped: tuple[str, ...]
    """Sentences: sessions that could not be read, and why."""
    stopped: Literal["limit", "time"] | None
    """Why there may be more; None when everything was searched."""
    after: str | None
    """Cursor for the rest; None when there is none."""


class Limits(Struct, frozen=True, kw_only=True):
    """How far a search goes."""

    hits: int = 50
    seconds: float = 60.0
    """For everything together; a regular expression that takes longer is given up."""
    file_bytes: int = 512 * 1024 * 1024
    """Larger files are skipped, and said."""


_LIMITS = Limits()


def search(
    where: Session | Iterable[Session | Path],
    text: str,
    *,
    regex: bool = False,
    ignore_case: bool = True,
    lost_only: bool = False,
    limits: Limits = _LIMITS,
    after: str | None = None,
    passed_over: Callable[[Piece], bool] | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> Found:
    """Search one session, or several in the order given, of which only one is held at a time.

    ``lost_only`` leaves out what the context of the session still holds, ``after`` goes on where an earlier search
    stopped, ``passed_over`` names texts that are not looked at. Raises :class:`BadSearch`.
    """
    query = Query(text=text, regex=regex, ignore_case=ignore_case)
    query.check()
    run = _Run(query, limits, clock, lost_only=lost_only, passed_over=passed_over)
    sessions, start = _from_cursor([where] if isinstance(where, Session) else list(where), after)
    for each in sessions:
        if run.stopped is None:
            run.take(each, start)
        start = None
    return run.found()


class _Start(NamedTuple):
    """The text that a search goes on with: position of its entry in the file, number among the entry's texts."""

    entry: int
    piece: int


class _Text(NamedTuple):
    """One text to search."""

    start: _Start
    entry: Entry
    piece: Piece
    place: Place


class _Run:
    """One search under way."""

    def __init__(
        self,
        query: Query,
        limits: Limits,
        clock: Callable[[], float],
        *,
        lost_only: bool,
        passed_over: Callable[[Piece], bool] | None,
    ) -> None:
        self.stopped: Literal["limit", "time"] | None = None
        self._query = query
        self._limits = limits
        self._clock = clock
        self._end = clock() + limits.seconds
        self._lost_only = lost_only
        self._passed_over = passed_over
        self._hits: list[Hit] = []
        self._skipped: list[str] = []
        self._searched = 0
        self._after: str | None = None

    def found(self) -> Found:
        return Found(
            hits=tuple(self._hits),
            searched=self._searched,
            skipped=tuple(self._skipped),
            stopped=self.stopped,
            after=self._after,
        )

    def take(self, where: Session | Path, start: _Start | None) -> None:
        """Search one session, from a text on or from its newest one."""
        left = self._end - self._clock()
        if left <= 0:
            self._stop("time", start, where)
            return
        try:
            session = where if isinstance(where, Session) else _opened(where, self._limits)
            texts = self._texts(session, start)
        except SessionError as fault:
            self._skipped.append(str(fault))
            return
        try:
            matches = self._query.matches([each.piece.text for each in texts], seconds=left)
        except BadSearch as fault:
            if fault.kind != "too-slow" or not self._searched:
                raise
            self._stop("time", start, where)  # the sessions before it were no trouble: it may only be late
            return
        self._searched += 1
        self._keep(session, texts, matches)

    def _texts(self, session: Session, start: _Start | None) -> list[_Text]:
        entries = session.entries
        place_of = places_of(session)
        newest = len(entries) if start is None else start.entry + 1
        return [
            _Text(start=_Start(position, number), entry=entry, piece=piece, place=place)
            for position, entry in reversed(list(enumerate(entries[:newest])))
            if (place := place_of(entry)) != "context" or not self._lost_only
            for number, piece in enumerate(pieces_of(entry))
            if start is None or position < start.entry or number >= start.piece
            if self._passed_over is None or not self._passed_over(piece)
        ]

    def _keep(self, session: Session, texts: Sequence[_Text], matches: Iterable[Match]) -> None:
        for match in matches:
            text = texts[match.text]
            if len(self._hits) >= self._limits.hits:
                self._stop("limit", text.start, session)
                return
            self._hits.append(_hit(session, text, match))

    def _stop(self, why: Literal["limit", "time"], start: _Start | None, where: Session | Path) -> None:
        self.stopped = why
        # the position of no entry stands for the newest one, also when more were written since
        at = start or _Start(_NEWEST, 0)
        self._after = f"{at.entry}.{at.piece}@{_name(where)}"


def _opened(path: Path, limits: Limits) -> Session:
    try:
        size = path.stat().st_size
    except (OSError, ValueError):
        size = 0  # opening it says what is wrong
    if size > limits.file_bytes:
        words = f"larger than {limits.file_bytes // 1024**2} MiB, not searched"
        raise SessionError(path, words, hint="search it alone")
    return load(path)


def _name(where: Session | Path) -> str:
    path = where.path if isinstance(where, Session) else where
    return "" if path is None else str(path)


def _from_cursor(
    sessions: Sequence[Session | Path], cursor: str | None
) -> tuple[Sequence[Session | Path], _Start | None]:
    """Sessions that are left, and the text of the first of them with which to go on; None: its newest one."""
    if cursor is None:
        return sessions, None
    read = _CURSOR.fullmatch(cursor)
    at = None if read is None else next((n for n, each in enumerate(sessions) if _name(each) == read[3]), None)
    if read is None or at is None:
        raise BadSearch("search: the cursor names none of these sessions; search again without it", kind="bad-cursor")
    return sessions[at:], _Start(int(read[1]), int(read[2]))


def places_of(session: Session) -> Callable[[Entry], Place]:
    """Give what says where an entry of a session stands. The whole session must have been read."""
    context = {id(entry) for entry in session.context().entries}
    path = {id(entry) for entry in session.branch()}

    def place(entry: Entry) -> Place:
        if id(entry) in context:
            return "context"
        return "cut" if id(entry) in path else "branch"

    return place


def _hit(session: Session, text: _Text, match: Match) -> Hit:
    return Hit(
        session=_name(session),
        reference=session.reference_for(text.entry),
        kind=text.piece.kind,
        tool=text.piece.tool,
        place=text.place,
        at=text.entry.timestamp_ms,
        lines=tuple(_lines(text.piece, match)),
        matches=match.lines,
    )


def _lines(piece: Piece, match: Match) -> Iterator[HitLine]:
    number, counted = piece.first_line, 0
    for start, end in match.spans:
        if number is not None:
            number += piece.text.count("\n", counted, start)
            counted = start
        yield HitLine(number=number, text=_excerpt(piece.text, start, end))


def _excerpt(text: str, start: int, end: int) -> str:
    """The line of a match, shortened at both ends where it is too long."""
    first = text.rfind("\n", 0, start) + 1
    newline = text.find("\n", start)
    last = newline if newline >= 0 else len(text)
    line, at, to = text[first:last], start - first, min(end, last) - first
    if utf16_length(line) <= EXCERPT:
        return line
    room = max(0, EXCERPT - (to - at)) // 2
    begin = max(0, min(at - room, len(line) - EXCERPT))
    shown = whole_prefix(line[begin:], EXCERPT)
    return (_DOTS if begin else "") + shown + (_DOTS if begin + len(shown) < len(line) else "")
