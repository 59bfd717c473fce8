"""leafscar's whole document on a case."""

from __future__ import annotations

from typing import Any

from leafscar.compaction import Texts

from .branch_document import probe_branch
from .document import Case, entries_of, probe_pure
from .engines import Engine
from .session_document import probe_session
from .summariser import Stub

__all__ = ["answer"]


def answer(case: Case, engine: Engine, texts: Texts) -> dict[str, Any]:
    """Give every field that pi's document has; raises :class:`Crash` where pi would give none."""
    entries = entries_of(case)
    stub = Stub(case, engine)
    out = probe_pure(case, engine, texts)
    if case.get("entries") is not None or case.get("session"):
        out |= probe_session(case, entries, engine, texts, stub)
    if case.get("branch"):
        out["branch"] = probe_branch(case, entries, engine, texts, stub)
    return out
