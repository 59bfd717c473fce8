"""Following a session: its path, its sizes, and what the provider's readings say about them.

A path that grows is taken in entry by entry; one that changed, or was cut, is projected again.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Sequence
from itertools import takewhile

from msgspec import structs

from leafscar.compaction import DEFAULT as CUT_RULES
from leafscar.compaction import Item, newest_cut
from leafscar.compaction.rebuild import project_slots
from leafscar.compaction.slots import items_of, make_slot
from leafscar.engine.facts import Lines
from leafscar.engine.ledger import Ledger, ShedRules
from leafscar.engine.readings import Anchor, Meter
from leafscar.engine.sizers import Sizer
from leafscar.engine.state import ControlState
from leafscar.estimate import anchor_tokens
from leafscar.model import Assistant, Entry, EntryLike, Usage, as_entry

__all__ = ["FRUITLESS_LIMIT", "MIN_GAIN", "Tracker"]

_REPROJECT = ("compaction", "context_edit")
_SAME_CUT = ("summary", "firstKeptEntryId", "systemMessage")
MIN_GAIN = 0.10
"""Share of the window that a cut should free."""
FRUITLESS_LIMIT = 2
"""Automatic cuts in a row without that gain, after which there are none."""
_VOID = -1  # in the place of a number: the request held markers that stand no longer


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
        self.shed: dict[str, int] = dict(state.shed)
        """By the id of each shed entry: the number of its move since the newest cut."""
        self.readings: dict[str, int] = dict(state.readings)
        """By the id of each response whose reading was taken: how many moves its request came after; ``_VOID``."""
        self.moves = max((0, *self.shed.values(), *self.readings.values()))
        """Moves since the newest cut."""
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
        self._sent_strip: tuple[int, int] | None = None
        self._old: set[int] = set()  # identities of the entries that the newest cut kept
        self._provisional: Entry | None = None

    @property
    def loops(self) -> bool:
        """Whether cuts have stopped helping: two in a row freed less than a tenth of the window."""
        return self.fruitless >= FRUITLESS_LIMIT

    def estimate(self) -> float:
        """Tokens of the next request in its present shape."""
        anchor = self.meter.anchor
        if anchor is None:
            return self.estimate_unmeasured()
        tokens = self.meter.anchored(self.ledger.raw(anchor.position + 1) - self.unmeasured)
        # a provider that reports less than what went out of its request does not report the request
        return tokens if tokens > 0 else self.estimate_unmeasured()

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
        self.moves += 1
        self.shed |= {self.ledger.items[position].entry.id: self.moves for position in positions}
        self.unmeasured += gone
        self.boundary = positions[0]
        self.sent_length = min(self.sent_length, positions[0])
        return gone

    def strip_from(self, position: int) -> None:
        """Let the thinking from ``position`` to the end go: it is bound to what stood there before."""
        items = self.ledger.items
        start = self.strip[0] if self.strip else position
        self.strip = min(start, position), len(items)
        self.stripped = items[self.strip[0]].entry.id, items[-1].entry.id

    def sent(self, strip: tuple[int, int] | None) -> int:
        """Note that the context goes out, the thinking of ``strip`` left out; gives how much of it is as before."""
        kept = min(self.sent_length, _parting(strip, self._sent_strip))
        for position in takewhile(lambda position: position >= self.sent_length, reversed(self.ledger.late)):
            kept = min(kept, self.ledger.late[position])
        self.sent_length, self._sent_strip = len(self.ledger.items), strip
        return kept

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
        slots = project_slots(self.path, CUT_RULES)
        later = len(self.path) - (0 if at is None else at + 1)
        self._old = {id(slot.entry) for slot in slots[1 : len(slots) - later]}
        self._take(items_of(slots), again=True)
        self.strip = self._placed()
        self.sent_length = min(self.sent_length, _common(before, self.ledger))

    def _restart(self, cut: Entry | None, *, first: bool) -> None:
        """Start afresh when the newest cut is not the one of before: raw again, nothing to judge."""
        same = cut is self._cut or (cut is not None and self._cut is not None and _is_same(cut, self._cut))
        self._cut = cut
        self.restarted = not (first or same)
        if self.restarted:
            self.readings = {id_: _VOID if number else 0 for id_, number in self.readings.items()}
            self.shed, self.moves = {}, 0
            self.stripped = self.awaiting_gain = None

    def _placed(self) -> tuple[int, int] | None:
        """Positions of what goes out without thinking: the tail that the cut kept, and what moves added."""
        items = self.ledger.items
        tail = sum(item.entry is self._cut or id(item.entry) in self._old for item in items)
        places = {item.entry.id: position for position, item in enumerate(items)}
        if self.stripped is None or self.stripped[1] not in places:
            return (0, tail) if tail else None
        return places.get(self.stripped[0], 0), places[self.stripped[1]] + 1

    def _take(self, items: Sequence[Item], *, again: bool = False) -> None:
        """Take in messages; ``again``: there may be readings among them that were taken before."""
        answers = [number for number, item in enumerate(items) if isinstance(item.message, Assistant)]
        known = [number for number in answers if again and items[number].entry.id in self.readings]
        newest, newest_known = max(answers, default=-1), max(known, default=-1)
        anchor = next((number for number in reversed(known) if self._still_counts(items[number].entry)), -1)
        for number, item in enumerate(items):
            if item.entry.id in self.shed:
                self.unmeasured += self.ledger.extend_shed(item)
            else:
                self.ledger.extend((item,))
            if isinstance(item.message, Assistant) and (number > newest_known or number == anchor):
                reading = self._reading(item.entry, item.message, newest=number == newest)
                if reading is not None:
                    self._read(item.entry, reading, known=number == anchor)

    def _still_counts(self, response: Entry) -> bool:
        """Whether a known reading is of what stands: markers are void behind another cut, which may keep readings."""
        return self.readings[response.id] != _VOID or id(response) in self._old

    def _reading(self, entry: Entry, message: Assistant, *, newest: bool) -> float | None:
        """Tokens that a response, or its host, reported; None when no estimate may rest on it."""
        stated = anchor_tokens(message) if self._trust_entries else None
        if newest and self._reported is not None:
            self._reports[entry.id] = self._reported.total
            self._reported = None
        tokens = self._reports.get(entry.id) if stated is None else stated
        usable = not message.failed and tokens is not None and 0 < tokens < math.inf
        return tokens if usable else None

    def _read(self, entry: Entry, tokens: float, *, known: bool) -> None:
        """Rest on a reading, unless it is void; one that is ``known`` teaches nothing again."""
        if self._own_rules and id(entry) in self._old:
            return
        anchor = Anchor(position=len(self.ledger.items) - 1, tokens=tokens)
        if known:
            self.meter.anchor = anchor
            self.unmeasured = self._still_held(self.readings[entry.id])
        else:
            refusal = self._take_new(anchor)
            if refusal:
                self._tell("anchor-refused", refusal)
                return
            self.unmeasured = 0.0
            self.readings[entry.id] = self.moves
        self._open_latch(entry, tokens)

    def _still_held(self, moves: int) -> float:
        """Raw tokens that markers stand for by now and that a request after the first ``moves`` moves still held."""
        ledger = self.ledger
        return sum(ledger.outputs[at].saving for at in ledger.shed if self.shed[ledger.items[at].entry.id] > moves)

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
        if gain >= MIN_GAIN * self.lines.window:
            self.fruitless = 0
        elif self.automatic:
            self.fruitless += 1
        if self.fruitless == FRUITLESS_LIMIT and self.automatic:
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


def _parting(first: tuple[int, int] | None, second: tuple[int, int] | None) -> int:
    """First position that only one of two spans holds."""
    if first == second:
        return sys.maxsize
    if first is None or second is None:
        return (first or second or (0, 0))[0]
    return min(first[0], second[0]) if first[0] != second[0] else min(first[1], second[1])


def _common(before: Ledger, after: Ledger) -> int:
    """How many leading messages are the same in both, markers included."""
    count = 0
    for old, new in zip(before.items, after.items, strict=False):
        if old.message is not new.message or before.shed.get(count) != after.shed.get(count):
            break
        count += 1
    return count
