"""What is known of a whole path before its cuts are looked at one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Literal

from leafscar.compaction.pins import PIN_LABEL
from leafscar.estimate import estimate_tokens
from leafscar.hindsight.files import touches_of
from leafscar.hindsight.lost import Need
from leafscar.hindsight.restated import Restated
from leafscar.hindsight.rules import Rule, rules_of
from leafscar.hindsight.tasks import is_task_list
from leafscar.hindsight.walk import Done, UseKind, walked
from leafscar.model import Entry
from leafscar.model.shapes import as_text
from leafscar.pruning.tools import ToolTable

__all__ = ["Story"]

_CLEARED = ("[Old tool result content cleared]", "[Compacted history content evicted")
"""What hosts write into a recording in the place of an output that they threw away."""


class Story:
    """A path with its calls, files, instructions and lists of tasks."""

    def __init__(
        self, entries: list[Entry], *, tools: ToolTable, cwd: str, reference_for: Callable[[Entry], str]
    ) -> None:
        walk = walked(entries, tools=tools, cwd=cwd)
        self.entries = entries
        self.tools = tools
        self.reference_for = reference_for
        self.answers: dict[int, Done] = {done.answer: done for done in walk.done}
        self.touches = touches_of(walk.done)
        self.touched: dict[int, list[tuple[str, int]]] = {}
        """By position of an answer: the files that its call touched, each with the index of the touch."""
        for path, touches in self.touches.items():
            for index, touch in enumerate(touches):
                self.touched.setdefault(touch.done.answer, []).append((path, index))
        self.lists = [done for done in walk.done if done.call is not None and is_task_list(done.call)]
        self.rules: dict[int, list[Rule]] = {}
        for rule in rules_of(enumerate(entries)):
            self.rules.setdefault(rule.position, []).append(rule)
        self.restated = Restated(rule for rules in self.rules.values() for rule in rules)
        self.pinned = frozenset(_pinned(entries))
        self._uses = walk.uses

    def is_held(self, position: int) -> bool:
        """Whether the recording still holds the output at ``position``."""
        done = self.answers.get(position)
        return done is None or not done.text.startswith(_CLEARED)

    def tokens(self, position: int) -> int | None:
        """Size of the message at ``position``; None where the recording no longer holds it."""
        message = self.entries[position].message
        return None if message is None or not self.is_held(position) else estimate_tokens(message)

    def uses(self, position: int, cut: int) -> Iterator[Need]:
        """What needed the output at ``position`` after the cut."""
        for (at, kind), answer in self._uses[self.entries[position].id].items():
            if at > cut:
                yield self.need(kind, at, answer)

    def need(self, kind: UseKind | Literal["said-again"], at: int, answer: int) -> Need:
        """One need: made at ``at``, met by the entry at ``answer``."""
        entry = self.entries[answer]
        brought = self.tokens(answer) if kind in ("re-read", "re-run", "recalled") else None
        return Need(kind=kind, position=at, entry_id=entry.id, reference=self.reference_for(entry), tokens=brought)


def _pinned(entries: Iterable[Entry]) -> Iterator[str]:
    labels = {as_text(each.get("targetId")): as_text(each.get("label")) for each in entries if each.type == "label"}
    return (id_ for id_, label in labels.items() if id_ is not None and (label or "").strip() == PIN_LABEL)
