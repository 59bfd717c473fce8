"""Looking back on a session: what was needed again, what cuts took (docs/cuts.md). Pure: no I/O, no clock, no state."""

from leafscar.hindsight.losses import losses
from leafscar.hindsight.lost import Kept, Lost, LostCut, LostKind, Need
from leafscar.hindsight.uses import Use, UseKind, later_uses

__all__ = ["Kept", "Lost", "LostCut", "LostKind", "Need", "Use", "UseKind", "later_uses", "losses"]
