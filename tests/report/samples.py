"""A small deterministic factory of replay results."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from leafscar.replay.details import BillSide, CostlyOutput, EqualCuts, Held, Money, Needed, Share
from leafscar.replay.result import (
    Assumption,
    CutMark,
    Moment,
    PolicyResult,
    ReplayResult,
    SessionResult,
)

WINDOW = 200_000
CACHE = (
    "anthropic: prefixes end at breakpoints (at most 4 a request, look-back 20 blocks), read 0.1x, write 1.25x the "
    "input price, lives 300 s after its last use, at least 1,024 tokens"
)


def a_share(kind: str = "results", tool: str | None = "read", **changes: Any) -> Share:
    """One class of content that is half of the bill."""
    fields: dict[str, Any] = {
        "kind": kind, "tool": tool, "messages": 12, "tokens": 40_000.0, "sent": 900_000.0, "output": 0.0, "cost": 1.0,
        "units": 250_000.0, "share": 0.5,
    }  # fmt: skip
    return Share(**fields | changes)


def an_output(reference: str = "#73", **changes: Any) -> CostlyOutput:
    """One output that balanced would have shed and that was not needed."""
    fields: dict[str, Any] = {
        "reference": reference, "entry_id": "e1", "tool": "read", "path": "logs/app.log", "tokens": 8_300.0,
        "requests": 199, "cost": 1.12, "units": 223_000.0, "shed_at": 39, "last_used": None,
    }  # fmt: skip
    return CostlyOutput(**fields | changes)


def a_side(**changes: Any) -> BillSide:
    """One bill of two dollars."""
    fields: dict[str, Any] = {
        "uncached": 600.0, "read": 2e6, "written": 9e4, "output": 5e4, "cost": 2.0, "units": 5e5,
    }  # fmt: skip
    return BillSide(**fields | changes)


def a_money(**changes: Any) -> Money:
    """Half of two dollars for reading, the rest for calls, words and the system prompt."""
    rest = (("arguments", "edit", 0.3), ("text", None, 0.15), ("overhead", None, 0.05))
    fields: dict[str, Any] = {
        "shares": [a_share(), *(a_share(kind, tool, share=part, cost=2 * part, output=900.0)
                                for kind, tool, part in rest)],
        "outputs": [an_output(), an_output("#16", shed_at=29, last_used=163), an_output("#9", path=None, shed_at=None)],
        "output_count": 40, "recorded": a_side(cost=2.01), "modelled": a_side(), "sheddable": 0.54,
        "sheddable_at_peak": 0.61,
    }  # fmt: skip
    return Money(**fields | changes)


def a_held(**changes: Any) -> Held:
    """One pin, two outputs of a list, stale reads and plain thinking."""
    fields: dict[str, Any] = {
        "pins": (1, 52.0), "never": (2, 4_000.0), "superseded": (59, 57_100.0), "thinking": (7, 900.0), "binds": False,
        "way": "off",
    }  # fmt: skip
    return Held(**fields | changes)


def some_equal_cuts() -> list[EqualCuts]:
    """Compaction alone at three lines."""
    return [EqualCuts(policy=f"compaction:0.{at}0", cuts=cuts, cost=1.7 + cuts / 10, units=4e5 + cuts * 1e4)
            for at, cuts in ((9, 1), (7, 2), (5, 4))]  # fmt: skip


def a_moment(request: int = 1, **changes: Any) -> Moment:
    """One request of 10k tokens, nine tenths of them read from the cache."""
    fields: dict[str, Any] = {
        "request": request, "entry_id": f"e{request:07x}", "at": request * 20.0, "context": 10_000.0, "output": 300.0,
        "read": 9_000.0, "written": 1_000.0, "uncached": 0.0, "cost": 0.01, "units": 2_000.0, "inferred": True,
    }  # fmt: skip
    return Moment(**fields | changes)


def a_cut(request: int = 2, **changes: Any) -> CutMark:
    """One cut by threshold."""
    fields: dict[str, Any] = {
        "request": request, "before": 185_000.0, "after": 24_000.0, "summary_tokens": 1_500.0,
        "summariser_input": 160_000.0, "cost": 0.05, "reason": "threshold",
    }  # fmt: skip
    return CutMark(**fields | changes)


def a_policy(policy: str = "balanced", **changes: Any) -> PolicyResult:
    """One policy of a single request."""
    fields: dict[str, Any] = {
        "policy": policy, "recorded": policy == "none", "moments": [a_moment()], "cuts": [], "lines": {}, "cost": 1.5,
        "units": 500_000.0, "ratio": 0.75, "saving": 0.5, "hit_ratio": 0.9, "breaks": 0, "moves": 0, "peak": 10_000.0,
        "over_window": 0, "notes": [], "needed_later": Needed(outputs=91, needed=5, tokens=9e4, needed_tokens=3e3),
    }  # fmt: skip
    return PolicyResult(**fields | changes)


def a_session(policies: Sequence[PolicyResult] | None = None, **changes: Any) -> SessionResult:
    """One session whose baseline is ``none``."""
    fields: dict[str, Any] = {
        "path": "sessions/one.jsonl", "session_id": "0123abcd", "model": "claude-sonnet-4-5", "provider": "anthropic",
        "requests": 1, "messages": 3, "window": WINDOW, "window_source": "the model's own window", "baseline": "none",
        "error": 0.03, "policies": [a_policy("none", cost=2.0, ratio=1.0, saving=0.0), a_policy()]
        if policies is None else list(policies), "assumptions": [], "problems": [], "not_helped": [],
        "verdict": "balanced would have saved 25 %.", "money": a_money(), "equal_cuts": some_equal_cuts(),
        "held": a_held(),
    }  # fmt: skip
    return SessionResult(**fields | changes)


def a_result(*sessions: SessionResult, **changes: Any) -> ReplayResult:
    """One run."""
    fields: dict[str, Any] = {
        "verdict": "balanced would have saved $0.50 of $2.00.", "sessions": list(sessions), "skipped": [],
        "version": "0.1.0",
    }  # fmt: skip
    return ReplayResult(**fields | changes)


LINES = {
    "none": {},
    "none:never-cut": {},
    "compaction": {"threshold": 183_616.0},
    "compaction:0.70": {"threshold": 140_000.0},
    "classic": {"threshold": 183_616.0, "gate": 167_232.0},
    "balanced": {"shed": 140_000.0, "goal": 124_000.0, "threshold": 183_616.0},
    "fewest-cuts": {"shed": 140_000.0, "cut": 183_616.0},
    "thrifty": {"shed": 140_000.0, "goal": 124_000.0, "threshold": 183_616.0},
}
"""Lines of every policy on a window of 200,000 tokens."""


def simulated(policy: str, requests: int, growth: float, *, price: float | None = 3e-6) -> PolicyResult:
    """Walk a policy over requests that grow the context; the numbers are plausible, not leafscar's."""
    lines = LINES[policy]
    shed_at, cut_at = lines.get("shed"), lines.get("cut", lines.get("threshold"))
    if policy == "none":
        cut_at = 170_000.0
    context, read, moments, cuts = 9_000.0, 0.0, [], []
    for request in range(1, requests + 1):
        context += growth * (0.2 + (request * 7919 % 97) / 60)
        shed, shed_tokens, cause, cut = 0, 0.0, None, False
        missed = 0.0
        if cut_at is not None and context > cut_at:
            before, context, cut, cause, missed = context, 26_000.0 + request % 7 * 900, True, "cut", read * 0.8
            cuts.append(a_cut(request, before=before, after=context, cost=price and before * price * 0.2,
                              reason="recorded" if policy == "none" else "threshold"))  # fmt: skip
            read = 9_000.0
        elif shed_at is not None and context > shed_at and len(moments) % 3 == 0:
            shed_tokens = context - lines.get("goal", shed_at - 9_000)
            context, shed, cause, missed = context - shed_tokens, 2 + request % 9, "shape", 60_000.0
            read = context - 60_000.0
        elif request % 53 == 0:
            cause, missed, read = "expired", read, 0.0
        written = max(context - read, 0.0)
        units = 0.1 * read + 1.25 * written
        moments.append(a_moment(
            request, context=context, read=read, written=written, uncached=0.0, units=units,
            cost=price and units * price, inferred=policy != "none", shed=shed, shed_tokens=shed_tokens, cut=cut,
            break_cause=cause, missed=missed,
        ))  # fmt: skip
        read = context
    inputs = sum(moment.context for moment in moments)
    bought = sum(moment.units for moment in moments)
    return a_policy(
        policy, moments=moments, cuts=cuts, lines=lines, units=bought, cost=price and bought * price,
        ratio=None, saving=None, hit_ratio=sum(moment.read or 0 for moment in moments) / inputs if inputs else None,
        breaks=sum(moment.break_cause is not None for moment in moments),
        moves=sum(moment.shed > 0 for moment in moments), peak=max((moment.context for moment in moments), default=0),
        over_window=sum(moment.context > WINDOW for moment in moments),
    )  # fmt: skip


