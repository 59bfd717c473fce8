"""Parts of opencode's messages: the responses of a model and what their tools gave."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from leafscar.formats._json import as_json_text, fields_of
from leafscar.formats._pieces import (
    call_part,
    count,
    data_url,
    first_text,
    make_usage,
    mappings,
    milliseconds,
    text_parts,
    thinking_part,
)
from leafscar.model.shapes import as_mapping, as_number, as_text

__all__ = ["Response", "Result", "api_of", "responses", "step_usage", "user_content"]

_APIS = {"anthropic": "anthropic-messages", "openai": "openai-responses", "google": "google-generative-ai"}
_STOPS = {"tool-calls": "toolUse", "stop": "stop", "length": "length", "error": "error", "content-filter": "error"}
_TEXT_FILES = ("text/plain", "application/x-directory")
"""Files of these types stand a second time as text parts; that is what was sent."""


class Result(Struct, frozen=True, kw_only=True):
    """What a tool gave."""

    call_id: str
    name: str
    content: list[dict[str, Any]]
    is_error: bool
    at: Any
    """When it ended, as the file says it."""
    cleared: int | None
    """When the tool cleared it, in milliseconds since 1970."""


class Response(Struct, frozen=True, kw_only=True):
    """One response of a model with its results."""

    content: list[dict[str, Any]]
    results: list[Result]
    usage: dict[str, Any] | None
    stop: str | None
    error: str | None

    @property
    def text(self) -> str:
        """Text parts, joined."""
        return "\n\n".join(part["text"] for part in self.content if part["type"] == "text")


def api_of(info: Mapping[str, Any]) -> str | None:
    """Wire format of a message's provider, where its name says it."""
    return _APIS.get(as_text(info.get("providerID")) or "")


def responses(info: Mapping[str, Any], parts: Sequence[Mapping[str, Any]], format_: str) -> list[Response]:
    """Give the responses of an assistant message: one for each step, or one for all parts."""
    steps: list[list[Mapping[str, Any]]] = [[]]
    for part in parts:
        if part.get("type") == "step-start" and any(own.get("type") != "step-start" for own in steps[-1]):
            steps.append([])
        steps[-1].append(part)
    last = len(steps) - 1
    return [_response(info, own, format_, last=at == last, alone=last == 0) for at, own in enumerate(steps)]


def _response(
    info: Mapping[str, Any], parts: Sequence[Mapping[str, Any]], format_: str, *, last: bool, alone: bool
) -> Response:
    finish = fields_of(next((part for part in parts if part.get("type") == "step-finish"), None))
    holder = finish if as_mapping(finish.get("tokens")) or not alone else info
    tools = [part for part in parts if part.get("type") == "tool"]
    error = as_mapping(info.get("error")) if last else None
    reason = first_text(finish.get("reason"), info.get("finish") if last else None)
    return Response(
        content=[made for part in parts for made in _content(part)],
        results=[result for tool in tools if (result := _result(tool, format_)) is not None],
        usage=step_usage(holder),
        stop=_stop(reason, error, called=bool(tools)),
        error=None if error is None else _words(error),
    )


def _stop(reason: str | None, error: Mapping[str, Any] | None, *, called: bool) -> str:
    if error is not None:
        return "aborted" if error.get("name") == "MessageAbortedError" else "error"
    return _STOPS.get(reason or "", "toolUse" if called else "stop")


def _words(error: Mapping[str, Any]) -> str:
    data = fields_of(error.get("data"))
    return first_text(data.get("message"), error.get("message"), error.get("name")) or "error"


def _content(part: Mapping[str, Any]) -> Iterable[dict[str, Any]]:
    match part.get("type"):
        case "text":
            return text_parts(part.get("text"))
        case "reasoning":
            return [thinking_part(part.get("text"), _signature(part))]
        case "tool":
            state = fields_of(part.get("state"))
            return [call_part(part.get("callID"), part.get("tool"), state.get("input") or state.get("raw") or {})]
        case _:
            return ()


def _signature(part: Mapping[str, Any]) -> str | None:
    """Signature of a reasoning part, whichever provider's name it stands under."""
    metadata = fields_of(part.get("metadata"))
    own = (fields_of(value) for value in metadata.values())
    signed = (first_text(value.get("signature"), value.get("redactedData")) for value in own)
    return next((value for value in signed if value), None)


def _result(part: Mapping[str, Any], format_: str) -> Result | None:
    """Result of a tool part; None while it was pending or running."""
    state = fields_of(part.get("state"))
    failed = state.get("status") == "error"
    if not failed and state.get("status") != "completed":
        return None
    time = fields_of(state.get("time"))
    text = as_json_text(state.get("error" if failed else "output") or "", format_)
    pictures = [data_url(item.get("url"), item.get("mime")) for item in mappings(state.get("attachments"))]
    return Result(
        call_id=as_text(part.get("callID")) or "",
        name=as_text(part.get("tool")) or "",
        content=[*text_parts(text), *pictures],
        is_error=failed,
        at=time.get("end"),
        cleared=milliseconds(time.get("compacted")),
    )


def step_usage(holder: Mapping[str, Any]) -> dict[str, Any] | None:
    """Usage as pi words it: input is uncached already, reasoning stands beside output, dollars are the host's own."""
    tokens = fields_of(holder.get("tokens"))
    cache = fields_of(tokens.get("cache"))
    output, reasoning = count(tokens.get("output")), count(tokens.get("reasoning"))
    usage = make_usage(
        input=count(tokens.get("input")),
        output=None if output is None else output + (reasoning or 0),
        cache_read=count(cache.get("read")),
        cache_write=count(cache.get("write")),
    )
    cost = as_number(holder.get("cost"))
    return usage if usage is None or cost is None else {**usage, "cost": {"total": cost}}


def user_content(parts: Sequence[Mapping[str, Any]]) -> tuple[list[dict[str, Any]], bool]:
    """What a user message sent, and whether a person typed any of it."""
    content: list[dict[str, Any]] = []
    typed = False
    for part in parts:
        if part.get("type") == "text" and part.get("ignored") is not True:
            content += text_parts(part.get("text"))
            typed = typed or part.get("synthetic") is not True
        elif part.get("type") == "file" and part.get("mime") not in _TEXT_FILES:
            content.append(data_url(part.get("url"), part.get("mime")))
            typed = True
    return content, typed
