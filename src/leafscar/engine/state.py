"""What a controller remembers between processes, keyed by entry id (docs/architecture.md, ADR 0006)."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

__all__ = ["ControlState"]


class ControlState(Struct, frozen=True, kw_only=True, rename="camel"):
    """Everything that the projection of a session rests on besides the session itself. JSON-shaped."""

    shed: Mapping[str, int] = {}
    """Ids of the entries whose outputs are replaced by markers, each with the number of its move."""
    stripped: tuple[str, str] | None = None
    """Ids of the first and the last entry of those that go out without thinking because of a move."""
    engaged: bool = False
    """Whether T was crossed (``classic``) or a move was made since the newest cut."""
    readings: Mapping[str, int] = {}
    """Ids of the responses whose readings were taken, each with the moves since the newest cut that came before it; -1
    when its request held markers that stand no longer."""
    learnt: tuple[tuple[float, float], ...] = ()
    """Own tokens and measured tokens of the newest readings."""
    overhead: float = 0
    """Tokens of system prompt and tools, by the newest reading."""
    awaiting_gain: float | None = None
    """Estimate that the newest cut answered to, in tokens, until a reading judges it."""
    automatic: bool = True
    """Whether that cut was the policy's own."""
    fruitless: int = 0
    """Automatic cuts in a row that freed less than a tenth of the window."""
    retry_above: float = 0
    """Tokens up to which no summary is asked for, after one that failed."""
    dead_cost: float = 0
    """Price of dead tokens since the last move, in input-token equivalents."""
    last_request: float | None = None
    """When the last request went out, in seconds of the host's clock."""