def a_long_session(requests: int, growth: float = 2e3, *, price: float | None = 3e-6, **changes: Any) -> SessionResult:
    """All eight policies over one session, compared with what was recorded."""
    policies = [simulated(policy, requests, growth, price=price) for policy in LINES]
    base = policies[0].units or 1
    compared = [_compared(policy, base, 0.03, price) for policy in policies]
    fields: dict[str, Any] = {
        "requests": requests, "messages": requests * 2 + 1,
        "window_source": "the price list states 200,000 for claude-sonnet-4-5",
        "assumptions": [
            Assumption(name="cache model", value=CACHE, source="prices"),
            Assumption(name="summary", value="1,500 tokens", source="assumed"),
            Assumption(name="overhead", value="8,412 tokens of system prompt and tools", source="measured"),
        ],
        "problems": [f"line {line}: not JSON, passed over" for line in (17, 30, 31, 40)],
        "not_helped": ["compaction:0.70 cuts more often and costs more: every cut sends the kept tail again."],
        "verdict": "balanced would have cost 12 % less than what was recorded, with 2 cuts fewer.",
    }  # fmt: skip
    return a_session(compared, **fields | changes)


def _compared(policy: PolicyResult, base: float, error: float, price: float | None) -> PolicyResult:
    fields = {name: getattr(policy, name) for name in policy.__struct_fields__}
    ratio = (policy.units or 0) / base
    known = price is not None and abs(ratio - 1) > error
    notes = ["control was off for 3 requests: no window was stated"] if policy.policy == "classic" else []
    saving = (base - (policy.units or 0)) * (price or 0) if known else None
    return PolicyResult(**fields | {"ratio": ratio, "saving": saving, "notes": notes})


