"""What a recorded session tells a replay: its requests, its readings, its cuts (docs/replay.md)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from leafscar.compaction import project_context
from leafscar.errors import SessionError
from leafscar.model import Assistant, Entry, Usage
from leafscar.replay.reported import has_impossible_cost, likely_moment, likely_usage, stated_cost
from leafscar.session import Session

__all__ = ["RecordedRequest", "Recording", "read_recording", "read_replayable"]


class RecordedRequest(Struct, frozen=True, kw_only=True):
    """One request that the recorded host sent."""

    number: int
    """1-based."""
    position: int
    """Where its response stands on the path."""
    entry: Entry
    message: Assistant
    at: float | None
    """Seconds since the recording ``started``; None when the recording does not say."""
    usage: Usage | None
    """As reported, impossible counts unknown; None when nothing was."""
    stated_cost: float | None
    """Dollars as the host wrote them down."""
    impossible: bool = False
    """Whether it reported numbers that cannot be."""

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
    started: float | None
    """Time of the first request that has one, in seconds since 1970; None when the recording does not say."""
    provider: str | None
    """Of the newest request; in a branch without any, what the branch was set to."""
    model: str | None
    api: str | None
    notes: Sequence[str]
    """What of the session is not replayed, in sentences."""


def read_replayable(session: Session) -> Recording:
    """Read the branch on which a session stands. Raises :class:`SessionError` when it holds no request."""
    recording = read_recording(session)
    if not recording.requests:
        raise SessionError(session.path or "session", "holds no request to replay", hint="name a session with answers")
    return recording


def read_recording(session: Session, leaf: str | None = None) -> Recording:
    """Read the branch that ends at the entry ``leaf`` (default: where the session stands).

    Raises :class:`BadReference` when there is no such entry.
    """
    path = session.branch(leaf)
    answers = list(_answers(path))
    started = next((moment for *_, moment in answers if moment is not None), None)
    is_pi = session.format == "pi"
    requests = [_request(path, *answer, number, started, is_pi=is_pi) for number, answer in enumerate(answers, 1)]
    provider, model, api = _model(path, requests)
    return Recording(
        session=session,
        path=path,
        requests=requests,
        cuts=[at for at, entry in enumerate(path) if entry.type == "compaction"],
        started=started,
        provider=provider,
        model=model,
        api=api,
        notes=list(_notes(session, path, requests)),
    )


def _answers(path: Sequence[Entry]) -> Iterable[tuple[int, Assistant, float | None]]:
    """Position, response and time (seconds since 1970) of every request."""
    for position, entry in enumerate(path):
        message = entry.message if entry.type == "message" else None
        if isinstance(message, Assistant) and _was_answered(message):
            yield position, message, _seconds(entry, message)


def _request(
    path: Sequence[Entry],
    position: int,
    message: Assistant,
    moment: float | None,
    number: int,
    started: float | None,
    *,
    is_pi: bool,
) -> RecordedRequest:
    entry, usage = path[position], likely_usage(message.usage)
    data = _usage_data(entry, is_pi=is_pi)
    return RecordedRequest(
        number=number,
        position=position,
        entry=entry,
        message=message,
        at=None if moment is None or started is None else max(0.0, moment - started),
        usage=usage,
        stated_cost=stated_cost(data),
        impossible=usage is not message.usage or has_impossible_cost(data),
    )


def _model(path: Sequence[Entry], requests: Sequence[RecordedRequest]) -> tuple[str | None, str | None, str | None]:
    """Provider, model and interface of the branch."""
    if requests:
        last = requests[-1].message
        return last.provider, last.model, last.api
    chosen = project_context(path).model
    return (chosen.provider, chosen.model_id, None) if chosen else (None, None, None)


def _was_answered(message: Assistant) -> bool:
    """Whether a provider took the request: a failed one without usage was neither billed nor measured."""
    failed = message.stop_reason in ("error", "aborted")
    usage = likely_usage(message.usage)
    return not failed or (usage is not None and usage.prompt > 0)


class _Told(Struct, frozen=True):
    usage: Any = None


class _Line(Struct, frozen=True):
    message: _Told


_decode_line = msgspec.json.Decoder(_Line).decode


def _usage_data(entry: Entry, *, is_pi: bool) -> object:
    """Usage of a response as written; an entry's data would stay in memory, several times as large as its line."""
    if is_pi and entry.raw is not None:
        try:
            return _decode_line(entry.raw).message.usage
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            pass  # an odd line, which the lenient reader takes
    return (entry.message_data or {}).get("usage")


def _seconds(entry: Entry, message: Assistant) -> float | None:
    moment = likely_moment(message.timestamp)
    return likely_moment(entry.timestamp_ms) if moment is None else moment


def _notes(session: Session, path: Sequence[Entry], requests: Sequence[RecordedRequest]) -> Iterable[str]:
    yield from session.unknown
    assistants = [entry for entry in path if entry.type == "message" and isinstance(entry.message, Assistant)]
    failed = len(assistants) - len(requests)
    if failed:
        what = "request without usage is" if failed == 1 else "requests without usage are"
        yield f"{failed} failed or aborted {what} left out"
    impossible = sum(request.impossible for request in requests)
    if impossible:
        what = "request reports" if impossible == 1 else "requests report"
        yield f"{impossible} {what} numbers that cannot be (negative, not finite or giant); they count as unknown"
    elsewhere = len(session.entries) - len(path)
    if elsewhere:
        yield f"{elsewhere} {'entry' if elsewhere == 1 else 'entries'} on other branches left out"
