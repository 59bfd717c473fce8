"""What a replay found beyond its rows: where the money went, what left the context, what stayed raw (docs/replay.md).

Plain structs, JSON-shaped. Tokens are floats because sizes are inferred; None is *unknown*, never 0.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

__all__ = ["BillSide", "CostlyOutput", "EqualCuts", "Held", "Kind", "Money", "Needed", "Share"]

Kind = Literal[
    "overhead", "user", "injected", "text", "thinking", "arguments", "results", "images", "summaries", "unrecorded",
    "summariser",
]  # fmt: skip
"""A class of content: system prompt and tools; what the user said; what the host put in beside it; the model's words,
thinking and calls; what tools gave back; images; summaries in the context; what readings counted beyond the recorded
text; the calls that wrote summaries."""


class Share(Struct, frozen=True, kw_only=True):
    """One class of content in the session as it was, and its part of the modelled bill."""

    kind: Kind
    tool: str | None
    """Name of the tool, for ``results`` and ``arguments``."""
    messages: int
    """Messages that hold such content."""
    tokens: float
    """Its size, each message once."""
    sent: float
    """Input tokens that it made up over all requests."""
    output: float
    """Output tokens that were billed for it."""
    cost: float | None
    """Dollars; None without a price."""
    units: float
    """Input-token equivalents."""
    share: float | None
    """Part of the whole bill, 0 to 1: of its dollars, else of its units; None when the bill is nothing."""


class CostlyOutput(Struct, frozen=True, kw_only=True):
    """One output of a tool, and what it cost to send again and again."""

    reference: str
    """What ``leafscar recall`` takes."""
    entry_id: str
    tool: str
    path: str | None
    """File that the call named, if any."""
    tokens: float
    requests: int
    """How many requests sent it."""
    cost: float | None
    """Dollars of its input tokens; None without a price."""
    units: float
    """Input-token equivalents."""
    shed_at: int | None = None
    """First request that the default policy would have sent without it; None: never, or that policy was not run."""
    last_used: int | None = None
    """Last request whose response used it again; None: none did, as far as the recording shows."""


class BillSide(Struct, frozen=True, kw_only=True):
    """One bill of the session as it was, in tokens by class."""

    uncached: float | None
    read: float | None
    written: float | None
    output: float
    cost: float | None
    """Dollars, summaries included; None without a price."""
    units: float | None
    """Input-token equivalents."""


class Money(Struct, frozen=True, kw_only=True):
    """Where the money of one session went, under the cache model."""

    shares: list[Share]
    """By part of the bill, the largest first; they add up to the modelled bill."""
    outputs: list[CostlyOutput]
    """The costliest outputs, the dearest first."""
    output_count: int
    """How many outputs there were in all."""
    recorded: BillSide | None
    """As the provider reported it; None when the recording does not tell."""
    modelled: BillSide
    """As the cache model has it, over the same requests."""
    sheddable: float | None
    """Part of all input tokens that the fullest allowed moves could have replaced by markers, 0 to 1."""
    sheddable_at_peak: float | None
    """The same for the largest request."""


class Needed(Struct, frozen=True, kw_only=True):
    """How much of what a policy took out of the context was used again later."""

    outputs: int
    """Outputs that moves replaced or cuts took away."""
    needed: int
    """Those of them that were used again after they were gone."""
    tokens: float
    """Tokens of the outputs that went."""
    needed_tokens: float
    """Tokens of those that were used again."""

    @property
    def rate(self) -> float | None:
        """Share of the outputs that were used again, 0 to 1; None when none went."""
        return self.needed / self.outputs if self.outputs else None


class EqualCuts(Struct, frozen=True, kw_only=True):
    """``compaction`` at the fraction at which it makes as many cuts as some policy."""

    policy: str
    """Name of the row, ``compaction:FRACTION``."""
    cuts: int
    cost: float | None
    """Dollars; None without a price."""
    units: float | None
    """Input-token equivalents."""


class Held(Struct, frozen=True, kw_only=True):
    """What a policy may not touch, or may touch sooner; every pair is a count and its tokens."""

    pins: tuple[int, float]
    """Texts that every summary carries word for word."""
    never: tuple[int, float]
    """Outputs that a never-prune list keeps raw, and that were large enough to be shed."""
    superseded: tuple[int, float]
    """Reads that a later read or edit of the same file made stale."""
    thinking: tuple[int, float]
    """Thinking parts of the responses."""
    binds: bool
    """Whether the model ties thinking to everything before it."""
    way: str
    """``leafscar.boundThinking``: off, drop_block or strip."""
