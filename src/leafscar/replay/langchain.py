"""LangChain's approximate token counter, by which its context editing decides (docs/policies.md, ADR 0080)."""

from __future__ import annotations

from leafscar.estimate.pieces import pieces_of
from leafscar.model import Assistant, Message, System, ToolResult, Unknown
from leafscar.model.messages import tool_calls

__all__ = ["approximate_tokens"]

_PER_MESSAGE = 3
_PER_IMAGE = 85
_CALL_FORM = len("{'name': '', 'args': , 'id': '', 'type': 'tool_call'}, ")


def approximate_tokens(message: Message) -> int:
    """Tokens of one message: characters / 4 with its role, names and ids, and 3; 85 more for each image.

    A system prompt is no message there, and what is never sent counts nothing.
    """
    if isinstance(message, System | Unknown):
        return 0
    texts, images = pieces_of(message)
    chars = sum(map(len, texts)) + _form(message)
    return -(-chars // 4) + _PER_MESSAGE + _PER_IMAGE * images


def _form(message: Message) -> int:
    """Characters beside the text: the role, the ids, and how calls are written."""
    match message:
        case Assistant():
            return len("assistant") + sum(_CALL_FORM + len(call.id) for call in tool_calls(message))
        case ToolResult():
            return len("tool") + len(message.tool_call_id) + len(message.tool_name)
        case _:
            return len("user")
