"""What a replay found: plain structs, JSON-shaped, the one input of every view (docs/replay.md).

Tokens are floats because sizes in a what-if are inferred; None is *unknown*, never 0.
"""

from __future__ import annotations

from msgspec import Struct

from leafscar.replay.details import EqualCuts, Held, Money, Needed
from leafscar.replay.numbers import margin_of

__all__ = ["Assumption", "CutMark", "Moment", "PolicyResult", "ReplayResult", "SessionResult"]


class Moment(Struct, frozen=True, kw_only=True):
    """One provider request under one policy."""

    request: int
    """1-based number of the request in the session."""
    entry_id: str
    """Entry of the recorded response."""
    at: float | None
    """Seconds since the session's first request; None when the recording does not say."""
    context: float | None
    """Input side of the request in tokens: overhead and every message as it would go out; None when a recording does
    not say (policy ``none`` only)."""
    output: float
    """Output tokens, as recorded."""
    read: float | None
    """Input tokens read from the cache; None when the recording does not say (policy ``none`` only)."""
    written: float | None
    """Input tokens written to the cache."""
    uncached: float | None
    """Input tokens that were neither."""
    cost: float | None
    """Dollars of this request, the summariser's calls before it included; None without a price."""
    units: float
    """The same in input-token equivalents of the cache model, always known for virtual policies."""
    inferred: bool
    """Whether ``context`` is a sum of inferred sizes rather than the provider's own count."""
    shed: int = 0
    """Outputs newly replaced by markers in this request."""
    shed_tokens: float = 0
    """Tokens that this move took out."""
    cut: bool = False
    """Whether a cut was made just before this request."""
    break_cause: str | None = None
    """Why cached tokens had to be sent again: shape, cut, expired, model; None when nothing broke. What had expired
    before a move or a cut counts as expired."""
    missed: float = 0
    """Tokens that were cached before and were sent again."""


class CutMark(Struct, frozen=True, kw_only=True):
    """One cut under one policy."""

    request: int
    """The request just after it (1-based)."""
    before: float
    """Context tokens that the cut answered to."""
    after: float | None
    """Context tokens of the next request; None when there was none."""
    summary_tokens: float
    """Tokens of the summary, measured or assumed."""
    summariser_input: float
    """Tokens that the summariser read."""
    cost: float | None
    """Dollars of the summariser's calls; None without a price or when the recording does not say."""
    reason: str
    """recorded, threshold, pressure, overflow."""


class PolicyResult(Struct, frozen=True, kw_only=True):
    """One policy over one session."""

    policy: str
    """Name as given: ``none``, ``none:never-cut``, ``balanced``, ``compaction:0.70``, …"""
    recorded: bool
    """True for ``none``: these are the recording's own numbers."""
    moments: list[Moment]
    cuts: list[CutMark]
    lines: dict[str, float]
    """Lines to draw, in tokens: ``threshold``, ``shed``, ``goal``, ``gate``, ``cut`` as far as the policy has them."""
    cost: float | None
    """Dollars of the whole session; None without a price."""
    units: float | None
    """Input-token equivalents of the whole session; None when the recording does not tell its cache use."""
    ratio: float | None
    """Cost (or units) divided by that of the session's baseline; None when unknown."""
    saving: float | None
    """Dollars saved against the baseline (negative: dearer); None when unknown or within ``error``."""
    hit_ratio: float | None
    """Share of input tokens that were read from the cache, 0 to 1."""
    breaks: int
    """Requests that sent cached tokens again."""
    moves: int
    """Requests in which outputs were newly replaced by markers."""
    peak: float | None
    """Largest context in tokens; None when the recording states none."""
    over_window: int
    """Requests larger than the window: no provider would have taken them."""
    shape_breaks: int = 0
    """Of ``breaks`` those with the cause ``shape``: the policy itself changed what was cached."""
    notes: list[str]
    """Sentences for this row: control was off and why, the loop breaker, …"""
    off: list[str] = []
    """Sentences: what of the policy the settings, or the model, did not let happen."""
    needed_later: Needed | None = None
    """What of the outputs that it took out was used again later; None when that is not known."""
    rule: str = ""
    """The other tool's rule that the row follows (``mask-last-n``, …); empty for policies of ours."""


class Assumption(Struct, frozen=True, kw_only=True):
    """One thing that the numbers rest on."""

    name: str
    value: str
    source: str
    """measured, recorded, flag, settings, inferred, prices, assumed."""


class SessionResult(Struct, frozen=True, kw_only=True):
    """All policies over one session."""

    path: str
    session_id: str
    model: str | None
    provider: str | None
    requests: int
    messages: int
    cuts: int = 0
    """Cuts that the recording holds."""
    window: int
    """Tokens."""
    window_source: str
    """A sentence: where the window comes from."""
    baseline: str
    """Policy that ratios and savings refer to."""
    error: float | None
    """Share by which the cache model misses the recorded bill of this session (0.03 = 3 %); None when unknown."""
    policies: list[PolicyResult]
    assumptions: list[Assumption]
    problems: list[str]
    """What reading went around, in one line each."""
    not_helped: list[str]
    """Sentences: what would not help here, and why."""
    verdict: str
    """The result in one sentence."""
    money: Money | None = None
    """Where the money of the session as it was went."""
    equal_cuts: list[EqualCuts] = []
    """``compaction`` at other lines, for comparisons at equal cuts; empty unless asked for."""
    held: Held | None = None
    """What stays raw, and what may go sooner."""

    @property
    def margin(self) -> float | None:
        """Share that a difference must exceed to be claimed; None when the error is unknown."""
        return margin_of(self.error)


class ReplayResult(Struct, frozen=True, kw_only=True):
    """One run of ``leafscar replay``."""

    verdict: str
    """The result of the whole run in one sentence."""
    sessions: list[SessionResult]
    skipped: list[str]
    """Files that could not be replayed, with the reason, one line each."""
    version: str
    """Version of leafscar."""
    not_helped: list[str] = []
    """Sentences: sessions that the default would not make cheaper, and why; empty for a single session."""