RESULTS = {
    "nothing": a_result(verdict="", skipped=["a.txt: not a session"]),
    "no policy": a_result(a_session([])),
    "no request": a_result(a_session([a_policy(moments=[], peak=0.0)], requests=0)),
    "one request": a_result(a_session()),
    "odd numbers": a_result(a_session([
        a_policy("none", cost=math.nan, units=None, ratio=None, saving=None, hit_ratio=None, peak=math.inf,
                 moments=[a_moment(1, context=math.nan), a_moment(2, context=math.inf), a_moment(3, context=0.0)]),
        a_policy(cost=None, ratio=math.inf, lines={"shed": math.nan}, cuts=[a_cut(before=math.nan, after=math.inf)]),
    ], window=0, error=None, model=None, money=a_money(
        shares=[a_share(share=None, cost=None, tokens=0.0, sent=math.nan), a_share("injected", None, units=math.inf)],
        outputs=[an_output(tokens=math.nan, cost=None)], recorded=None, sheddable=None,
        modelled=a_side(read=None, cost=None, units=None)))),
    "several": a_result(a_long_session(12), a_long_session(130, path="b.jsonl"), a_long_session(40, price=None)),
    "different baselines": a_result(a_session(), a_session(baseline="compaction")),
}  # fmt: skip
"""Results of every kind, the odd ones included, by what is special about them."""
