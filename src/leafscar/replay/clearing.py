"""What another tool's rule has done to a context: which messages it changed, and what they weigh now (ADR 0080)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from msgspec import Struct, structs

from leafscar.compaction import Item
from leafscar.engine.ledger import Ledger
from leafscar.engine.sizers import Sizer, chars_sizer
from leafscar.model import Assistant, Entry, Message, Text, ToolCall, ToolResult, User
from leafscar.model.jsjson import utf16_length
from leafscar.model.messages import parts_of, text_of, tool_calls
from leafscar.replay.langchain import approximate_tokens
from leafscar.replay.rivals import (
    FRESH,
    ClearToolUses,
    LangChainClear,
    MaskLastN,
    OpencodePrune,
    Progress,
    Request,
    Result,
    Rule,
    advance,
)

__all__ = ["Clearing", "placeholder"]

_Key: TypeAlias = tuple[str, str]


def placeholder(rule: Rule, output: str) -> str:
    """Text that the tool of ``rule`` puts in the place of an output."""
    match rule:
        case MaskLastN():
            return f"Old environment output: ({len(output.splitlines())} lines omitted)"
        case LangChainClear():
            return "[cleared]"
        case OpencodePrune():
            return "[Old tool result content cleared]"
        case _:
            return "[cleared to save context]"  # the API does not say; the text of Anthropic's own sample


class _Output(Struct, frozen=True, kw_only=True):
    """One tool result: where it stands, and what stands there once it is cleared."""

    position: int
    message: ToolResult
    call: int | None
    """Position of the response that made the call, when it is the nearest one before it."""


class Clearing:
    """One context under a rule. Positions are the ledger's; ``overhead`` is system prompt and tools, in tokens."""

    def __init__(self, rule: Rule, sizer: Sizer, overhead: float) -> None:
        self.saved = 0.0
        """Tokens that the request is smaller by than its raw form."""
        self.moved = 0
        """Outputs that the newest call of :meth:`follow` cleared."""
        self.freed = 0.0
        """Tokens that went with them."""
        self.newest: list[int] = []
        """Positions of the outputs that were cleared last."""
        self._rule, self._sizer, self._overhead = rule, sizer, overhead
        self._inputs = isinstance(rule, ClearToolUses | LangChainClear) and rule.clear_tool_inputs
        self._ledger: Ledger | None = None
        self._sent: Mapping[int, int] | None = None
        self._changed: int | None = None
        self._keys: set[_Key] = set()
        self._forget()

    def follow(self, ledger: Ledger, *, cut: bool = False) -> None:
        """Take in what is new and clear what the rule clears now; after a ``cut`` everything is raw again."""
        self.moved, self.freed = 0, 0.0
        if ledger is not self._ledger:
            self._restart(ledger, cut=cut)
        self._take(ledger, cut=cut)
        request = Request(results=self._results, tokens=self._tokens(), prompts=self._prompts, ended=self._ended)
        indexes, self._progress = advance(self._rule, request, self._progress)
        self._clear(indexes)

    @property
    def boundary(self) -> int | None:
        """Where what was cleared ends: the first position that the next move can change; None before any move."""
        following = self._last + 1
        return self._first_of(following) if 0 < following < len(self._outputs) else None

    def kept(self, raw: int) -> int:
        """Leading messages with the bytes of the request before, of ``raw`` that are the same but for the rule."""
        if self._changed is None:
            return raw
        kept, self._changed = min(raw, self._changed), None
        return kept

    def size(self, position: int) -> float:
        """Tokens of one message as it goes out now."""
        assert self._ledger is not None
        return self._ledger.size(position) - self._less.get(position, 0.0)

    def version(self, position: int) -> int:
        """How often the message was changed."""
        return self._versions.get(position, 0)

    def _forget(self) -> None:
        self._results: list[Result] = []
        self._outputs: list[_Output] = []
        self._prompts: list[int] = []
        self._ended = 0
        self._taken = 0
        self._approximate = 0
        self._calls: dict[str, ToolCall] = {}
        self._response: int | None = None
        self._less: dict[int, float] = {}
        self._versions: dict[int, int] = {}
        self._gone: dict[int, set[str]] = {}
        self._progress: Progress = FRESH
        self._last = -1
        self.saved = 0.0

    def _restart(self, ledger: Ledger, *, cut: bool) -> None:
        """The context was projected again. Only opencode remembers what it cleared, and by the output itself."""
        self._sent, self._ledger = None if cut else self._versions, ledger
        self._forget()
        if cut or not isinstance(self._rule, OpencodePrune):
            self._keys = set()

    def _take(self, ledger: Ledger, *, cut: bool) -> None:
        known, again = len(self._prompts), self._taken == 0
        for position in range(self._taken, len(ledger.items)):
            self._add(position, ledger.items[position])
        self._taken = len(ledger.items)
        if again:
            self._ended = max(0, len(self._prompts) - 1)
            self._resume(len(self._results) if cut else self._restored())
        elif len(self._prompts) > known:
            self._ended = known

    def _resume(self, start: int) -> None:
        """Look no further back than the newest summary, or than what was cleared before; only opencode does so."""
        if isinstance(self._rule, OpencodePrune) and start:
            self._progress = structs.replace(FRESH, cleared=start, seen=start, edge=start)

    def _restored(self) -> int:
        """Clear again what was cleared before an edit of the context; gives how many results that settles."""
        again = [at for at in range(len(self._outputs)) if self._key(at) in self._keys]
        for at in again:
            self._clear_one(at)
        return again[-1] + 1 if again else 0

    def _add(self, position: int, item: Item) -> None:
        message = item.message
        if isinstance(self._rule, LangChainClear):
            self._approximate += approximate_tokens(message)
        match message:
            case User():
                self._prompts.append(len(self._results))
            case Assistant():
                self._response = position
                self._calls = {call.id: call for call in tool_calls(message)}
            case ToolResult():
                self._add_result(position, item, message)
            case _:
                pass

    def _add_result(self, position: int, item: Item, message: ToolResult) -> None:
        call = self._calls.get(message.tool_call_id)
        output = _Output(position=position, message=message, call=self._response if call else None)
        self._outputs.append(output)
        self._results.append(
            Result(
                tool=message.tool_name or (call.name if call else ""),
                tokens=self._counted(item.entry, message, call),
                is_error=message.is_error,
                is_owned=call is not None,
            )
        )

    def _counted(self, entry: Entry, message: ToolResult, call: ToolCall | None) -> float:
        """Tokens of a result by the counter of the rule's tool."""
        after = self._cleared(message)
        match self._rule:
            case OpencodePrune():
                return (utf16_length(text_of(message.content)) + 2) // 4
            case LangChainClear():
                own = approximate_tokens(message) - approximate_tokens(after)
                return own + self._input_tokens(entry, call, chars_sizer)
            case ClearToolUses():
                own = self._sizer(entry, message) - self._sizer(entry, after)
                return own + self._input_tokens(entry, call, self._sizer)
            case _:
                return 0.0

    def _input_tokens(self, entry: Entry, call: ToolCall | None, sizer: Sizer) -> float:
        if call is None or not self._inputs:
            return 0.0
        before, after = Assistant(content=(call,)), Assistant(content=(_emptied(call),))
        return sizer(entry, before) - sizer(entry, after)

    def _tokens(self) -> float:
        """Size of the request with nothing cleared, by the counter of the rule's tool."""
        if isinstance(self._rule, LangChainClear):
            return self._approximate
        assert self._ledger is not None
        return self._overhead + self._ledger.raw()

    def _cleared(self, message: ToolResult) -> ToolResult:
        return structs.replace(message, content=(Text(text=placeholder(self._rule, text_of(message.content))),))

    def _clear(self, indexes: Sequence[int]) -> None:
        before = self.saved
        for at in indexes:
            self._clear_one(at)
        self.moved, self.freed = len(indexes), self.saved - before
        self.newest = [self._outputs[at].position for at in indexes]
        first = min(map(self._first_of, indexes), default=None)
        if self._sent is not None:  # an edit of the context: most of this was cleared before
            self.moved, first = max(0, self.moved - len(self._sent)), self._first_difference(self._sent)
            self._sent = None
        if first is not None:
            self._changed = first if self._changed is None else min(first, self._changed)

    def _first_of(self, at: int) -> int:
        """First position that clearing a result changes."""
        output = self._outputs[at]
        return output.call if self._inputs and output.call is not None else output.position

    def _first_difference(self, sent: Mapping[int, int]) -> int | None:
        places = sorted({*sent, *self._versions})
        return next((at for at in places if sent.get(at) != self._versions.get(at)), None)

    def _clear_one(self, at: int) -> None:
        assert self._ledger is not None
        output = self._outputs[at]
        self._keys.add(self._key(at))
        self._last = max(self._last, at)
        self._change(output.position, self._cleared(output.message))
        if self._inputs and output.call is not None:
            gone = self._gone.setdefault(output.call, set())
            gone.add(output.message.tool_call_id)
            response = self._ledger.items[output.call].message
            assert isinstance(response, Assistant)
            self._change(output.call, _without_inputs(response, gone))

    def _key(self, at: int) -> _Key:
        assert self._ledger is not None
        output = self._outputs[at]
        return self._ledger.items[output.position].entry.id, output.message.tool_call_id

    def _change(self, position: int, message: Message) -> None:
        assert self._ledger is not None
        item = self._ledger.items[position]
        less = self._sizer(item.entry, item.message) - self._sizer(item.entry, message)
        self.saved += less - self._less.get(position, 0.0)
        self._less[position] = less
        self._versions[position] = self._versions.get(position, 0) + 1


def _without_inputs(message: Assistant, gone: set[str]) -> Assistant:
    parts = tuple(
        _emptied(part) if isinstance(part, ToolCall) and part.id in gone else part for part in parts_of(message.content)
    )
    return structs.replace(message, content=parts)


def _emptied(call: ToolCall) -> ToolCall:
    return structs.replace(call, arguments={})
