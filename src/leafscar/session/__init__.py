"""Sessions: opening, walking, searching, recalling, appending."""

from leafscar.session.recall import Recalled, recall
from leafscar.session.search import Found, Hit, Limits, search
from leafscar.session.session import Context, Session, load
from leafscar.session.store import append, check_writable, holders, save

__all__ = [
    "Context",
    "Found",
    "Hit",
    "Limits",
    "Recalled",
    "Session",
    "append",
    "check_writable",
    "holders",
    "load",
    "recall",
    "save",
    "search",
]
