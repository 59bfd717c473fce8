"""What ``leafscar cuts`` prints: once as JSON, once as lines to read."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from leafscar._words import counted
from leafscar.errors import BadReference
from leafscar.hindsight import Lost, LostCut, Need
from leafscar.pruning import parse_reference

__all__ = ["SessionCuts", "cuts_data", "cuts_lines"]

_SHOWN = 6
_NEEDS = 2
_TEXT = 52
_DID = 22
_AGAIN = 40
_GROUPS = (("rules", ("pin", "rule")), ("files", ("file",)), ("outputs", ("output",)), ("state", ("todo", "request")))


class SessionCuts(Struct, frozen=True, kw_only=True):
    """One session with what its cuts took."""

    path: str
    format: str
    cwd: str
    """Folder of the session; files below it are shown without it."""
    cuts: tuple[LostCut, ...]
    unknown: tuple[str, ...]
    """Sentences: what the recording cannot tell."""


def cuts_data(sessions: Sequence[SessionCuts], skipped: Sequence[str]) -> dict[str, Any]:
    """Everything that the command knows, JSON-shaped; null is unknown."""
    plain = msgspec.to_builtins(sessions)
    return {"verdict": _verdict(sessions), "sessions": plain, "skipped": list(skipped)}


def cuts_lines(sessions: Sequence[SessionCuts], skipped: Sequence[str], *, everything: bool) -> Iterator[str]:
    """The same as lines of text, bounded unless ``everything`` is asked for."""
    yield _verdict(sessions)
    for session in sessions:
        if session.cuts:
            yield from _session_lines(session, everything=everything)
    without = sum(not session.cuts for session in sessions)
    if without and len(sessions) > 1:
        yield from ("", f"no compaction in {counted(without, 'session')}")
    if skipped:
        yield from ("", "Skipped:", *(f"- {' '.join(each.split())}" for each in skipped))


# --- the verdict --------------------------------------------------------------------------------------


def _verdict(sessions: Sequence[SessionCuts]) -> str:
    cuts = [cut for session in sessions for cut in session.cuts]
    lost = [each for cut in cuts for each in cut.lost if each.kept != "raw"]
    if not sessions:
        return "no session could be read"
    if not cuts:
        return f"no compaction in {counted(len(sessions), 'session')}: nothing was lost"
    if not lost:
        return f"{counted(len(cuts), 'compaction')} took nothing that is counted here"
    took = _listed(_amounts(lost))
    return f"{counted(len(cuts), 'compaction')} took {took}; {_needed(lost)}"


def _amounts(lost: Sequence[Lost]) -> Iterator[str]:
    for noun, kinds in (("file", ("file",)), ("rule", ("pin", "rule")), ("output", ("output",))):
        number = sum(each.kind in kinds for each in lost)
        if number:
            yield counted(number, noun)
    if any(each.kind in ("todo", "request") for each in lost):
        yield "the state of the task"


def _listed(words: Iterable[str]) -> str:
    *most, last = words
    return f"{', '.join(most)} and {last}" if most else last


def _needed(lost: Sequence[Lost]) -> str:
    needed = [each for each in lost if each.needed]
    if not needed:
        return "none of it was seen to be needed again"
    tokens = _tokens_of(need for each in needed for need in each.needed)
    cost = f" (~{tokens:,} tokens)" if tokens else ""
    told = [each for each in needed if each.kept != "unknown"]
    named = sum(each.kept == "named" for each in told)
    summaries = f"the summaries named {named:,} of these" if told else "what the summaries said of these is unknown"
    return f"{len(needed):,} of them {'was' if len(needed) == 1 else 'were'} needed again{cost}, {summaries}"


def _tokens_of(needs: Iterable[Need]) -> int:
    """What came back, each answer once, as far as sizes are known."""
    return sum({need.entry_id: need.tokens or 0 for need in needs}.values())


# --- one session --------------------------------------------------------------------------------------


def _session_lines(session: SessionCuts, *, everything: bool) -> Iterator[str]:
    yield from ("", f"{session.path} ({session.format})")
    for number, cut in enumerate(session.cuts, 1):
        yield from ("", _heading(session, number, cut))
        wide = _AGAIN if any(each.needed for each in cut.lost) else 1
        for name, kinds in _GROUPS:
            lost = [each for each in cut.lost if each.kind in kinds]
            yield from _group(session, name, lost, wide, everything=everything)
        yield from (f"  unknown   {sentence}" for sentence in cut.unknown)


def _heading(session: SessionCuts, number: int, cut: LostCut) -> str:
    before = "size before unknown" if cut.tokens_before is None else f"{cut.tokens_before:,} tokens before"
    summary = "its summary is not held" if cut.summary_tokens is None else f"a summary of ~{cut.summary_tokens:,}"
    moved = f"{counted(cut.gone, 'message')} out, {cut.kept:,} kept"
    return f"cut {number} of {len(session.cuts)} at {cut.reference}: {moved}; {before}, {summary}"


def _group(session: SessionCuts, name: str, lost: Sequence[Lost], wide: int, *, everything: bool) -> Iterator[str]:
    if not lost:
        return
    yield f"  {name:<9} {_totals(lost)}"
    weighty = lost if everything else sorted(lost, key=lambda each: not each.needed)[:_SHOWN]
    for each in weighty:
        yield f"    {_row(session, each, wide)}"
    if len(lost) > len(weighty):
        yield f"    and {len(lost) - len(weighty):,} more (--all lists them)"


def _totals(lost: Sequence[Lost]) -> str:
    kinds = ("raw", "named", "missing", "unknown")
    words = {"raw": "still there", "named": "in the summary", "missing": "not in it", "unknown": "not known"}
    kept = [f"{number:,} {words[kind]}" for kind in kinds if (number := sum(each.kept == kind for each in lost))]
    needed = sum(bool(each.needed) for each in lost)
    return f"{len(lost):,}: {', '.join(kept)}; {needed:,} needed again"


def _row(session: SessionCuts, lost: Lost, wide: int) -> str:
    """One thing in columns; ``wide``: characters for what came back."""
    size = f"{lost.tokens:,}" if lost.tokens is not None else "-"
    text = _text(session, lost)
    again = _again(lost.needed)
    back = _back(session, lost)
    return f"{text:<{_TEXT}} {_cut(lost.did, _DID):<{_DID}} {size:>8}  {lost.kept:<8} {again:<{wide}} {back}"


def _back(session: SessionCuts, lost: Lost) -> str:
    """Command that gives it back."""
    try:
        parse_reference(lost.reference)
    except BadReference:
        return "its id is no reference"  # a foreign recording may call its entries anything
    page = " --page 1" if lost.paged else ""
    return f"leafscar recall {shlex.quote(session.path)} {shlex.quote(lost.reference)}{page}"


def _text(session: SessionCuts, lost: Lost) -> str:
    line = " ".join(lost.text.split())
    if lost.kind != "file":
        return _cut(line, _TEXT)
    line = line.removeprefix(f"{session.cwd.rstrip('/')}/") if session.cwd else line
    return line if len(line) <= _TEXT else f"...{line[3 - _TEXT :]}"


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[: length - 3].rstrip()}..."


def _again(needs: Sequence[Need]) -> str:
    if not needs:
        return "-"
    shown = [f"{need.kind} {_short(need.reference)}{_size(need)}" for need in needs[:_NEEDS]]
    more = f" +{len(needs) - _NEEDS}" if len(needs) > _NEEDS else ""
    return f"{', '.join(shown)}{more}"


def _short(reference: str) -> str:
    return _cut(reference, 12)


def _size(need: Need) -> str:
    return "" if need.tokens is None else f" ({need.tokens:,})"
