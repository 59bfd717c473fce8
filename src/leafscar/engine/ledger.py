"""The context of one session as running sums: each message is looked at once (docs/architecture.md).

``tests/engine/pure.py`` states the same numbers as plain sums over a list; a property test holds the two together.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Iterable, Sequence
from itertools import takewhile

from msgspec import Struct

from leafscar.compaction.slots import Item
from leafscar.engine.sizers import Sizer
from leafscar.estimate import estimate_tokens
from leafscar.model import Assistant, BashExecution, Entry, ToolCall, ToolResult, User
from leafscar.model.messages import tool_calls
from leafscar.pruning import Candidate, Marker, Never, PruningRules, candidate_for, marker_for, replaced
from leafscar.pruning.arguments import argument_marker, argument_tokens
from leafscar.pruning.eligible import NOTHING
from leafscar.pruning.markers import Resolve
from leafscar.pruning.sizes import text_tokens
from leafscar.pruning.tools import path_of, tool_of

__all__ = ["SUPERSEDED_FLOOR", "Ledger", "Output", "ShedRules", "is_partial"]

SUPERSEDED_FLOOR = 100
"""Tokens up to which even a superseded read stays raw."""


class ShedRules(Struct, frozen=True, kw_only=True):
    """What may be shed, for one controller."""

    reference_for: Callable[[Entry], str]
    min_tokens: int
    """Outputs up to this size stay raw."""
    superseded_floor: int | None = SUPERSEDED_FLOOR
    """The same for a read that a later read or edit of its file superseded; None: such reads are like others."""
    protect: int = 0
    """Newest tokens that stay raw."""
    keep_unanswered: bool = True
    """Whether a result that the model has not answered yet stays raw."""
    never: Never = NOTHING
    arguments: bool = False
    """Whether long arguments of write and edit calls may go too."""
    marks: PruningRules = PruningRules()
    resolve: Resolve | None = None

    @property
    def lowest_floor(self) -> int:
        """Size up to which every output stays raw."""
        return self.min_tokens if self.superseded_floor is None else min(self.min_tokens, self.superseded_floor)


class Output(Struct, kw_only=True):
    """One output, or one response with long arguments, that a move may replace."""

    position: int
    marker: Marker
    saving: float
    """Tokens that go away with it."""
    tokens: int
    """Size by the sources' rule."""
    superseded: bool = False

    def eligible(self, rules: ShedRules) -> bool:
        """Whether its size allows it to be shed."""
        return self.tokens > (rules.lowest_floor if self.superseded else rules.min_tokens)


