"""What a controller remembers between processes, keyed by entry id (docs/architecture.md, ADR 0006)."""

from __future__ import annotations

from msgspec import Struct

__all__ = ["ControlState"]


class ControlState(Struct, frozen=True, kw_only=True, rename="camel"):
    """Everything that the projection of a session rests on besides the session itself. JSON-shaped."""

    shed: tuple[str, ...] = ()
    """Ids of the entries whose outputs are replaced by markers."""
    engaged: bool = False
    """Whether T was crossed (``classic``) or a move was made since the newest cut."""
    measured: str | None = None
    """Id of the newest response whose request already had every marker in ``shed``."""
    fruitless: int = 0
    """Automatic cuts in a row that freed less than a tenth of the window."""
    dead_cost: float = 0
    """Price of dead tokens since the last move, in input-token equivalents."""
    last_request: float | None = None
    """When the last request went out, in seconds of the host's clock."""
    factor: float = 1.0
    """Measured tokens per own token, from the session's readings."""
