"""Sessions: opening, walking, recalling, appending."""

from leafscar.session.recall import Recalled, recall
from leafscar.session.session import Context, Session, load
from leafscar.session.store import append, check_writable, holders, save

__all__ = ["Context", "Recalled", "Session", "append", "check_writable", "holders", "load", "recall", "save"]
