"""What Anthropic's Messages API writes, in pi's shape: blocks, usage, stop reasons."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from leafscar.formats._pieces import (
    call_part,
    count,
    data_url,
    image_part,
    make_usage,
    mappings,
    text_parts,
    thinking_part,
)
from leafscar.model.shapes import as_list, as_mapping, as_text

__all__ = ["API", "PROVIDER", "read_block", "read_blocks", "read_usage", "result_parts", "stop_word"]

PROVIDER = "anthropic"
API = "anthropic-messages"

_STOPS = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "pause_turn": "stop",
    "compaction": "stop",
    "tool_use": "toolUse",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "error",
}


def stop_word(reason: object, *, calls: bool) -> str:
    """Give pi's word for a stop reason; an unstated one follows from whether the response calls tools."""
    return _STOPS.get(as_text(reason) or "", "toolUse" if calls else "stop")


def read_usage(value: object) -> dict[str, Any] | None:
    """Give a usage in pi's shape, without what it does not state; None when it states nothing."""
    usage = as_mapping(value) or {}
    split = as_mapping(usage.get("cache_creation")) or {}
    short, long = count(split.get("ephemeral_5m_input_tokens")), count(split.get("ephemeral_1h_input_tokens"))
    written = count(usage.get("cache_creation_input_tokens"))
    if written is None and (short is not None or long is not None):
        written = (short or 0) + (long or 0)
    return make_usage(
        input=count(usage.get("input_tokens")),
        output=count(usage.get("output_tokens")),
        cache_read=count(usage.get("cache_read_input_tokens")),
        cache_write=written,
        cache_write_1h=long,
    )


def read_blocks(content: object) -> list[dict[str, Any]]:
    """Give the parts of a content: text, or a list of blocks."""
    if isinstance(content, str):
        return text_parts(content)
    return [read_block(block) for block in mappings(content)]


def result_parts(content: object) -> list[dict[str, Any]]:
    """Give the parts of a tool result; one without anything holds an empty text."""
    return read_blocks(content) or [{"type": "text", "text": ""}]


def read_block(block: Mapping[str, Any]) -> dict[str, Any]:
    """Give the part of one block; a block that pi has no word for stays as it is."""
    reader = _READERS.get(as_text(block.get("type")) or "")
    return dict(block) if reader is None else reader(block)


def _text(block: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "text", "text": as_text(block.get("text")) or ""}


def _thinking(block: Mapping[str, Any]) -> dict[str, Any]:
    return thinking_part(block.get("thinking"), block.get("signature"))


def _redacted(block: Mapping[str, Any]) -> dict[str, Any]:
    return thinking_part("", block.get("data"), redacted=True)


def _call(block: Mapping[str, Any]) -> dict[str, Any]:
    arguments = block.get("input")
    return call_part(block.get("id"), block.get("name"), {} if arguments is None else arguments)


def _image(block: Mapping[str, Any]) -> dict[str, Any]:
    source = as_mapping(block.get("source")) or {}
    if source.get("type") == "base64":
        return image_part(source.get("data"), source.get("media_type"))
    return data_url(source.get("url") or source.get("file_id"), source.get("media_type"))


def _document(block: Mapping[str, Any]) -> dict[str, Any]:
    """Text of a document or of a search hit; one whose data are no text stays as it is."""
    source = block.get("source")
    inner = as_mapping(source) or {}
    plain = inner.get("data") if inner.get("type") == "text" else None
    texts = [*_texts(block.get("content")), *_texts(inner.get("content")), *_texts(plain)]
    if not texts:
        return dict(block)
    return {"type": "text", "text": "\n".join([*_texts(block.get("title")), *_texts(source), *texts])}


def _texts(value: object) -> Iterable[str]:
    if isinstance(value, str):
        return (value,)
    return (text for text in (as_text(part.get("text")) for part in mappings(as_list(value))) if text is not None)


_READERS = {
    "text": _text,
    "thinking": _thinking,
    "redacted_thinking": _redacted,
    "tool_use": _call,
    "image": _image,
    "document": _document,
    "search_result": _document,
}