class Ledger:
    """Items of the context with their sizes, the outputs that may go, and those that went."""

    def __init__(self, rules: ShedRules, sizer: Sizer) -> None:
        self.rules = rules
        self._sizer = sizer
        self.items: list[Item] = []
        self.sums: list[float] = [0]
        """``sums[n]``: raw tokens of the first ``n`` items."""
        self.calls: dict[str, ToolCall] = {}
        self.outputs: dict[int, Output] = {}
        self.shed: dict[int, str] = {}
        """Markers that stand for outputs, by position, rising; a new dict after each move."""
        self.older = 0.0
        """What a move of older material would take out."""
        self.fullest = 0.0
        """What the fullest allowed move would take out."""
        self.already = 0.0
        """What the moves so far take out."""
        self.last_user = -1
        self.last_response = -1
        self.late: dict[int, int] = {}
        """Results that came late, each with where it stands in what is sent: right behind its response."""
        self.responses = 0
        """Responses that did not fail."""
        self._boundary = 0  # outputs before it are ripe: answered, and older than the protected tail
        self._ripe: list[int] = []  # positions, rising
        self._reads: dict[str, list[int]] = {}
        self._open: dict[str, int] = {}  # calls that wait for their result, with the position of their response
        self._newest = -1  # position of the newest message that is no result

    def extend(self, items: Iterable[Item]) -> None:
        """Take in new messages at the end."""
        for item in items:
            self._append(item)
        self._ripen()

    def extend_shed(self, item: Item) -> float:
        """Take in an output whose marker stands from before; gives the raw tokens that go away with it."""
        self._append(item)
        output = self.outputs.get(len(self.items) - 1)
        if output is not None:
            self.shed = {**self.shed, output.position: output.marker.text}
            self.already += output.saving
        self._ripen()
        return 0.0 if output is None else output.saving

    def raw(self, start: int = 0) -> float:
        """Raw tokens of the items from ``start`` on."""
        return self.sums[-1] - self.sums[start]

    def size(self, position: int) -> float:
        """Raw tokens of one message as it goes out now."""
        raw = self.sums[position + 1] - self.sums[position]
        return raw - self.outputs[position].saving if position in self.shed else raw

    def chosen(self, *, fullest: bool) -> list[int]:
        """Positions of a move, rising."""
        return [position for position in self._ripe if fullest or self._is_older(position)]

    def suffix(self) -> float:
        """Raw tokens, as they go out now, from the first output that the fullest move changes on; 0 without one."""
        return self.raw(self._ripe[0]) - self.shed_savings(self._ripe[0]) if self._ripe else 0.0

    def move(self, positions: Sequence[int]) -> float:
        """Put markers in the place of these outputs; gives the raw tokens that go away."""
        went = {position: self.outputs[position].marker.text for position in positions}
        gone = sum(self.outputs[position].saving for position in positions)
        self._ripe = [position for position in self._ripe if position not in went]
        self.shed = dict(sorted({**self.shed, **went}.items()))
        self.already += gone
        self._recount()
        return gone

    def shed_savings(self, start: int) -> float:
        """Raw tokens that the markers at positions from ``start`` on took out."""
        went = takewhile(lambda position: position >= start, reversed(self.shed))  # markers stand by rising position
        return sum(self.outputs[position].saving for position in went)

    def rename(self, old: Entry, new: Entry) -> None:
        """Let the items of ``old`` belong to ``new``: the same entry as its host has written it."""
        for position, item in enumerate(self.items):
            if item.entry is old and new.message is not None:
                summary = new.message if item.raw is None else item.message  # a cut may hold other messages as well
                self.items[position] = Item(entry=new, message=summary, edit=item.edit, raw=item.raw)

    def _append(self, item: Item) -> None:
        position, message = len(self.items), item.message
        self.items.append(item)
        if isinstance(message, ToolResult):
            self._result(position, item, message)
            return
        self._newest = position
        sent = not (isinstance(message, Assistant) and message.stop_reason == "error")
        self._weigh(item, sent=sent)
        match message:
            case User():
                self._user(position)
            case Assistant() if sent:
                self._answer(position, message)
                if self.rules.arguments and not message.failed:
                    self._arguments(position, item, message)
            case BashExecution():
                self._output(position, item, None)
            case _:
                pass

    def _weigh(self, item: Item, *, sent: bool) -> None:
        """Add the size of the newest message: nothing for what ``sendable`` leaves out."""
        self.sums.append(self.sums[-1] + (self._sizer(item.entry, item.message) if sent else 0))

    def _answer(self, position: int, message: Assistant) -> None:
        for call in tool_calls(message):
            self.calls[call.id] = call
            self._open[call.id] = position
        if not message.failed:
            self.last_response = position
            self.responses += 1

    def _arguments(self, position: int, item: Item, message: Assistant) -> None:
        """Note what a marker in the place of the response's long arguments would save."""
        tokens = argument_tokens(message, never=self.rules.never, entry_id=item.entry.id, tools=self.rules.marks.tools)
        if tokens <= self.rules.lowest_floor:
            return
        text = argument_marker(tokens, self.rules.reference_for(item.entry))
        marker = Marker(text=text, tokens=text_tokens(text), savings=max(0, tokens - text_tokens(text)))
        saving = self._saving(item, marker)
        if saving > 0:
            self.outputs[position] = Output(position=position, marker=marker, saving=saving, tokens=tokens)

    def _result(self, position: int, item: Item, message: ToolResult) -> None:
        """Take in a result; one that no sent call waits for is never sent."""
        asked = self._open.pop(message.tool_call_id, None)
        self._weigh(item, sent=asked is not None)
        if asked is None:
            return
        if asked != self._newest:
            self.late[position] = asked + 1
        call = self.calls[message.tool_call_id]
        if not message.is_error and self.rules.superseded_floor is not None:
            self._supersede(message, call)
        self._output(position, item, call)

    def _user(self, position: int) -> None:
        self.last_user = position
        self.older = self.fullest  # nothing that is ripe stands behind the newest message

    def _output(self, position: int, item: Item, call: ToolCall | None) -> None:
        tokens = estimate_tokens(item.message)
        if tokens <= self.rules.lowest_floor:
            return
        found = candidate_for(
            item.message,
            call,
            position=position,
            entry_id=item.entry.id,
            min_tokens=self.rules.lowest_floor,
            tokens=tokens,
            rules=self.rules.marks,
            never=self.rules.never,
        )
        marker = self._marker(found, item, call)
        if found is None or marker is None:
            return
        saving = self._saving(item, marker)
        if saving > 0:
            self.outputs[position] = Output(position=position, marker=marker, saving=saving, tokens=found.tokens)
            if found.kind == "read" and found.path is not None:
                self._reads.setdefault(found.path, []).append(position)

    def _marker(self, found: Candidate | None, item: Item, call: ToolCall | None) -> Marker | None:
        if found is None:
            return None
        reference = self.rules.reference_for(item.entry)
        return marker_for(found, item.message, call, reference, rules=self.rules.marks, resolve=self.rules.resolve)

    def _saving(self, item: Item, marker: Marker) -> float:
        after = replaced(item.message, marker.text)
        assert not isinstance(after, dict)
        return self.sums[-1] - self.sums[-2] - self._sizer(item.entry, after)  # pyright: ignore[reportArgumentType]

    def _supersede(self, message: ToolResult, call: ToolCall | None) -> None:
        """A whole new read, or an edit, makes the earlier reads of its file stale."""
        tool = tool_of(message.tool_name, self.rules.marks.tools)
        path = path_of(call, tool)
        if path is None or tool.kind not in ("read", "edit") or (tool.kind == "read" and is_partial(call)):
            return
        for position in self._reads.pop(path, ()):
            output = self.outputs[position]
            if position in self.shed or output.superseded:
                continue
            output.superseded = True
            if position >= self._boundary:
                continue
            if output.tokens <= self.rules.min_tokens:  # only being stale makes it large enough
                self._make_ripe(position)
            elif position >= self.last_user:
                self.older += output.saving

    def _ripen(self) -> None:
        """Move the boundary of what may be shed up to where it belongs now."""
        limit = self.last_response if self.rules.keep_unanswered else len(self.items)
        while self._boundary < limit and self.raw(self._boundary + 1) >= self.rules.protect:
            if self._boundary in self.outputs:
                self._make_ripe(self._boundary)
            self._boundary += 1

    def _make_ripe(self, position: int) -> None:
        output = self.outputs[position]
        if position in self.shed or not output.eligible(self.rules):
            return
        insort(self._ripe, position)
        self.fullest += output.saving
        if self._is_older(position):
            self.older += output.saving

    def _recount(self) -> None:
        """Sum up anew: running differences of floats would leave crumbs where nothing is left."""
        self.fullest = sum(self.outputs[position].saving for position in self._ripe)
        self.older = sum(self.outputs[position].saving for position in self._ripe if self._is_older(position))

    def _is_older(self, position: int) -> bool:
        return position < self.last_user or self.outputs[position].superseded


def is_partial(call: ToolCall | None) -> bool:
    """Whether a read asked for a part of its file only."""
    arguments = call.arguments if call is not None else None
    return not isinstance(arguments, dict) or bool({"offset", "limit", "start_line"} & arguments.keys())  # pyright: ignore[reportUnknownMemberType]
