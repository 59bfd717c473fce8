"""Whether pruning makes an automatic cut needless (docs/pruning.md, docs/adr/0025-gate-new-savings.md)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Container, Iterable

    from leafscar.pruning.plan import PruneRecord

__all__ = ["GateDecision", "GateReason", "gate", "new_savings"]

GateReason: TypeAlias = Literal["threshold", "manual", "overflow"]
"""Why a cut is about to run."""


class GateDecision(Struct, frozen=True, kw_only=True):
    """What the gate decided, with every number it looked at (tokens)."""

    cancel: bool
    """Whether the cut is called off because pruning is enough."""
    threshold: float
    """Largest ``estimated_after`` that still cancels: the window less twice the reserve; may be negative."""
    estimated_after: float
    """What the next request would hold with the new savings."""
    reason: str
    """Why the cut was about to run; only ``threshold`` can be cancelled."""
    tokens_before: float
    pruned_savings: float
    context_window: float
    reserve_tokens: float


def gate(
    tokens_before: float,
    pruned_savings: float,
    context_window: float,
    reserve_tokens: float,
    reason: GateReason | str,
) -> GateDecision:
    """Decide about one cut.

    ``pruned_savings`` are savings that the request behind ``tokens_before`` did not have yet (:func:`new_savings`):
    savings that its measured usage already contains would be counted twice.
    """
    threshold = context_window - 2 * reserve_tokens
    after = tokens_before - pruned_savings
    return GateDecision(
        cancel=reason == "threshold" and after <= threshold,
        threshold=threshold,
        estimated_after=after,
        reason=reason,
        tokens_before=tokens_before,
        pruned_savings=pruned_savings,
        context_window=context_window,
        reserve_tokens=reserve_tokens,
    )


def new_savings(records: Iterable[PruneRecord], already: Container[str]) -> int:
    """Tokens saved by the records whose reference is not among those ``already`` pruned in the measured request."""
    return sum(record.savings_tokens for record in records if record.reference not in already)
