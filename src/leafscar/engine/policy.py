"""The named policies: when level 1 sheds and when level 2 cuts (docs/policies.md, ADR 0005)."""

from __future__ import annotations

from msgspec import Struct, structs

from leafscar.config import parse_fraction
from leafscar.errors import PolicyError

__all__ = ["DEFAULT_POLICY", "POLICIES", "Policy", "parse_policy"]


class Policy(Struct, frozen=True, kw_only=True):
    """One policy as data. Fractions are of the window; every line is capped at the threshold T."""

    name: str
    sheds: str = "never"
    """never | sticky (all that is allowed, on every request above T until a cut) | batch (one move at a time)."""
    cuts: str = "never"
    """never | above-line | unless-shed (above the shed line, when no move brings the request under the goal) |
    gate (above T, unless the move brings it to T - reserve_tokens)."""
    shed_fraction: float = 0.75
    """Above it a ``batch`` policy moves under pressure."""
    cut_fraction: float = 1.0
    """Line of an ``above-line`` policy."""
    goal_fraction: float = 0.60
    """What a move under pressure must reach."""
    goal_margin: float = 0.08
    """Share of the window that must stay free below T after such a move."""
    must_reach_goal: bool = True
    """Whether a move under pressure that misses the goal is not made (the cut is, instead)."""
    batch_tokens: int = 40_000
    """Smallest move: ``min(batch_tokens, window // batch_divisor)`` tokens."""
    batch_divisor: int = 8
    cold_tokens: int = 2_000
    """Smallest move while the provider's cache is cold anyway."""
    cold_divisor: int = 100
    moves_when_cold: bool = True
    """Whether a ``batch`` policy also moves below the shed line while the cache is cold."""
    payback: float = 1.0
    """A move below the shed line must pay for itself within so many requests for each response that stands in the
    context; 0: there is no such move."""
    payback_fraction: float = 0.5
    """Above it such moves are made."""
    protect_tokens: int = 10_000
    """Newest tokens that stay raw: ``min(protect_tokens, T // protect_divisor)``."""
    protect_divisor: int = 8
    min_result_tokens: int = 300
    """Smallest output that is shed while the settings files do not say."""
    absolute_turn: bool = False
    """Whether the current turn stays raw whatever happens while the settings files do not say."""
    own_rules: bool = True
    """False: pi's thresholds and the original extension's sizes (R = reserve_tokens, chars/4, kept anchors)."""
    source_defects: bool = False
    """The gate also counts savings that the measured request already had, for comparisons only."""

    @property
    def acts(self) -> bool:
        """Whether it does anything at all."""
        return self.sheds != "never" or self.cuts != "never"

    @property
    def looks_at_prices(self) -> bool:
        """Whether what it does depends on the prices of the cache, not on its lifetime alone."""
        return self.sheds == "batch" and self.payback > 0


_BATCH = Policy(name="balanced", sheds="batch", cuts="unless-shed")
_CLASSIC = Policy(
    name="classic",
    sheds="sticky",
    cuts="gate",
    own_rules=False,
    absolute_turn=True,
    min_result_tokens=1000,
    protect_tokens=0,
)

POLICIES: dict[str, Policy] = {
    policy.name: policy
    for policy in (
        Policy(name="none"),
        Policy(name="compaction", cuts="above-line"),
        _CLASSIC,
        structs.replace(_CLASSIC, name="source", source_defects=True),
        _BATCH,
        structs.replace(
            _BATCH,
            name="fewest-cuts",
            cuts="above-line",
            shed_fraction=0.70,
            cut_fraction=0.92,
            must_reach_goal=False,
            moves_when_cold=False,
            protect_tokens=20_000,
            protect_divisor=4,
        ),
        structs.replace(_BATCH, name="thrifty", payback_fraction=0.0),
    )
}
"""The policies by name; ``compaction:0.70`` states a fraction of the window."""

DEFAULT_POLICY = "balanced"


def parse_policy(name: str) -> Policy:
    """Give the policy of a name, ``compaction:FRACTION`` included. Raises :class:`PolicyError`."""
    base, _, detail = name.partition(":")
    policy = POLICIES.get(base)
    if policy is None:
        known = ", ".join(POLICIES)
        raise PolicyError(f"no policy {name!r}; known: {known}, compaction:FRACTION", name=name)
    if not detail and name == base:
        return policy
    if base != "compaction":
        raise PolicyError(f"policy {base} takes no {detail!r}; only compaction has a part after the colon", name=name)
    return structs.replace(policy, name=name, cut_fraction=_fraction(detail, name))


def _fraction(text: str, name: str) -> float:
    value = parse_fraction(text)
    if value is None:
        raise PolicyError(f"{name!r}: the fraction is a number above 0 and at most 1, like compaction:0.70", name=name)
    return value
