"""What each recorded cut took out of the context, and what of it came back (docs/cuts.md)."""

from __future__ import annotations

import json
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Literal

from leafscar.estimate import estimate_text
from leafscar.hindsight.files import needs_of
from leafscar.hindsight.lost import Kept, Lost, LostCut, Need
from leafscar.hindsight.rules import Words, significant
from leafscar.hindsight.spans import Span, spans_of
from leafscar.hindsight.story import Story
from leafscar.hindsight.summary import Summary
from leafscar.hindsight.tasks import is_task_list, open_tasks
from leafscar.hindsight.walk import Done
from leafscar.model import BashExecution, Entry, EntryLike, ToolResult, User, as_entry
from leafscar.model.messages import text_of
from leafscar.model.shapes import as_number, as_text
from leafscar.pruning.tools import ALL, ToolTable, command_of, tool_of

__all__ = ["losses"]

_LINE = 200
"""Characters of a line of context."""
_ARGUMENTS = 2_000
"""Characters of arguments that are looked at for such a line."""


def losses(
    path: Sequence[EntryLike],
    *,
    tools: ToolTable = ALL,
    cwd: str = "",
    reference_for: Callable[[Entry], str] = lambda entry: entry.id,
) -> tuple[LostCut, ...]:
    """Say for each cut on ``path``, oldest first, what went out of the context and what of it came back.

    ``tools`` and ``cwd`` as for :func:`later_uses`; ``reference_for`` gives the recall reference of an entry.
    """
    entries = [as_entry(entry) for entry in path]
    spans = list(spans_of(entries))
    if not spans:
        return ()
    story = Story(entries, tools=tools, cwd=cwd, reference_for=reference_for)
    return tuple(_lost_cut(story, span) for span in spans)


def _lost_cut(story: Story, span: Span) -> LostCut:
    cut = story.entries[span.position]
    text = as_text(cut.get("summary")) or ""
    before = as_number(cut.get("tokensBefore"))
    summary = Summary(text)
    files, outputs = list(_files(story, span, summary)), list(_outputs(story, span, summary))
    lost = [*_rules(story, span, summary), *_largest(files), *_largest(outputs), *_state(story, span, summary)]
    return LostCut(
        position=span.position,
        entry_id=cut.id,
        reference=story.reference_for(cut),
        tokens_before=round(before) if before is not None and 0 <= before < float("inf") else None,
        summary_tokens=round(estimate_text(text)) if text.strip() else None,
        gone=len(span.gone),
        kept=len(span.kept),
        lost=tuple(lost),
        unknown=tuple(_unknown(story, span, text)),
    )


def _unknown(story: Story, span: Span, summary: str) -> Iterator[str]:
    if not summary.strip():
        yield "The recording does not hold the summary, so what it kept is unknown."
    cleared = sum(not story.is_held(position) for position in span.gone)
    if cleared:
        yield f"{cleared} of the outputs that went out had been thrown away by the host; their text is not in the file."


def _largest(lost: Iterable[Lost]) -> list[Lost]:
    return sorted(lost, key=lambda each: -(each.tokens or 0))


def _line(text: str) -> str:
    line = " ".join(text[: 4 * _LINE].split())
    return line if len(line) <= _LINE else f"{line[:_LINE].rstrip()}…"


# --- instructions -------------------------------------------------------------------------------------


def _rules(story: Story, span: Span, summary: Summary) -> Iterator[Lost]:
    said = {rule.text for position in span.kept for rule in story.rules.get(position, ())}
    for position in span.gone:
        message = story.entries[position].message
        if isinstance(message, User) and story.entries[position].id in story.pinned:
            yield _instruction(story, span, position, "pin", text_of(message.content), summary.kept_words)
            continue
        for rule in story.rules.get(position, ()):
            kept = _raw if rule.text in said else summary.kept_words
            yield _instruction(story, span, position, "rule", rule.text, kept)


def _raw(words: Words) -> Kept:
    del words
    return "raw"


def _instruction(
    story: Story, span: Span, position: int, kind: Literal["pin", "rule"], text: str, kept: Callable[[Words], Kept]
) -> Lost:
    words = significant(text)
    again = story.restated.after(words, span.position)
    entry = story.entries[position]
    return Lost(
        kind=kind,
        entry_id=entry.id,
        reference=story.reference_for(entry),
        paged=True,
        text=_line(text),
        did="pinned" if kind == "pin" else "said",
        kept=kept(words),
        needed=() if again is None else (story.need("said-again", again.position, again.position),),
    )


# --- files --------------------------------------------------------------------------------------------


def _files(story: Story, span: Span, summary: Summary) -> Iterator[Lost]:
    kept = _touched(story, span.kept)
    for path, gone in _touched(story, span.gone).items():
        yield _file(story, span, path, gone, kept.get(path, []), summary)


