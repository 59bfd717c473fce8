"""What a cut took, as data: what went out of the context, what stayed of it, what came back."""

from __future__ import annotations

from typing import Literal, TypeAlias

from msgspec import Struct

from leafscar.hindsight.walk import UseKind

__all__ = ["Kept", "Lost", "LostCut", "LostKind", "Need"]

LostKind: TypeAlias = Literal["pin", "rule", "file", "output", "todo", "request"]
"""What was lost: a pinned message, a sentence that looks like a lasting instruction, a file that was read or changed,
an output that shows no file, the newest list of open tasks, the newest request of the user."""
Kept: TypeAlias = Literal["raw", "named", "missing", "unknown"]
"""What the next request still held: the thing itself elsewhere, words of it in the summary, nothing.

``unknown``: the recording does not hold the summary, or the thing has too few words to be found in it.
"""


class Need(Struct, frozen=True, kw_only=True):
    """One later call, or message, that needed the thing again."""

    kind: UseKind | Literal["said-again"]
    position: int
    """Index on the path of the call, or of the user's message."""
    entry_id: str
    """Id of the entry that brought it back: the call's answer, or the user's message."""
    reference: str
    tokens: int | None
    """Size of what it brought back, an estimate; None where nothing came back or the recording does not hold it."""


class Lost(Struct, frozen=True, kw_only=True):
    """One thing that went out of the context with a cut."""

    kind: LostKind
    entry_id: str
    reference: str
    """Reference of the entry that holds it."""
    paged: bool = False
    """Whether that entry is a message or a call, which a recall gives by pages, and no output."""
    text: str
    """One line: the sentence, the path, the command, the open tasks."""
    did: str = ""
    """What had been done with it: ``read``, ``edited``, ``read, edited``, the name of the tool."""
    tokens: int | None = None
    """Size of the outputs that showed it, an estimate; None where none did, or the recording does not hold them."""
    kept: Kept
    needed: tuple[Need, ...] = ()


class LostCut(Struct, frozen=True, kw_only=True):
    """One recorded cut with what it took."""

    position: int
    """Index on the path."""
    entry_id: str
    reference: str
    tokens_before: int | None
    """Size of the context as the recording states it."""
    summary_tokens: int | None
    """An estimate; None when the recording does not hold the summary."""
    gone: int
    """Messages that went out."""
    kept: int
    """Messages that stayed as they were."""
    lost: tuple[Lost, ...]
    """Pins and rules first, then files and outputs, largest first, then what tells the state of the task."""
    unknown: tuple[str, ...]
    """Sentences: what the recording cannot tell of this cut."""
