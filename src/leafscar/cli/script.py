"""``script:FILE``: a summariser that answers from a file (docs/cli.md).

The file holds ``{"responses": [{"text": ..., "stopReason": ..., "errorMessage": ..., "usage": {...}}, ...]}``: each
request takes the next response; all fields but ``text`` are optional.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec
from msgspec import Struct

from leafscar._regular import read_file
from leafscar.compaction import SummaryRequest, SummaryResponse
from leafscar.errors import LeafscarError
from leafscar.model.entries import MAX_DEPTH, is_deep

__all__ = ["script_summarizer"]

_MAX_BYTES = 16 * 1024 * 1024


class _Response(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    text: str = ""
    stop_reason: str = "stop"
    error_message: str | None = None
    usage: dict[str, object] | None = None


class _Script(Struct, frozen=True, forbid_unknown_fields=True):
    responses: list[_Response]


def script_summarizer(name: str) -> Callable[[SummaryRequest], SummaryResponse]:
    """Give the summariser of a ``script:FILE`` name. Raises :class:`LeafscarError` when it cannot be used."""
    kind, _, path = name.partition(":")
    if kind != "script" or not path:
        raise LeafscarError(f"--summarizer {name}: only script:FILE is known; see docs/cli.md for its format")
    responses = iter(_read(Path(path)).responses)

    def answer(request: SummaryRequest) -> SummaryResponse:
        response = next(responses, None)
        if response is None:
            raise LeafscarError(f"{path}: no response is left for the {request.kind} summary; add one to responses")
        return SummaryResponse(
            texts=(response.text,),
            stop_reason="error" if response.error_message and response.stop_reason == "stop" else response.stop_reason,
            error_message=response.error_message,
            usage=response.usage,
        )

    return answer


def _read(path: Path) -> _Script:
    try:
        payload = read_file(path, _MAX_BYTES)
    except OSError as fault:
        raise LeafscarError(f"{path}: {fault.strerror}; name a readable JSON file") from fault
    except ValueError as fault:
        raise LeafscarError(f"{path}: {fault}; name a JSON file of responses") from fault
    if is_deep(payload):
        raise LeafscarError(f"{path}: nested deeper than {MAX_DEPTH} levels; see docs/cli.md for the format")
    try:
        return msgspec.json.decode(payload, type=_Script)
    except (msgspec.MsgspecError, UnicodeDecodeError) as fault:
        raise LeafscarError(f"{path}: {fault}; see docs/cli.md for the format") from fault
