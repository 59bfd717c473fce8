"""Keeps long-running LLM agents inside their context window.

The names below are the public API; each is imported when it is first used, so ``import leafscar`` stays light.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from leafscar.engine import Controller
    from leafscar.errors import LeafscarError
    from leafscar.session import Found, Hit, Recalled, Session, load, recall, search

__all__ = [
    "Controller",
    "Found",
    "Hit",
    "LeafscarError",
    "Recalled",
    "Session",
    "__version__",
    "load",
    "recall",
    "search",
]

__version__ = "0.1.0"

_HOMES = {
    "Controller": "leafscar.engine",
    "Found": "leafscar.session",
    "Hit": "leafscar.session",
    "LeafscarError": "leafscar.errors",
    "Recalled": "leafscar.session",
    "Session": "leafscar.session",
    "load": "leafscar.session",
    "recall": "leafscar.session",
    "search": "leafscar.session",
}
_ROOMS = ("compaction", "engine", "estimate", "hindsight", "model", "pruning", "session")


def __getattr__(name: str) -> object:
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    if name in _ROOMS:
        return importlib.import_module(f"leafscar.{name}")
    raise AttributeError(f"module 'leafscar' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted((*__all__, *_ROOMS))
