"""Results of a replay for tests of what is said about them."""

from __future__ import annotations

from typing import Any

from leafscar.replay.details import Needed
from leafscar.replay.result import CutMark, Moment, PolicyResult, SessionResult

WINDOW = 100_000
SHED = {"threshold": 83_000.0, "shed": 70_000.0, "goal": 62_000.0}
CUT = {"threshold": 83_000.0, "cut": 83_000.0}
GATE = {"threshold": 83_000.0, "gate": 67_000.0}
NOTHING_GONE = Needed(outputs=0, needed=0, tokens=0.0, needed_tokens=0.0)
MARK = CutMark(
    request=2, before=9.0, after=5.0, summary_tokens=1.0, summariser_input=1.0, cost=None, reason="threshold"
)
MOMENT = Moment(
    request=1, entry_id="e", at=None, context=9.0, output=1.0, read=0.0, written=0.0, uncached=9.0, cost=None,
    units=9.0, inferred=True,
)  # fmt: skip


def row(policy: str = "balanced", **changes: Any) -> PolicyResult:
    """One row that cost 8 dollars."""
    fields: dict[str, Any] = {
        "policy": policy, "recorded": False, "moments": [MOMENT] * 20, "cuts": [], "lines": SHED, "cost": 8.0,
        "units": 800.0, "ratio": None, "saving": None, "hit_ratio": 0.9, "breaks": 0, "moves": 0, "peak": 50_000.0,
        "over_window": 0, "notes": [], "off": [], "needed_later": NOTHING_GONE,
    }  # fmt: skip
    return PolicyResult(**fields | changes)


def session(*rows: PolicyResult, **changes: Any) -> SessionResult:
    """One session of a run."""
    fields: dict[str, Any] = {
        "path": "s.jsonl", "session_id": "", "model": None, "provider": None, "requests": 20, "messages": 60,
        "cuts": 2, "window": WINDOW, "window_source": "", "baseline": "none", "error": 0.02, "policies": list(rows),
        "assumptions": [], "problems": [], "not_helped": [], "verdict": "its own sentence",
    }  # fmt: skip
    return SessionResult(**fields | changes)
