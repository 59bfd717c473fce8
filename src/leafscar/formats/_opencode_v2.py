"""Messages of opencode 2: one row each, with a type; what a model said is a list in the message itself."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import Any

from leafscar.formats._json import fields_of
from leafscar.formats._pieces import first_text, mappings
from leafscar.model.shapes import as_text

__all__ = ["as_v1", "cut_summary", "is_v2", "user_parts"]

_TEXT_FILES = ("text/plain", "application/x-directory")


def is_v2(message: Mapping[str, Any]) -> bool:
    """Whether a message is one of version 2: it names its type, and its fields stand beside it."""
    return "info" not in message and isinstance(message.get("type"), str)


def user_parts(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Give a prompt with its files as the parts of version 1; files of text are sent as text."""
    parts: list[dict[str, Any]] = [{"type": "text", "text": message.get("text")}]
    return [*parts, *(_file(file) for file in mappings(message.get("files")))]


def _file(file: Mapping[str, Any]) -> dict[str, Any]:
    name = first_text(file.get("name"), fields_of(file.get("source")).get("uri"), file.get("uri")) or "file"
    mime, data = as_text(file.get("mime")) or "", as_text(file.get("data")) or ""
    if mime in _TEXT_FILES:
        return {"type": "text", "text": f"{name}\n\n{_decoded(data)}"}
    return {"type": "file", "mime": mime, "url": f"data:{mime};base64,{data}" if data else name}


def _decoded(data: str) -> str:
    try:
        return base64.b64decode(data, validate=True).decode("utf-8", "replace")
    except (binascii.Error, ValueError):
        return data


def as_v1(message: Mapping[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Give a response as the message and the parts of version 1."""
    model = fields_of(message.get("model"))
    info = {
        **message,
        "role": "assistant",
        "providerID": model.get("providerID"),
        "modelID": model.get("id"),
        "error": _error(message.get("error")),
    }
    return info, [_part(part) for part in mappings(message.get("content"))]


def _error(error: object) -> dict[str, Any] | None:
    """Version 1 tells an interruption by the name of the error, version 2 by its type."""
    fields = fields_of(error)
    if not fields:
        return None
    kind = first_text(fields.get("type"), fields.get("name")) or "error"
    name = "MessageAbortedError" if "abort" in kind.lower() or "interrupt" in kind.lower() else kind
    return {"name": name, "message": fields.get("message")}


def _part(part: Mapping[str, Any]) -> dict[str, Any]:
    if part.get("type") == "tool":
        return _tool(part)
    native = part.get("native", part.get("state"))
    return {**part, "metadata": {"native": native}} if part.get("type") == "reasoning" else dict(part)


def _tool(part: Mapping[str, Any]) -> dict[str, Any]:
    state, content = fields_of(part.get("state")), mappings(fields_of(part.get("state")).get("content"))
    texts = [text for item in content if item.get("type") == "text" and (text := as_text(item.get("text")))]
    files = [
        {"mime": item.get("mime"), "url": first_text(item.get("uri"), item.get("url"))}
        for item in content
        if item.get("type") == "file"
    ]
    failed = fields_of(state.get("error"))
    told = {
        "status": state.get("status"),
        "input": state.get("input"),
        "output": "\n".join(texts),
        "error": "\n".join(text for text in (as_text(failed.get("message")), *texts) if text),
        "attachments": files,
        "time": {"end": fields_of(part.get("time")).get("completed")},
    }
    return {"type": "tool", "tool": part.get("name"), "callID": part.get("id"), "state": told}


def cut_summary(message: Mapping[str, Any]) -> str:
    """Give the text that stands for everything before a cut: the summary, and what was recent, written out."""
    parts = (as_text(message.get(name)) for name in ("summary", "recent"))
    return "\n\n".join(part for part in parts if part)
