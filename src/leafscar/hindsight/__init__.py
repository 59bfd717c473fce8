"""Looking back on a session: what was needed again (docs/cuts.md). Pure: no I/O, no clock, no state."""

from leafscar.hindsight.uses import Use, UseKind, later_uses

__all__ = ["Use", "UseKind", "later_uses"]
