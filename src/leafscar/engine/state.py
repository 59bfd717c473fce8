"""What a controller remembers between processes, keyed by entry id (docs/architecture.md, ADR 0006)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from msgspec import Meta, Struct
from msgspec.structs import force_setattr

__all__ = ["ControlState"]

_MANY = 1_000_000


class ControlState(Struct, frozen=True, kw_only=True, rename="camel"):
    """Everything that the projection of a session rests on besides the session itself. JSON-shaped.

    An id with half a surrogate pair, which no UTF-8 text can hold, is left out, so that the state can always be written
    and read again. After a restart the output of such an entry goes out raw once more, and what was measured there
    is measured anew. No host makes such ids; they come from files that were damaged or made to harm.
    """

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
    fruitless: Annotated[int, Meta(ge=0, le=_MANY)] = 0
    """Automatic cuts in a row that freed less than a tenth of the window."""
    retry_above: float = 0
    """Tokens up to which no summary is asked for, after one that failed."""
    last_request: float | None = None
    """When the last request went out, in seconds of the host's clock."""

    def __post_init__(self) -> None:
        for name in ("shed", "readings"):
            kept = {id_: number for id_, number in getattr(self, name).items() if _is_text(id_)}
            if len(kept) < len(getattr(self, name)):
                force_setattr(self, name, kept)
        if not all(map(_is_text, self.stripped or ())):
            force_setattr(self, "stripped", None)


def _is_text(name: str) -> bool:
    """Whether UTF-8 can hold it."""
    return name.isascii() or not any("\ud800" <= character <= "\udfff" for character in name)