def _touched(story: Story, positions: Iterable[int]) -> dict[str, list[int]]:
    """Indexes of the touches of each file among the answers at ``positions``."""
    found: dict[str, list[int]] = {}
    for position in positions:
        for path, index in story.touched.get(position, ()):
            found.setdefault(path, []).append(index)
    return found


def _file(story: Story, span: Span, path: str, gone: list[int], kept: list[int], summary: Summary) -> Lost:
    touches = story.touches[path]
    did = Counter(touches[index].kind for index in gone)
    reads = list(dict.fromkeys(touches[index].done.answer for index in gone if touches[index].kind == "read"))
    # where it was never shown, the call that wrote it holds the most of it
    entry = story.entries[reads[-1] if reads else touches[gone[-1]].done.at]
    is_raw = any(touches[index].kind != "edited" for index in kept)
    return Lost(
        kind="file",
        entry_id=entry.id,
        reference=story.reference_for(entry),
        paged=not reads,
        text=path,
        did=", ".join(f"{kind} {times} times" if times > 1 else kind for kind, times in did.items()),
        tokens=_sum(story.tokens(position) for position in reads) if reads else None,
        kept="raw" if is_raw else summary.kept_file(path),
        needed=tuple(_file_needs(story, span, path, gone, kept)),
    )


def _file_needs(story: Story, span: Span, path: str, gone: list[int], kept: list[int]) -> Iterator[Need]:
    touches = story.touches[path]
    found = [need for index in gone for need in story.uses(touches[index].done.answer, span.position)]
    recalled = {(need.position, need.entry_id): need for need in found if need.kind == "recalled"}
    yield from recalled.values()
    for touch in needs_of(touches, span.position, gone, kept):
        yield story.need("re-read" if touch.kind == "read" else "edited", touch.done.at, touch.done.answer)


def _sum(sizes: Iterable[int | None]) -> int | None:
    """Sum of sizes; None when one of them is not known."""
    known = list(sizes)
    return None if None in known else sum(size for size in known if size is not None)


# --- outputs ------------------------------------------------------------------------------------------


def _outputs(story: Story, span: Span, summary: Summary) -> Iterator[Lost]:
    for position in span.gone:
        entry = story.entries[position]
        message = entry.message
        if not isinstance(message, ToolResult | BashExecution) or not _is_output(story, position):
            continue
        name, line = _asked(story, message, story.answers[position])
        yield Lost(
            kind="output",
            entry_id=entry.id,
            reference=story.reference_for(entry),
            text=_line(line),
            did=name,
            tokens=story.tokens(position),
            kept=summary.kept_output(" ".join(line.split()), story.answers[position].text),
            needed=tuple(story.uses(position, span.position)),
        )


def _is_output(story: Story, position: int) -> bool:
    """Whether an output stands for itself: it shows no file, changes none, recalls none, and is no list of tasks."""
    done = story.answers[position]
    if position in story.touched or done.act.changes or done.act.recalls is not None:
        return False
    return done.call is None or not is_task_list(done.call)


def _asked(story: Story, message: ToolResult | BashExecution, done: Done) -> tuple[str, str]:
    """Name of the tool, and what it was asked for."""
    if isinstance(message, BashExecution):
        return "user's command", message.command
    if done.call is None:
        return message.tool_name or "unknown tool", ""
    command = command_of(done.call, tool_of(done.call.name, story.tools))
    return done.call.name, command or json.dumps(done.call.arguments, ensure_ascii=False, default=str)[:_ARGUMENTS]


# --- the state of the task ----------------------------------------------------------------------------


def _state(story: Story, span: Span, summary: Summary) -> Iterator[Lost]:
    gone = frozenset(span.gone)
    listed = _newest_list(story, span)
    if listed is not None and listed.call is not None and listed.answer in gone:
        tasks = "; ".join(open_tasks(listed.call))
        if tasks:
            yield _of_state(story, listed.at, "todo", listed.call.name, tasks, summary)
    asked = max((at for at in (*span.gone, *span.kept) if _is_request(story.entries[at])), default=-1)
    if asked in gone:
        yield _of_state(story, asked, "request", "asked", _user_text(story.entries[asked]), summary)


def _newest_list(story: Story, span: Span) -> Done | None:
    at = bisect_left(story.lists, span.position, key=lambda done: done.answer)
    return story.lists[at - 1] if at else None


def _is_request(entry: Entry) -> bool:
    return entry.type == "message" and isinstance(entry.message, User) and bool(_user_text(entry).strip())


def _user_text(entry: Entry) -> str:
    return text_of(entry.message.content) if isinstance(entry.message, User) else ""


def _of_state(
    story: Story, position: int, kind: Literal["todo", "request"], did: str, text: str, summary: Summary
) -> Lost:
    entry = story.entries[position]
    return Lost(
        kind=kind,
        entry_id=entry.id,
        reference=story.reference_for(entry),
        paged=True,
        text=_line(text),
        did=did,
        kept=summary.kept_words(significant(text)),
    )
