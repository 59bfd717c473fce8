"""Following a session: its path, its sizes, and what the provider's readings say about them.

A path that grows is taken in entry by entry; one that changed, or was cut, is projected again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence

from msgspec import structs

from leafscar.compaction import DEFAULT as CUT_RULES
from leafscar.compaction import Item, newest_cut, project_context
from leafscar.compaction.slots import items_of, make_slot
from leafscar.engine.facts import Lines
from leafscar.engine.ledger import Ledger, ShedRules
from leafscar.engine.readings import Anchor, Meter
from leafscar.engine.sizers import Sizer
from leafscar.engine.state import ControlState
from leafscar.estimate import anchor_tokens
from leafscar.model import Assistant, Entry, EntryLike, Usage, as_entry

__all__ = ["Tracker"]

_REPROJECT = ("compaction", "context_edit")
_SAME_CUT = ("summary", "firstKeptEntryId", "systemMessage")
_MIN_GAIN = 0.10
_FRUITLESS_LIMIT = 2


class Tracker:
    """What is known of one session at its next request.

    ``own_rules``: readings from before the newest cut, larger than the window, or out of the blue are not used;
    ``trust_entries``: the usage in assistant entries was measured on the requests that are tracked here.
    """

    def __init__(
        self,
        rules: ShedRules,
        sizer: Sizer,
        *,
        lines: Lines,
        meter: Meter,
        own_rules: bool,
        trust_entries: bool,
        state: ControlState,
        tell: Callable[[str, str], None],
    ) -> None:
        self.path: list[Entry] = []
        self.ledger = Ledger(rules, sizer)
        self.meter = meter
        self.lines = lines
        self.sent_length = 0
        """Leading messages that the last request held and that still stand where they stood."""
        self.boundary: int | None = None
        """First position that the newest move changed."""
        self.strip: tuple[int, int] | None = None
        """Positions whose thinking a cut, or a move before it, made invalid on models that bind it."""
        self.restarted = False
        """Whether the path has another newest cut than before: what was shed and counted since the old one is void."""
        self.latch_open = True
        """Whether a reading newer than the newest cut allows another one."""
        self.fruitless = state.fruitless
        self.awaiting_gain = state.awaiting_gain
        """Estimate that the newest cut answered to, until a reading judges it."""
        self.automatic = state.automatic
        """Whether that cut was the policy's own; one that a user asked for never counts as fruitless."""
        self.measured = state.measured
        """Id of the newest response whose reading was taken."""
        self.since: dict[str, str] = dict(state.shed)
        """By the id of each shed entry: ``measured`` at the time of its move, empty when nothing was."""
        self.stripped = state.stripped
        """Ids of the first and the last entry of ``strip``, when a move set it."""
        self.unmeasured = 0.0
        """Raw tokens that markers took out and that the anchor's request still held."""
        self._rules = rules
        self._sizer = sizer
        self._own_rules = own_rules
        self._trust_entries = trust_entries
        self._tell = tell
        self._reported: Usage | None = None
        self._reports: dict[str, float] = {}
        self._cut: Entry | None = None
        self._old: set[int] = set()  # identities of the entries before the newest cut
        self._provisional: Entry | None = None

    @property
    def loops(self) -> bool:
        """Whether cuts have stopped helping: two in a row freed less than a tenth of the window."""
        return self.fruitless >= _FRUITLESS_LIMIT

    def estimate(self) -> float:
        """Tokens of the next request in its present shape."""
        ledger, anchor = self.ledger, self.meter.anchor
        if anchor is None:
            return self.estimate_unmeasured()
        return self.meter.anchored(ledger.raw(anchor.position + 1) - self.unmeasured)

    def estimate_unmeasured(self) -> float:
        """The same without any reading: right after a cut the newest one may be from before it."""
        return self.meter.unanchored(self.ledger.raw() - self.ledger.already)

    def report(self, usage: Usage) -> None:
        """Keep the provider's report until the response itself is on the path."""
        self._reported = usage

    def follow(self, path: Sequence[EntryLike], lines: Lines) -> None:
        """Take in what is new on a path."""
        self.restarted = False
        redraw, self.lines = lines.protect != self._rules.protect, lines
        if redraw:
            self._rules = structs.replace(self._rules, protect=lines.protect)
        seen = len(self.path)
        if seen and (len(path) < seen or not self._continues(path[seen - 1])):
            self._tell("resync", "the path changed")
            self.path = [as_entry(entry) for entry in path]
            self._project()
            return
        new = [as_entry(path[index]) for index in range(seen, len(path))]
        self.path += new
        if redraw or not seen or any(entry.type in _REPROJECT for entry in new):
            self._project(first=not seen)
        elif new:
            self._take(_items(new))

    def cut(self, entry: Entry, before: float, *, automatic: bool) -> None:
        """Apply a cut that the host will append; ``before``: the estimate that it answers to."""
        self.path.append(entry)
        self._provisional = entry
        self._project()
        self.awaiting_gain, self.automatic = before, automatic

    def move(self, positions: Sequence[int]) -> float:
        """Shed these outputs, given by rising positions; gives the raw tokens that go away."""
        gone = self.ledger.move(positions)
        self.since |= {self.ledger.items[position].entry.id: self.measured or "" for position in positions}
        self.unmeasured += gone
        self.boundary = positions[0]
        self.sent_length = min(self.sent_length, positions[0])
        return gone

    def strip_from(self, position: int) -> None:
        """Let the thinking from ``position`` to the end go: it is bound to what stood there before."""
        items = self.ledger.items
        start, end = self.strip or (position, position)
        self.strip = min(start, position), len(items)
        self.stripped = items[self.strip[0]].entry.id, items[-1].entry.id
        self.sent_length = min(self.sent_length, position, end)

    def _continues(self, value: EntryLike) -> bool:
        """Whether the path still goes through our last entry; a provisional cut takes its host's entry on."""
        last, entry = self.path[-1], as_entry(value)
        if last is self._provisional and entry.type == "compaction" and _is_same(last, entry):
            self.ledger.rename(last, entry)
            self._provisional, self._cut, self.path[-1] = None, entry, entry
            return True
        return last is entry or last.data is value or (last.id == entry.id != "" and last.type == entry.type)

    def _project(self, *, first: bool = False) -> None:
        before, at = self.ledger, newest_cut(self.path)
        self._restart(None if at is None else self.path[at], first=first)
        self.ledger = Ledger(self._rules, self._sizer)
        self.meter.drop()
        self.unmeasured = 0.0
        self.boundary = None
        self.latch_open = at is None
        self._old = {id(entry) for entry in self.path[: at or 0]}
        self._take(project_context(self.path).items, places=_places(self.path))
        self.strip = self._placed()
        self.sent_length = min(self.sent_length, _common(before, self.ledger))

    def _restart(self, cut: Entry | None, *, first: bool) -> None:
        """Start afresh when the newest cut is not the one of before: raw again, nothing to judge."""
        same = cut is self._cut or (cut is not None and self._cut is not None and _is_same(cut, self._cut))
        self._cut = cut
        self.restarted = not (first or same)
        if self.restarted:
            self.since, self.stripped, self.awaiting_gain = {}, None, None

    def _placed(self) -> tuple[int, int] | None:
        """Positions of what goes out without thinking: the tail that the cut kept, and what moves added."""
        items = self.ledger.items
        tail = sum(item.entry is self._cut or id(item.entry) in self._old for item in items)
        places = {item.entry.id: position for position, item in enumerate(items)}
        if self.stripped is None or self.stripped[1] not in places:
            return (0, tail) if tail else None
        return places.get(self.stripped[0], 0), places[self.stripped[1]] + 1

    def _take(self, items: Sequence[Item], *, places: Mapping[str, int] | None = None) -> None:
        """Take in messages; ``places`` of all entries when they are projected again, known readings among them."""
        last = max((n for n, item in enumerate(items) if isinstance(item.message, Assistant)), default=-1)
        for number, item in enumerate(items):
            self.ledger.extend((item,))
            if item.entry.id in self.since:
                self._put_back(len(self.ledger.items) - 1)
            if isinstance(item.message, Assistant):
                reading = self._reading(item.entry, item.message, newest=number == last)
                if reading is not None:
                    self._read(item.entry, reading, places)

    def _put_back(self, position: int) -> None:
        """Put the marker of before in the place of an output that still stands."""
        if position in self.ledger.outputs:
            self.unmeasured += self.ledger.move((position,))

    def _late(self, response: Entry, places: Mapping[str, int]) -> float:
        """Raw tokens that went only after a response: it, or a later one, was measured when they did."""
        ledger, own = self.ledger, places[response.id]
        went = {at: self.since[ledger.items[at].entry.id] for at in ledger.shed}
        return sum(ledger.outputs[at].saving for at, since in went.items() if since and places.get(since, own) >= own)

    def _reading(self, entry: Entry, message: Assistant, *, newest: bool) -> float | None:
        """Tokens that a response, or its host, reported; None when no estimate may rest on it."""
        stated = anchor_tokens(message) if self._trust_entries else None
        if newest and self._reported is not None:
            self._reports[entry.id] = self._reported.total
            self._reported = None
        tokens = self._reports.get(entry.id) if stated is None else stated
        usable = not message.failed and tokens is not None and 0 < tokens < math.inf
        return tokens if usable else None

    def _read(self, entry: Entry, tokens: float, places: Mapping[str, int] | None) -> None:
        """Rest on a reading, unless it is void."""
        if self._own_rules and id(entry) in self._old:
            return
        anchor = Anchor(position=len(self.ledger.items) - 1, tokens=tokens)
        known = -1 if places is None or self.measured is None else places.get(self.measured, len(places))
        if places is not None and places[entry.id] <= known:
            if entry.id == self.measured or self.measured not in places:
                self._rest_again(anchor, entry, places)
            return
        refusal = self._take_new(anchor)
        if refusal:
            self._tell("anchor-refused", refusal)
            return
        self.unmeasured = 0.0
        self.measured = entry.id
        self._open_latch(entry, tokens)

    def _rest_again(self, anchor: Anchor, entry: Entry, places: Mapping[str, int]) -> None:
        """Rest on a reading that was taken before: there is nothing to learn from it."""
        self.meter.anchor = anchor
        self.unmeasured = self._late(entry, places)
        self._open_latch(entry, anchor.tokens)

    def _take_new(self, reading: Anchor) -> str:
        ledger, anchor = self.ledger, self.meter.anchor
        return self.meter.take(
            reading,
            predicted=self.estimate(),
            grown=ledger.raw(anchor.position + 1) - self.unmeasured if anchor else 0.0,
            raw=ledger.raw() - ledger.already,
            window=self.lines.real_window if self._own_rules else 0,
        )

    def _open_latch(self, entry: Entry, tokens: float) -> None:
        if id(entry) not in self._old:
            self.latch_open = True
            self._judge_gain(tokens)

    def _judge_gain(self, tokens: float) -> None:
        if self.awaiting_gain is None:
            return
        gain = self.awaiting_gain - tokens
        self.awaiting_gain = None
        if gain >= _MIN_GAIN * self.lines.window:
            self.fruitless = 0
        elif self.automatic:
            self.fruitless += 1
        if self.fruitless == _FRUITLESS_LIMIT and self.automatic:
            self._tell("loop-breaker", "two cuts in a row freed less than a tenth of the window")


def _items(entries: Iterable[Entry]) -> list[Item]:
    """Items of new entries at the end of a path: an entry of a plain message is one item, others are projected."""
    items: list[Item] = []
    for entry in entries:
        if entry.type == "message" and entry.message is not None:
            items.append(Item(entry=entry, message=entry.message))
        else:
            items += items_of((make_slot(entry, CUT_RULES),))
    return items


def _is_same(first: Entry, second: Entry) -> bool:
    """Whether two entries stand for one cut: a host writes the entry that a controller only announced."""
    return all(first.get(name) == second.get(name) for name in _SAME_CUT)


def _places(path: Sequence[Entry]) -> dict[str, int]:
    return {entry.id: place for place, entry in enumerate(path)}


def _common(before: Ledger, after: Ledger) -> int:
    """How many leading messages are the same in both, markers included."""
    count = 0
    for old, new in zip(before.items, after.items, strict=False):
        if old.message is not new.message or before.shed.get(count) != after.shed.get(count):
            break
        count += 1
    return count
