"""Logs of model requests: exchanges of four wire formats in one file, lone requests, responses and streams."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from leafscar._words import counted
from leafscar.formats import _wire_anthropic, _wire_chat, _wire_gemini, _wire_responses
from leafscar.formats._json import Record, decode, fields_of, lines_of
from leafscar.formats._pieces import assistant_message, first_text, mappings
from leafscar.formats._wire_tree import Item, Tree
from leafscar.formats.reading import Builder
from leafscar.model.shapes import as_list, as_mapping, as_number, as_text

__all__ = [
    "ANTHROPIC",
    "CHAT",
    "GEMINI",
    "RESPONSES",
    "Exchanges",
    "Vendor",
    "answer_vendor",
    "body_vendor",
    "is_payload",
    "stream_of",
]

_FAILED = 400
_PROVIDERS = {
    "api.openai.com": "openai",
    "api.anthropic.com": "anthropic",
    "openrouter.ai": "openrouter",
    "generativelanguage.googleapis.com": "google",
}
_BLOCKS = ("tool_use", "tool_result", "thinking", "redacted_thinking", "server_tool_use", "compaction", "document")


class Vendor(Struct, frozen=True, kw_only=True):
    """How one wire format is read."""

    format: str
    api: str
    request: Callable[[Mapping[str, Any], str], list[Item]]
    response: Callable[[Mapping[str, Any], str], list[Item]]
    assemble: Callable[[Sequence[Mapping[str, Any]]], dict[str, Any]]


CHAT = Vendor(
    format="openai_chat",
    api=_wire_chat.API,
    request=_wire_chat.request_items,
    response=_wire_chat.response_items,
    assemble=_wire_chat.assemble,
)
ANTHROPIC = Vendor(
    format="anthropic_messages",
    api=_wire_anthropic.API,
    request=_wire_anthropic.request_items,
    response=_wire_anthropic.response_items,
    assemble=_wire_anthropic.assemble,
)
RESPONSES = Vendor(
    format="openai_responses",
    api=_wire_responses.API,
    request=_wire_responses.request_items,
    response=_wire_responses.response_items,
    assemble=_wire_responses.assemble,
)
GEMINI = Vendor(
    format="gemini_content",
    api=_wire_gemini.API,
    request=_wire_gemini.request_items,
    response=_wire_gemini.response_items,
    assemble=_wire_gemini.assemble,
)


# --- which wire format something is in -----------------------------------------------------------------


def body_vendor(body: Mapping[str, Any], url: str = "") -> Vendor | None:
    """Wire format of a request's body; None when it is of no known one."""
    if as_list(body.get("contents")) is not None:
        return GEMINI if not url or "enerateContent" in url else None
    if as_list(body.get("messages")) is None:
        known = isinstance(body.get("input"), str | list) and ("/responses" in url or not url) and "model" in body
        return RESPONSES if known else None
    if "count_tokens" in url:
        return None
    if url and ("/messages" in url or "/chat/completions" in url):
        return ANTHROPIC if "/messages" in url else CHAT
    return ANTHROPIC if _is_anthropic(body) else CHAT


def _is_anthropic(body: Mapping[str, Any]) -> bool:
    if "system" in body or "anthropic_version" in body:
        return True
    messages = mappings(body.get("messages"))
    if any(said.get("role") in ("tool", "system", "developer") or "tool_calls" in said for said in messages):
        return False
    return any(block.get("type") in _BLOCKS for said in messages for block in mappings(said.get("content")))


def answer_vendor(body: Mapping[str, Any]) -> Vendor | None:
    """Wire format of a response's body, or of one payload of a stream."""
    kind = as_text(body.get("type")) or ""
    if as_list(body.get("choices")) is not None:
        return CHAT
    if as_list(body.get("candidates")) is not None:
        return GEMINI
    if str(body.get("object")).partition(".")[0] == "response" or kind.startswith("response."):
        return RESPONSES
    if (kind == "message" and body.get("role") == "assistant") or kind in ("message_start", "content_block_start"):
        return ANTHROPIC
    return None


def is_payload(body: Mapping[str, Any]) -> bool:
    """Whether what :func:`answer_vendor` knows is one payload of a stream, not a whole response."""
    kind = as_text(body.get("type")) or ""
    pieces = any("delta" in choice for choice in mappings(body.get("choices")))
    return pieces or kind.startswith("response.") or kind in ("message_start", "content_block_start")


