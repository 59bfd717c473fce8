"""Items of OpenAI's Responses API, as Codex stores them, in pi's shape."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from leafscar.formats._json import as_arguments, as_json_text
from leafscar.formats._pieces import call_part, data_url, first_text, mappings, text_parts, thinking_part
from leafscar.model.shapes import as_list, as_mapping, as_text

__all__ = ["ANSWERS", "CALLS", "ITEMS", "MODEL_ITEMS", "answer_parts", "content_parts", "is_context", "model_part"]

CALLS = frozenset({"custom_tool_call", "function_call", "local_shell_call", "tool_search_call"})
"""Items that ask for an answer."""

ANSWERS = frozenset({"custom_tool_call_output", "function_call_output", "mcp_tool_call_output", "tool_search_output"})
"""Items that answer a call."""

MODEL_ITEMS = CALLS | {"image_generation_call", "reasoning", "web_search_call"}
"""Items that a model writes, beside its messages."""

ITEMS = MODEL_ITEMS | ANSWERS | {"message"}
"""Items that a file without envelopes holds one a line."""

_CONTEXT = re.compile(
    r"\s*(?:# AGENTS\.md instructions\b|<(?:apps_instructions|environment_context|instructions|permissions instructions"
    r"|plugins_instructions|skill|skills_instructions|subagent_notification|turn_aborted|user_instructions"
    r"|user_shell_command)\b)",
    re.IGNORECASE,
)
"""How the user messages start that Codex itself writes."""


def is_context(parts: list[dict[str, Any]]) -> bool:
    """Whether every part of a user message was written by Codex and none by a person."""
    return bool(parts) and all(_CONTEXT.match(as_text(part.get("text")) or "") for part in parts)


def content_parts(content: object) -> list[dict[str, Any]]:
    """Give the parts of a message: texts and images; others stay as they are."""
    if isinstance(content, str):
        return text_parts(content)
    return [_content_part(part) for part in mappings(content)]


def _content_part(part: Mapping[str, Any]) -> dict[str, Any]:
    match part.get("type"):
        case "input_text" | "output_text" | "text":
            return {"type": "text", "text": as_text(part.get("text")) or ""}
        case "input_image":
            url = part.get("image_url") or part.get("file_id")
            return data_url((as_mapping(url) or {}).get("url") or url)
        case "refusal":
            return {"type": "text", "text": as_text(part.get("refusal")) or ""}
        case _:
            return dict(part)


def answer_parts(item: Mapping[str, Any], format_: str) -> list[dict[str, Any]]:
    """Give the content of an answer: text, a list of parts, or a value that was sent as JSON."""
    if item.get("type") == "tool_search_output":
        return text_parts(as_json_text(item.get("tools"), format_))
    output: object = item.get("output")
    inner: object = (as_mapping(output) or {}).get("content")
    content = output if inner is None else inner
    if isinstance(content, str) or _is_content(content):
        return content_parts(content)
    return [] if output is None else text_parts(as_json_text(output, format_))


def _is_content(value: object) -> bool:
    items = as_list(value)
    return items is not None and all(as_text((as_mapping(item) or {}).get("type")) for item in items)


def model_part(item: Mapping[str, Any], id_: str) -> dict[str, Any]:
    """Give the part of an item that the model wrote; a call of a tool that runs at the vendor stays as it is."""
    match item.get("type"):
        case "reasoning":
            texts = [first_text(part.get("text")) for key in ("summary", "content") for part in mappings(item.get(key))]
            return thinking_part("\n\n".join(filter(None, texts)), item.get("encrypted_content"))
        case "function_call":
            return call_part(id_, item.get("name"), as_arguments(item.get("arguments")))
        case "custom_tool_call":
            return call_part(id_, item.get("name"), as_text(item.get("input")) or "")
        case "local_shell_call":
            return call_part(id_, "local_shell", item.get("action") or {})
        case "tool_search_call":
            return call_part(id_, "tool_search", as_arguments(item.get("arguments")))
        case _:
            return dict(item)
