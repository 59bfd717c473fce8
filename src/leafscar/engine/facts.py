"""What holds for one request: window, reserve, and the lines drawn from them (docs/policies.md)."""

from __future__ import annotations

from msgspec import Struct

from leafscar.compaction.thresholds import derive_reserve, keep_recent
from leafscar.engine.policy import Policy

__all__ = ["Facts", "Lines", "resolve_lines"]

_DEFAULT_RESERVE = 16_384


class Facts(Struct, frozen=True, kw_only=True):
    """Facts of model and settings, resolved anew for each request."""

    window: int | None
    """The model's context window in tokens; None or 0 when unknown."""
    cap: int | None = None
    """A smaller window that the host or the user set, in tokens."""
    reserve_tokens: int = _DEFAULT_RESERVE
    """``compaction.reserveTokens``; 0 is legal."""
    reserve_is_set: bool = False
    """Whether a settings file states it."""
    max_output: int = 0
    """Most tokens that the model may answer with; 0 when unknown."""
    compaction_enabled: bool = True
    """``compaction.enabled``: automatic cuts and the gate; pruning goes on without."""
    pruning_enabled: bool = True
    """``pruning.enabled``."""
    bound_thinking: bool = False
    """Whether the model binds each thinking block to everything before it (docs/policies.md)."""
    thinking_way: str = "off"
    """How moves stay legal on such a model: off (no moves), drop_block, strip."""


class Lines(Struct, frozen=True, kw_only=True):
    """Lines of one request, in tokens. ``off`` says why control does nothing, or is empty."""

    window: int
    real_window: int
    reserve: int
    threshold: int
    """T = window - reserve."""
    gate: int
    """T - reserve_tokens: what a move must reach for it to win over a cut."""
    payback: int
    """From here on a move is made when it pays for itself."""
    shed: int
    goal: int
    cut: int
    batch: int
    """Smallest move."""
    cold_batch: int
    protect: int
    """Newest tokens that stay raw."""
    keep: int
    """Newest tokens that a cut keeps."""
    off: str = ""


def resolve_lines(facts: Facts, policy: Policy) -> Lines:
    """Draw the lines of one request."""
    real = facts.window or 0
    window = min(real, facts.cap) if facts.cap and real else real or (facts.cap or 0)
    if window <= 0:
        return _off(real, "the context window is unknown: give --window or windowCap")
    reserve = _reserve(facts, policy, window)
    threshold = window - reserve
    if threshold <= 0:
        return _off(real, f"reserve {reserve:,} leaves nothing of a window of {window:,}")
    return Lines(
        window=window,
        real_window=real or window,
        reserve=reserve,
        threshold=threshold,
        gate=threshold - facts.reserve_tokens,
        payback=_share(policy.payback_fraction, window, threshold),
        shed=_share(policy.shed_fraction, window, threshold),
        goal=min(int(policy.goal_fraction * window), threshold - int(policy.goal_margin * window)),
        cut=_share(policy.cut_fraction, window, threshold),
        batch=_batch(policy.batch_tokens, window, policy.batch_divisor),
        cold_batch=_batch(policy.cold_tokens, window, policy.cold_divisor),
        protect=min(policy.protect_tokens, threshold // policy.protect_divisor),
        keep=keep_recent(threshold),
    )


def _reserve(facts: Facts, policy: Policy, window: int) -> int:
    response = derive_reserve(window, facts.max_output).reserve
    if policy.own_rules:
        return facts.reserve_tokens if facts.reserve_is_set else response
    return facts.reserve_tokens if window > facts.reserve_tokens else response


def _share(fraction: float, window: int, threshold: int) -> int:
    return min(round(fraction * window), threshold)


def _batch(tokens: int, window: int, divisor: int) -> int:
    return max(1, min(tokens, window // divisor))  # a move takes something out, however small the window


def _off(real: int, why: str) -> Lines:
    return Lines(
        window=0,
        real_window=real,
        reserve=0,
        threshold=0,
        gate=0,
        payback=0,
        shed=0,
        goal=0,
        cut=0,
        batch=0,
        cold_batch=0,
        protect=0,
        keep=0,
        off=why,
    )