def stream_of(text: str | bytes) -> list[Mapping[str, Any]]:
    """Payloads of a stream: of server-sent events, or one a line."""
    data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
    payloads = (decode(line.removeprefix(b"data:")) for _, line in lines_of(data) if not line.startswith(b"event:"))
    return [payload for value in payloads if (payload := as_mapping(value)) is not None]


# --- exchanges -----------------------------------------------------------------------------------------


class Exchanges:
    """Reads exchanges into one tree."""

    def __init__(self, builder: Builder, format_: str) -> None:
        self.builder = builder
        self.tree = Tree(builder, format_)
        self._format = format_
        self._ends: dict[str, int] = {}  # where a response, or a conversation, ended
        self._unseen = 0
        self._others = 0
        self._edited = 0

    def record(self, record: Record) -> None:
        """Read one line with a request and its response."""
        self.tree.line, self.tree.raw = record.line, record.raw
        request = fields_of(record.fields.get("request"))
        given = request.get("body", request)
        body = fields_of(decode(given) if isinstance(given, str) else given)
        vendor = body_vendor(body, as_text(request.get("url")) or "")
        if vendor is None:
            self._others += 1
            return
        at = self._request(vendor, body)
        self._answer(vendor, fields_of(record.fields.get("response")), body, at, _provider(request))

    def _request(self, vendor: Vendor, body: Mapping[str, Any]) -> int:
        items = vendor.request(body, self._format)
        before = first_text(body.get("previous_response_id"), _conversation(body))
        if before is None:
            return self.tree.follow(items)
        start = self._ends.get(before, -1)
        known = self.tree.systems(start)
        self._unseen += before not in self._ends and before == body.get("previous_response_id")
        return self.tree.follow([item for item in items if item.key(self._format) not in known], start)

    def _answer(
        self, vendor: Vendor, response: Mapping[str, Any], asked: Mapping[str, Any], at: int, provider: str | None
    ) -> None:
        body = _answer_body(vendor, response)
        status = as_number(response.get("status")) or 0
        failed = status >= _FAILED or (as_mapping(body.get("error")) is not None and "output" not in body)
        items = [] if failed else vendor.response(body, self._format)
        if failed:
            items = [_failure(vendor, body, asked, int(status))]
        end = self.tree.respond([_from(item, provider, asked) for item in items], at)
        edits = mappings(fields_of(body.get("context_management")).get("applied_edits"))
        self._edited += any(edit.get("type") != "compact_20260112" for edit in edits)
        for name in (as_text(body.get("id")), _conversation(asked)):
            if name and items and not failed:
                self._ends[name] = end

    def notes(self) -> list[str]:
        """Sentences about what the exchanges leave open."""
        sealed = sum(1 for entry in self.builder.entries if entry.type == "compaction" and not entry.get("summary"))
        told = (
            (self._others, "It holds {}, not read, such as a count of tokens or another provider's.", "other request"),
            (self._unseen, "What stood before {} is not in the file: a response that it builds on.", "request"),
            (self._edited, "The server edited the requests of {}; the model saw less than what was sent.", "response"),
            (sealed, "The summary of {} cannot be read.", "encrypted cut"),
        )
        return [sentence.format(counted(number, thing)) for number, sentence, thing in told if number]


def _conversation(body: Mapping[str, Any]) -> str | None:
    held = body.get("conversation")
    return first_text(held, fields_of(held).get("id"))


def _answer_body(vendor: Vendor, response: Mapping[str, Any]) -> Mapping[str, Any]:
    held = response.get("body", response)
    text = first_text(response.get("sse"), response.get("raw"), held)
    if text is None:
        return fields_of(held)
    whole = as_mapping(decode(text))
    return vendor.assemble(stream_of(text)) if whole is None else whole


def _provider(request: Mapping[str, Any]) -> str | None:
    host = (as_text(request.get("url")) or "").partition("//")[2].partition("/")[0]
    return _PROVIDERS.get(host)


def _failure(vendor: Vendor, body: Mapping[str, Any], asked: Mapping[str, Any], status: int) -> Item:
    error = fields_of(body.get("error"))
    words = first_text(error.get("message"), body.get("message")) or f"HTTP status {status}"
    model = as_text(asked.get("model"))
    return Item(message=assistant_message([], api=vendor.api, stop="error", errorMessage=words, model=model))


def _from(item: Item, provider: str | None, asked: Mapping[str, Any]) -> Item:
    if item.message is None:
        return item
    named = {"provider": provider, "model": asked.get("model")}
    known = {name: value for name, value in named.items() if isinstance(value, str) and name not in item.message}
    return Item(message={**item.message, **known})
