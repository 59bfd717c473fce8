"""One walk along a path: what each answered call did, and which earlier output it needed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, TypeAlias

from msgspec import Struct

from leafscar.errors import BadReference
from leafscar.hindsight.acts import WHOLE, Act, Change, act_of, run_of
from leafscar.hindsight.paths import located
from leafscar.hindsight.shown import Output, ShownFile
from leafscar.model import Assistant, BashExecution, Entry, ToolCall, ToolResult
from leafscar.model.messages import text_of, tool_calls
from leafscar.pruning.reference import parse_reference
from leafscar.pruning.tools import ToolTable

__all__ = ["Done", "UseKind", "Walk", "last_shown", "said", "walked"]

UseKind: TypeAlias = Literal["re-read", "re-run", "edited", "recalled"]
"""How an output was needed again."""

_UNCHANGED = "File unchanged since last read"
"""How Claude Code answers a read whose text stands in the context already."""
_CODEX_HEAD = 512
"""Characters within which Codex states times and ids before an output."""
_NOTE_LINES = 2
"""Lines at the end of a read that may be a tool's note, such as where to read on."""


class Done(Struct, frozen=True, kw_only=True):
    """One call that was answered."""

    at: int
    """Index of the entry that makes the call."""
    answer: int
    """Index of the entry that answers it."""
    call: ToolCall | None
    """None for a command that the user ran, and for an answer whose call is not on the path."""
    act: Act
    text: str
    """What was answered."""
    failed: bool


def walked(path: Sequence[Entry], *, tools: ToolTable, cwd: str) -> Walk:
    """Walk along a path once."""
    walk = Walk(tools, located(cwd))
    for position, entry in enumerate(path):
        walk.take(position, entry)
    return walk


class Walk:
    """What the entries so far did."""

    def __init__(self, tools: ToolTable, cwd: str) -> None:
        self.uses: dict[str, dict[tuple[int, UseKind], int]] = {}
        """By entry id of an output: calls that needed it, each with the index of its answer."""
        self.done: list[Done] = []
        """Answered calls in the order of their answers."""
        self._tools = tools
        self._cwd = cwd
        self._calls: dict[str, tuple[int, ToolCall]] = {}
        self._files: dict[str, ShownFile] = {}
        self._answers: dict[str, Output] = {}  # the newest output of each request
        self._outputs: dict[str, Output] = {}  # by every reference to them
        self._changed_at = -1
        self._newest_key: str | None = None

    def take(self, position: int, entry: Entry) -> None:
        """Take in the next entry."""
        message = entry.message
        match message:
            case ToolResult():
                at, call = self._calls.pop(message.tool_call_id, (position, None))
                act = Act() if call is None else act_of(call, self._tools, self._cwd)
                output = self._output(entry, position, text_of(message.content))
                self._answered(at, call, act, output, failed=message.is_error)
            case BashExecution():
                act, output = run_of(message.command, self._cwd), self._output(entry, position, message.output)
                self._answered(position, None, act, output, failed=False)
            case Assistant():
                for call in tool_calls(message):
                    self._calls[call.id] = (position, call)
            case _:
                pass

    def _output(self, entry: Entry, position: int, text: str) -> Output:
        self.uses.setdefault(entry.id, {})
        output = self._outputs[entry.id] = Output(entry.id, position, text)
        if entry.line:
            self._outputs.setdefault(f"#{entry.line}", output)
        return output

    def _answered(self, at: int, call: ToolCall | None, act: Act, output: Output, *, failed: bool) -> None:
        """Take in a call made at ``at`` that is answered now: only what was answered has happened."""
        self.done.append(Done(at=at, answer=output.position, call=call, act=act, text=output.text, failed=failed))
        if act.recalls is not None:
            self._recall(at, act.recalls, output)
        for change in act.changes:
            self._change(at, change, output, failed=failed)
        if act.shows and not failed:
            self._read(at, act, output)
        elif act.key is not None and not act.shows:
            self._run(at, act.key, output)
        self._newest_key = act.key

    def _use(self, output: Output, at: int, kind: UseKind, answer: Output) -> None:
        self.uses[output.entry_id].setdefault((at, kind), answer.position)

    def _recall(self, at: int, ref: str, answer: Output) -> None:
        try:
            named = self._outputs.get(parse_reference(ref).target)
        except BadReference:
            return
        if named is not None and named.position < at:
            self._use(named, at, "recalled", answer)

    def _change(self, at: int, change: Change, answer: Output, *, failed: bool) -> None:
        file = self._files.get(change.path)
        for needed in () if file is None or change.whole else _needed(file, change.old, before=at):
            self._use(needed, at, "edited", answer)
        if failed:
            return
        self._changed_at = answer.position
        if file is not None:
            file.changed_at = answer.position
            if change.whole:
                file.forget()

    def _read(self, at: int, act: Act, output: Output) -> None:
        repeated = output.text.startswith(_UNCHANGED)
        same = repeated or self._is_same(act.key, output)
        for path, first, asked in act.shows:
            last = asked if asked is not None else last_shown(output.text, first, alone=len(act.shows) == 1)
            file = self._files.setdefault(path, ShownFile())
            for owner in file.needed_by(first, last) if same else ():
                if file.changed_at < owner.position < at:
                    self._use(owner, at, "re-read", output)
            if not repeated:
                file.show(first, last, output)
        if not repeated and act.key is not None:
            self._answers[act.key] = output

    def _run(self, at: int, key: str, output: Output) -> None:
        before = self._answers.get(key)
        # the same once more, with nothing between, waits for something new: what it asks stands right above
        waits = key == self._newest_key or not said(output.text).strip()
        if before is not None and self._changed_at < before.position < at and not waits and self._is_same(key, output):
            self._use(before, at, "re-run", output)
        self._answers[key] = output

    def _is_same(self, key: str | None, output: Output) -> bool:
        """Whether the newest answer to the same request, if there is one, said the same."""
        before = self._answers.get(key or "")
        return before is None or said(before.text) == said(output.text)


def _needed(file: ShownFile, old: tuple[str, ...], *, before: int) -> Iterable[Output]:
    """Outputs that an edit needed, each once; what was shown after the call was made is none of them."""
    found = dict.fromkeys(file.needed_for(text) for text in old or ("",))
    return [output for output in found if output is not None and output.position < before]


def last_shown(text: str, first: float, *, alone: bool) -> float:
    """Last line that a read without a limit shows; not known for several files in one, and for no text."""
    body = said(text)
    return max(first, first + body.count("\n") - _NOTE_LINES) if body and alone else WHOLE


def said(text: str) -> str:
    """Output without the times and ids that Codex puts before it."""
    head, found, _ = text[:_CODEX_HEAD].partition("\nOutput:\n")
    return text[len(head) + len(found) :] if found else text
