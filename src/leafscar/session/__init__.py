"""Sessions: opening, walking, recalling, appending."""

from leafscar.session.recall import Recalled, recall
from leafscar.session.session import Context, Session, load
from leafscar.session.store import append, holders, save

__all__ = ["Context", "Recalled", "Session", "append", "holders", "load", "recall", "save"]
