"""The reading that estimates rest on, and what it already counted (docs/estimates.md)."""

from __future__ import annotations

from msgspec import Struct

from leafscar.estimate.calibrated import Calibrated

__all__ = ["Anchor", "Meter"]

_JUMP_SHARE = 0.25


class Anchor(Struct, frozen=True, kw_only=True):
    """The newest usable reading."""

    position: int
    """Index of the response in the context."""
    tokens: float
    """Context tokens that its provider reported, its own output included."""


class Meter:
    """Turns own raw sizes into tokens: the newest reading, a learnt factor, and the overhead of system and tools."""

    def __init__(
        self,
        *,
        learns: bool,
        learnt: Calibrated = Calibrated(),  # noqa: B008 - frozen
        overhead: float = 0.0,
    ) -> None:
        self.anchor: Anchor | None = None
        self.calibration = learnt
        self.factor = self.calibration.factor
        """What own tokens are multiplied by."""
        self.overhead = overhead
        """Tokens of system prompt and tools, as far as readings tell; 0 before the first one."""
        self._learns = learns
        self._refused: float | None = None

    def anchored(self, raw_after: float) -> float:
        """Tokens of a request: the anchor's, plus ``raw_after`` own tokens of what changed since."""
        return (self.anchor.tokens if self.anchor else self.overhead) + self.factor * raw_after

    def unanchored(self, raw: float) -> float:
        """Tokens of a request of ``raw`` own tokens that no reading covers."""
        return self.overhead + self.factor * raw

    def take(self, reading: Anchor, *, predicted: float, grown: float, raw: float, window: int) -> str:
        """Rest on a new reading; gives why it is refused instead, or nothing.

        ``predicted``: our estimate of it; ``grown``: own size of what it counts beyond the anchor; ``raw``: of all.
        """
        refusal = self._refusal(reading, predicted, window)
        if refusal:
            self._refused = reading.tokens
            return refusal
        self._refused = None
        if self.anchor is not None:
            self._learn(reading.tokens - self.anchor.tokens, grown)
        self.anchor = reading
        self.overhead = max(0.0, reading.tokens - self.factor * raw)
        return ""

    def drop(self) -> None:
        """Rest on nothing: a cut or another branch made the reading stale. Factor and overhead stay."""
        self.anchor = self._refused = None

    def _refusal(self, reading: Anchor, predicted: float, window: int) -> str:
        if window and reading.tokens > window:
            return "larger than the window"
        jump = reading.tokens - predicted
        sudden = window and self.anchor is not None and jump > max(_JUMP_SHARE * window, predicted)
        # a second reading of the same size is believed: then the content did grow in a way we cannot see
        if sudden and not (self._refused and abs(reading.tokens - self._refused) < _JUMP_SHARE * window):
            return "jumped without new content"
        return ""

    def _learn(self, measured: float, own: float) -> None:
        if self._learns:
            self.calibration = self.calibration.observe(own, measured)
            self.factor = self.calibration.factor
