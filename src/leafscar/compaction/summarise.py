"""From a preparation to the text of a compaction entry, without doing any I/O.

:func:`compact` is a generator: it yields requests and is sent responses. The caller sends, waits, retries
(:mod:`leafscar.compaction.retry`) and aborts; a deadline is the caller's too.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from typing import Any, TypeAlias

from msgspec import Struct

from leafscar.compaction.files import FileLists, file_text
from leafscar.compaction.pins import pins_block, without_pins
from leafscar.compaction.prepare import Preparation
from leafscar.compaction.requests import (
    Kind,
    Refused,
    SummaryOptions,
    SummaryRequest,
    SummaryResponse,
    build_request,
    combine_usage,
    refusal,
)
from leafscar.compaction.rules import DEFAULT, Rules
from leafscar.compaction.slots import Item
from leafscar.compaction.thresholds import summary_budget

__all__ = ["Asking", "CompactionResult", "Summary", "ask", "compact"]

_NO_HISTORY = "No prior history."
_SPLIT = "\n\n---\n\n**Turn Context (split turn):**\n\n"
_AGAIN = ("truncated", "empty", "tool-call")


class Summary(Struct, frozen=True, kw_only=True):
    """One accepted answer of the summariser."""

    text: str
    usage: Mapping[str, Any] | None
    refused: tuple[Refused, ...] = ()
    left_out: int = 0


class CompactionResult(Struct, frozen=True, kw_only=True):
    """What a compaction entry is made of."""

    summary: str
    """Summary, pins and file lists in one text."""
    first_kept_entry_id: str
    tokens_before: float
    """Tokens of the context before the cut."""
    usage: Mapping[str, Any] | None
    """Usage of the accepted responses, in pi's shape."""
    details: FileLists
    refused: tuple[Refused, ...] = ()
    """Responses that were asked for again; their usage is not in ``usage``."""
    left_out: int = 0
    """Blocks of the conversation that the summariser did not get to read."""
    system_message: Mapping[str, Any] | None = None
    """The system message in force; see :class:`Preparation`."""

    def as_entry_fields(self) -> dict[str, Any]:
        """Give the fields that a ``compaction`` entry adds to its head."""
        lists = {"readFiles": list(self.details.read_files), "modifiedFiles": list(self.details.modified_files)}
        return {
            "summary": self.summary,
            "firstKeptEntryId": self.first_kept_entry_id,
            "tokensBefore": self.tokens_before,
            "details": lists,
            **({} if self.usage is None else {"usage": dict(self.usage)}),
            "fromHook": False,
            **({} if self.system_message is None else {"systemMessage": dict(self.system_message)}),
        }


Asking: TypeAlias = Generator[SummaryRequest, SummaryResponse, CompactionResult]
"""Yields requests, is sent responses, returns the result."""


def compact(preparation: Preparation, options: SummaryOptions | None = None, rules: Rules = DEFAULT) -> Asking:
    """Summarise what ``preparation`` covers: history first, then the beginning of a split turn.

    Raises ``SummaryFailed`` with the sources' words when a response cannot stand as a summary.
    """
    known = options or SummaryOptions()
    if preparation.is_split_turn and preparation.turn_prefix:
        summary = yield from _split(preparation, known, rules)
    else:
        summary = yield from _history(preparation, known, rules)
    lists = preparation.file_ops.lists()
    text = without_pins(summary.text) if rules.pins else summary.text
    return CompactionResult(
        summary=text + pins_block(preparation.pins) + file_text(lists),
        first_kept_entry_id=preparation.first_kept_entry_id,
        tokens_before=preparation.tokens_before,
        usage=summary.usage,
        details=lists,
        refused=summary.refused,
        left_out=summary.left_out,
        system_message=preparation.system_message,
    )


def ask(
    kind: Kind,
    items: Sequence[Item],
    max_tokens: int,
    options: SummaryOptions,
    rules: Rules,
    previous: str | None = None,
) -> Generator[SummaryRequest, SummaryResponse, Summary]:
    """Ask for one summary, a second time on a shorter input when the first answer is refused."""
    refused: list[Refused] = []
    while True:
        again = bool(refused)
        request = build_request(kind, items, max_tokens, options, rules, previous=previous, second_try=again)
        response = yield request
        failure = refusal(kind, response, rules)
        if failure is None:
            return Summary(text=response.text, usage=response.usage, refused=tuple(refused), left_out=request.left_out)
        if again or not rules.second_try or failure.code not in _AGAIN:
            raise failure
        refused.append(Refused(kind=kind, code=failure.code, usage=response.usage))


def _history(
    preparation: Preparation, options: SummaryOptions, rules: Rules
) -> Generator[SummaryRequest, SummaryResponse, Summary]:
    tokens, _ = summary_budget(preparation.settings.reserve_tokens, options.max_output)
    return (yield from ask("history", preparation.history, tokens, options, rules, preparation.previous_summary))


def _split(
    preparation: Preparation, options: SummaryOptions, rules: Rules
) -> Generator[SummaryRequest, SummaryResponse, Summary]:
    if preparation.history:
        history = yield from _history(preparation, options, rules)
    else:
        kept = preparation.previous_summary if rules.keep_previous_on_split else None
        history = Summary(text=_NO_HISTORY if kept is None else kept, usage=None)
    _, tokens = summary_budget(preparation.settings.reserve_tokens, options.max_output)
    prefix = yield from ask("prefix", preparation.turn_prefix, tokens, options, rules)
    return Summary(
        text=f"{history.text}{_SPLIT}{prefix.text}",
        usage=_both(history.usage, prefix.usage),
        refused=history.refused + prefix.refused,
        left_out=history.left_out + prefix.left_out,
    )


def _both(first: Mapping[str, Any] | None, second: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    if first is None or second is None:
        return second if first is None else first
    return combine_usage(first, second)
