"""The shape of a recording: a recipe begins a story of turns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .demo import Demo
    from .migrate import Work
    from .steps import Step


@dataclass
class Turn:
    """A prompt, what the model does with it, and how long the user waited before it."""

    prompt: str
    steps: Iterator[Step] = field(default_factory=lambda: iter(()))
    gap: float = 0
    kind: str = "prompt"


@dataclass(frozen=True)
class Recipe:
    """One recording."""

    name: str
    version: str
    model: str
    window: int
    start_ms: int
    seed: int
    bugs: dict[str, str]
    begin: Callable[[Demo], tuple[Work, list[Turn]]]
    settings: dict = field(default_factory=dict)
