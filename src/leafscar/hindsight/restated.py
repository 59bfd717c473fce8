"""Which instruction a user gave once more."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from leafscar.hindsight.rules import Rule, Words, is_said, significant

__all__ = ["Restated"]


class Restated:
    """Every instruction of a path, to be found by its words."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        self._rules = [(rule, significant(rule.text)) for rule in rules]
        self._with: dict[str, list[int]] = {}
        for number, (_, words) in enumerate(self._rules):
            for word in words:
                self._with.setdefault(word, []).append(number)

    def after(self, words: Words, position: int) -> Rule | None:
        """Give the first instruction behind ``position`` that says most of ``words``."""
        shared = Counter(number for word in words for number in self._with.get(word, ()))
        for number in sorted(shared):
            rule, own = self._rules[number]
            if rule.position > position and is_said(words, own):
                return rule
        return None
