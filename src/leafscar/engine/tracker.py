"""Following a session: its path, its sizes, and what the provider's readings say about them.

A path that grows is taken in entry by entry; one that changed, or was cut, is projected again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

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
        meter: Meter,
        own_rules: bool,
        trust_entries: bool,
        state: ControlState,
        tell: Callable[[str, str], None],
    ) -> None:
        self.path: list[Entry] = []
        self.ledger = Ledger(rules, sizer)
        self.meter = meter
        self.lines: Lines | None = None
        self.sent_length = 0
        """Leading messages that the last request held and that still stand where they stood."""
        self.latch_open = True
        """Whether a reading newer than the newest cut allows another one."""
        self.fruitless = state.fruitless
        self.unmeasured = 0.0
        """Raw tokens that markers took out and that the anchor's request still held."""
        self._rules = rules
        self._sizer = sizer
        self._own_rules = own_rules
        self._trust_entries = trust_entries
        self._state = state
        self._tell = tell
        self._reported: Usage | None = None
        self._awaiting_gain: float | None = None
        self._provisional: Entry | None = None

    @property
    def loops(self) -> bool:
        """Whether cuts have stopped helping: two in a row freed less than a tenth of the window."""
        return self.fruitless >= _FRUITLESS_LIMIT

    def estimate(self) -> float:
        """Tokens of the next request in its present shape."""
        ledger, anchor = self.ledger, self.meter.anchor
        if anchor is None:
            return self.meter.unanchored(ledger.raw() - ledger.already)
        return self.meter.anchored(ledger.raw(anchor.position + 1) - self.unmeasured)

    def report(self, usage: Usage) -> None:
        """Keep the provider's report until the response itself is on the path."""
        self._reported = usage

    def follow(self, path: Sequence[EntryLike], lines: Lines) -> None:
        """Take in what is new on a path."""
        self.lines = lines
        seen = len(self.path)
        if seen and (len(path) < seen or not self._continues(path[seen - 1])):
            self._tell("resync", "the path changed")
            self.path = [as_entry(entry) for entry in path]
            self._project()
            return
        new = [as_entry(path[index]) for index in range(seen, len(path))]
        self.path += new
        if not seen or any(entry.type in _REPROJECT for entry in new):
            self._project()
        elif new:
            self._take(_items(new))

    def cut(self, entry: Entry, before: float) -> None:
        """Apply a cut that the host will append; ``before``: the estimate that it answers to."""
        self.path.append(entry)
        self._provisional = entry
        self._project()
        self._awaiting_gain = before

    def move(self, positions: Sequence[int]) -> float:
        """Shed these outputs; gives the raw tokens that go away."""
        gone = self.ledger.move(positions)
        self.unmeasured += gone
        return gone

    def _continues(self, value: EntryLike) -> bool:
        """Whether the path still goes through our last entry; a provisional cut takes its host's entry on."""
        last, entry = self.path[-1], as_entry(value)
        if last is self._provisional and entry.type == "compaction" and entry.get("summary") == last.get("summary"):
            self.ledger.rename(last, entry)
            self._provisional, self.path[-1] = None, entry
            return True
        return last is entry or last.data is value or (last.id == entry.id != "" and last.type == entry.type)

    def _project(self) -> None:
        before = self.ledger
        shed = {before.items[at].entry.id for at in before.shed} or set(self._state.shed)
        self.ledger = Ledger(self._rules, self._sizer)
        self.meter.drop()
        self.unmeasured = 0.0
        self._awaiting_gain = None
        cut = newest_cut(self.path)
        self.latch_open = cut is None or self._measured_after(cut)
        stale = {entry.id for entry in self.path[:cut]} if self._own_rules and cut is not None else set[str]()
        items = project_context(self.path).items
        self._take(items, stale=stale)
        self._restore(shed)
        self.sent_length = min(self.sent_length, _common(before.items, items))

    def _measured_after(self, cut: int) -> bool:
        responses = (entry.message for entry in self.path[cut + 1 :] if entry.type == "message")
        if self._trust_entries:
            return any(message is not None and anchor_tokens(message) is not None for message in responses)
        return any(isinstance(message, Assistant) for message in responses)

    def _restore(self, ids: set[str]) -> None:
        """Put the markers of before back where their outputs still stand."""
        ledger, anchor = self.ledger, self.meter.anchor
        positions = [at for at in sorted(ledger.outputs) if ledger.items[at].entry.id in ids]
        if not positions:
            return
        ledger.move(positions)
        measured = anchor is not None and ledger.items[anchor.position].entry.id == self._state.measured
        self.unmeasured = ledger.shed_savings(anchor.position) if anchor is not None and measured else ledger.already

    def _take(self, items: Iterable[Item], *, stale: set[str] | None = None) -> None:
        for item in items:
            self.ledger.extend((item,))
            if isinstance(item.message, Assistant) and item.entry.id not in (stale or ()):
                self._read(item.message)

    def _read(self, message: Assistant) -> None:
        tokens = anchor_tokens(message) if self._trust_entries else None
        if self._reported is not None:
            tokens = tokens or self._reported.total
            self._reported = None
        if tokens is None or not tokens > 0:
            return
        ledger, anchor, window = self.ledger, self.meter.anchor, self.lines.real_window if self.lines else 0
        refusal = self.meter.take(
            Anchor(position=len(ledger.items) - 1, tokens=tokens),
            predicted=self.estimate(),
            grown=ledger.raw(anchor.position + 1) - self.unmeasured if anchor else 0.0,
            raw=ledger.raw() - ledger.already,
            window=window if self._own_rules else 0,
        )
        if refusal:
            self._tell("anchor-refused", refusal)
            return
        self.unmeasured = 0.0
        self.latch_open = True
        self._judge_gain(tokens)

    def _judge_gain(self, tokens: float) -> None:
        if self._awaiting_gain is None or self.lines is None:
            return
        gain = self._awaiting_gain - tokens
        self._awaiting_gain = None
        self.fruitless = 0 if gain >= _MIN_GAIN * self.lines.window else self.fruitless + 1
        if self.fruitless == _FRUITLESS_LIMIT:
            self._tell("loop-breaker", "two cuts in a row freed less than a tenth of the window")


def _items(entries: Iterable[Entry]) -> Iterable[Item]:
    """Items of new entries at the end of a path: an entry of a plain message is one item, others are projected."""
    for entry in entries:
        if entry.type == "message" and entry.message is not None:
            yield Item(entry=entry, message=entry.message)
        else:
            yield from items_of((make_slot(entry, CUT_RULES),))


def _common(before: Sequence[Item], after: Sequence[Item]) -> int:
    """How many leading messages are the same in both."""
    count = 0
    for old, new in zip(before, after, strict=False):
        if old.message is not new.message:
            break
        count += 1
    return count
