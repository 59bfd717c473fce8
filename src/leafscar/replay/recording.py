"""What a recorded session tells a replay: its requests, its readings, its cuts (docs/replay.md)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from leafscar.model import Assistant, Entry, Usage
from leafscar.model.shapes import as_mapping, as_number
from leafscar.session import Session

__all__ = ["RecordedRequest", "Recording", "read_recording"]

_PLAUSIBLE_MS = 1e11
"""Message timestamps below it are no milliseconds since 1970 (old recordings number their messages)."""


class RecordedRequest(Struct, frozen=True, kw_only=True):
    """One request that the recorded host sent."""

    number: int
    """1-based."""
    position: int
    """Where its response stands on the path."""
    entry: Entry
    message: Assistant
    at: float | None
    """Seconds since the first request; None when the recording does not say."""
    usage: Usage | None
    """As reported; None when nothing was."""
    stated_cost: float | None
    """Dollars as the host wrote them down."""

    @property
    def prompt(self) -> float | None:
        """Input side in tokens; None when it was not reported."""
        prompt = self.usage.prompt if self.usage else 0
        return prompt if prompt > 0 else None

    @property
    def reading(self) -> float | None:
        """Input side in tokens, when the request finished and the number can be built on."""
        return None if self.message.stop_reason in ("error", "aborted") else self.prompt


class Recording(Struct, frozen=True, kw_only=True):
    """One branch of a session, ready to be replayed."""

    session: Session
    path: Sequence[Entry]
    """Entries from the root to the leaf, recorded cuts included."""
    requests: Sequence[RecordedRequest]
    cuts: Sequence[int]
    """Positions of the recorded cuts on the path."""
    provider: str | None
    model: str | None
    api: str | None
    notes: Sequence[str]
    """What of the session is not replayed, in sentences."""


def read_recording(session: Session) -> Recording:
    """Read the branch that a session stands on."""
    path = session.branch()
    requests = list(_requests(path))
    last = requests[-1].message if requests else None
    return Recording(
        session=session,
        path=path,
        requests=requests,
        cuts=[at for at, entry in enumerate(path) if entry.type == "compaction"],
        provider=last.provider if last else None,
        model=last.model if last else None,
        api=last.api if last else None,
        notes=list(_notes(session, path, requests)),
    )


def _requests(path: Sequence[Entry]) -> Iterable[RecordedRequest]:
    number, start = 0, None
    for position, entry in enumerate(path):
        message = entry.message if entry.type == "message" else None
        if not isinstance(message, Assistant) or not _was_answered(message):
            continue
        number += 1
        moment = _seconds(entry, message)
        start = moment if start is None else start
        yield RecordedRequest(
            number=number,
            position=position,
            entry=entry,
            message=message,
            at=None if moment is None or start is None else max(0.0, moment - start),
            usage=message.usage,
            stated_cost=_stated_cost(entry),
        )


def _was_answered(message: Assistant) -> bool:
    """Whether a provider took the request: a failed one without usage was neither billed nor measured."""
    failed = message.stop_reason in ("error", "aborted")
    return not failed or (message.usage is not None and message.usage.prompt > 0)


def _seconds(entry: Entry, message: Assistant) -> float | None:
    if message.timestamp > _PLAUSIBLE_MS:
        return message.timestamp / 1000
    stamp = entry.timestamp_ms
    return None if stamp is None else stamp / 1000


def _stated_cost(entry: Entry) -> float | None:
    usage = as_mapping((entry.message_data or {}).get("usage")) or {}
    return as_number((as_mapping(usage.get("cost")) or {}).get("total"))


def _notes(session: Session, path: Sequence[Entry], requests: Sequence[RecordedRequest]) -> Iterable[str]:
    assistants = [entry for entry in path if entry.type == "message" and isinstance(entry.message, Assistant)]
    failed = len(assistants) - len(requests)
    if failed:
        what = "request without usage is" if failed == 1 else "requests without usage are"
        yield f"{failed} failed or aborted {what} left out"
    elsewhere = len(session.entries) - len(path)
    if elsewhere:
        yield f"{elsewhere} {'entry' if elsewhere == 1 else 'entries'} on other branches left out"
