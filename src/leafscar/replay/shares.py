"""The tallies of a session summed up: by class of content, and by output (docs/replay.md)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from msgspec import Struct

from leafscar.model import BashExecution, Entry, ToolCall, ToolResult
from leafscar.model.messages import tool_calls
from leafscar.pruning.tools import ALL, path_of, tool_of
from leafscar.replay.bills import Bill
from leafscar.replay.content import OVERHEAD, Label, labels_of
from leafscar.replay.details import BillSide, CostlyOutput, Money, Share
from leafscar.replay.money import MoneyWatch, Tally
from leafscar.replay.result import PolicyResult

__all__ = ["COSTLIEST", "money_of"]

COSTLIEST = 20
"""Outputs that a result names."""

_UNRECORDED = Label("unrecorded")
_SUMMARISER = Label("summariser")


class _Sum(Struct, kw_only=True, gc=False):
    messages: int = 0
    tokens: float = 0.0
    sent: float = 0.0
    output: float = 0.0
    dollars: float = 0.0
    units: float = 0.0


def money_of(
    watch: MoneyWatch,
    summaries: Bill,
    *,
    modelled: PolicyResult,
    recorded: PolicyResult,
    checked: PolicyResult,
    reference_for: Callable[[Entry], str],
) -> Money:
    """Sum up a run of the session as it was.

    ``modelled`` is its row, ``summaries`` what its recorded summaries cost; ``checked`` is the row that stands for the
    ``recorded`` one under its own model, which is another one when a model was asked for.
    """
    watch.settle()
    priced = modelled.cost is not None
    told = recorded.units is not None
    outputs = [tally for tally in watch.tallies.values() if _is_output(tally)]
    return Money(
        shares=_shares(watch, summaries, priced=priced),
        outputs=list(_costliest(watch, outputs, reference_for, priced=priced)),
        output_count=len(outputs),
        recorded=_side(recorded) if told else None,
        modelled=_side(checked),
        sheddable=watch.sheddable / watch.sent if watch.sent else None,
        sheddable_at_peak=watch.sheddable_at_peak / watch.peak if watch.peak else None,
    )


def _shares(watch: MoneyWatch, summaries: Bill, *, priced: bool) -> list[Share]:
    """Sum the tallies up by class, the largest part of the bill first; ``priced``: the bill is in dollars."""
    sums: dict[Label, _Sum] = {}
    for tally in watch.tallies.values():
        for label, part in _parts(tally).items():
            _take(sums.setdefault(label, _Sum()), tally, part)
    for label, (tokens, dollars, units) in watch.output.items():
        row = sums.setdefault(label, _Sum())
        row.output, row.dollars, row.units = row.output + tokens, row.dollars + dollars, row.units + units
    if summaries.input or summaries.output:
        sums[_SUMMARISER] = _Sum(
            messages=summaries.requests,
            sent=summaries.input,
            output=summaries.output,
            dollars=summaries.cost or 0.0,
            units=summaries.units,
        )
    whole = sum(row.dollars if priced else row.units for row in sums.values())
    shares = [_share(label, row, whole, priced=priced) for label, row in sums.items() if row.tokens or row.units]
    return sorted(shares, key=lambda share: -share.units if share.share is None else -share.share)


def _parts(tally: Tally) -> Mapping[Label, float]:
    """Parts of 1 of one message by class."""
    if tally.message is None:
        return {OVERHEAD: 1.0}
    weights = labels_of(tally.message)
    whole = sum(weights.values())
    if not whole or not tally.tokens:
        return {_UNRECORDED: 1.0}
    unseen = min(tally.hidden / tally.tokens, 1.0)
    parts = {label: (1 - unseen) * weight / whole for label, weight in weights.items()}
    return {**parts, _UNRECORDED: unseen} if unseen else parts


def _take(row: _Sum, tally: Tally, part: float) -> None:
    row.messages += 1
    row.tokens += part * tally.tokens
    row.sent += part * tally.sent
    row.dollars += part * tally.dollars
    row.units += part * tally.units


def _share(label: Label, row: _Sum, whole: float, *, priced: bool) -> Share:
    return Share(
        kind=label.kind,
        tool=label.tool,
        messages=row.messages,
        tokens=row.tokens,
        sent=row.sent,
        output=row.output,
        cost=row.dollars if priced else None,
        units=row.units,
        share=(row.dollars if priced else row.units) / whole if whole else None,
    )


def _is_output(tally: Tally) -> bool:
    """Whether it is an output with an entry of its own, which a recall can name."""
    is_own = tally.entry is not None and tally.entry.type == "message"
    return is_own and isinstance(tally.message, ToolResult | BashExecution)


def _costliest(
    watch: MoneyWatch, outputs: Iterable[Tally], reference_for: Callable[[Entry], str], *, priced: bool
) -> Iterable[CostlyOutput]:
    calls = {call.id: call for tally in watch.tallies.values() if tally.message for call in tool_calls(tally.message)}
    ranked = sorted(outputs, key=lambda tally: -tally.dollars if priced else -tally.units)
    for tally in ranked[:COSTLIEST]:
        assert tally.entry is not None
        tool, path = _origin(tally, calls)
        yield CostlyOutput(
            reference=reference_for(tally.entry),
            entry_id=tally.entry.id,
            tool=tool,
            path=path,
            tokens=tally.tokens,
            requests=tally.requests,
            cost=tally.dollars if priced else None,
            units=tally.units,
        )


def _origin(tally: Tally, calls: Mapping[str, ToolCall]) -> tuple[str, str | None]:
    """Name of the tool, and the file that the call named."""
    message = tally.message
    if not isinstance(message, ToolResult):
        return "bash", None
    return message.tool_name, path_of(calls.get(message.tool_call_id), tool_of(message.tool_name, ALL))


def _side(row: PolicyResult) -> BillSide:
    """A row's bill by class; a class that one request does not tell is unknown."""
    moments = row.moments
    return BillSide(
        uncached=_whole([moment.uncached for moment in moments]),
        read=_whole([moment.read for moment in moments]),
        written=_whole([moment.written for moment in moments]),
        output=sum(moment.output for moment in moments),
        cost=row.cost,
        units=row.units,
    )


def _whole(values: Iterable[float | None]) -> float | None:
    numbers = list(values)
    known = [number for number in numbers if number is not None]
    return sum(known) if len(known) == len(numbers) else None
