"""Make a list sendable: abandoned responses are settled, failed ones left out, pairs made whole and checked.

Stored messages stay as they are; this runs on every list that is sent (docs/compaction.md).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from leafscar.errors import BrokenPair
from leafscar.model import Assistant, MessageLike, Part, Text, Thinking, ToolCall, ToolResult, as_message
from leafscar.model.messages import parts_of, tool_calls

__all__ = ["NO_RESULT", "answer_orphans", "check_pairs", "gather_results", "settle", "settle_abandoned"]

NO_RESULT = "No result provided"
"""Text of the error result that an unanswered call gets."""


def settle(messages: Sequence[MessageLike]) -> list[MessageLike]:
    """Make every pair whole: a call is followed by its one result, and what never reached a provider stays out."""
    settled = map(settle_abandoned, messages)
    return answer_orphans(gather_results([message for message in settled if not _failed(message)]))


def gather_results(messages: Sequence[MessageLike]) -> list[MessageLike]:
    """Put each result right after the response that called; one that no call waits for (any more) is left out."""
    groups: list[list[MessageLike]] = []
    owner: dict[str, list[MessageLike]] = {}
    for message in messages:
        typed = as_message(message)
        if isinstance(typed, ToolResult):
            owner.pop(typed.tool_call_id, []).append(message)
            continue
        groups.append([message])
        owner.update(dict.fromkeys(_sent_calls(typed), groups[-1]))
    return [message for group in groups for message in group]


def settle_abandoned(message: MessageLike) -> MessageLike:
    """Keep what an aborted response had said and called; one that had nothing, and any other message, is given back.

    A failed response (``error``) is not settled: its provider never finished it.
    """
    typed = as_message(message)
    if not isinstance(typed, Assistant) or typed.stop_reason != "aborted":
        return message
    parts = parts_of(typed.content)
    kept = [index for index, part in enumerate(parts) if _is_worth_keeping(part)]
    if not kept:
        return message
    reason = "toolUse" if any(isinstance(parts[index], ToolCall) for index in kept) else "stop"
    if isinstance(message, Mapping):
        return {**message, "content": _kept_raw(message.get("content"), kept), "stopReason": reason}
    return replace(typed, content=tuple(parts[index] for index in kept), stop_reason=reason)


def answer_orphans(messages: Sequence[MessageLike]) -> list[MessageLike]:
    """Put an error result after each call that has none right after it; late ones are ``gather_results``'s to bring."""
    answered: list[MessageLike] = []
    open_calls: dict[str, ToolCall] = {}
    for message in messages:
        typed = as_message(message)
        if isinstance(typed, ToolResult):
            open_calls.pop(typed.tool_call_id, None)
        else:
            answered += _results(open_calls, message)
            open_calls = _sent_calls(typed)
        answered.append(message)
    return answered + _results(open_calls, messages[-1] if messages else None)


def check_pairs(messages: Sequence[MessageLike]) -> None:
    """Raise ``BrokenPair`` unless every call is answered right after it and every result answers a call."""
    open_calls: dict[str, ToolCall] = {}
    broken: list[str] = []
    for typed in map(as_message, messages):
        if isinstance(typed, ToolResult):
            if open_calls.pop(typed.tool_call_id, None) is None:
                broken.append(typed.tool_call_id)
            continue
        broken += open_calls
        open_calls = _sent_calls(typed)
    broken += open_calls
    if broken:
        raise BrokenPair(tuple(dict.fromkeys(broken)))


def _failed(message: MessageLike) -> bool:
    typed = as_message(message)
    return isinstance(typed, Assistant) and typed.failed


def _is_worth_keeping(part: Part) -> bool:
    match part:
        case Text(text=text) | Thinking(thinking=text):
            return bool(text)
        case ToolCall():
            return True
        case _:
            return False


def _kept_raw(content: Any, kept: Sequence[int]) -> Any:
    return content if isinstance(content, str) else [content[index] for index in kept]


def _sent_calls(message: object) -> dict[str, ToolCall]:
    """Calls that a provider sees; those of an unsettled response never reach it."""
    if not isinstance(message, Assistant) or message.failed:
        return {}
    return {call.id: call for call in tool_calls(message)}


def _results(open_calls: Mapping[str, ToolCall], like: MessageLike | None) -> list[MessageLike]:
    """Error results, in the form (dict or struct) of the list they go into."""
    if isinstance(like, Mapping):
        return [_raw_result(call) for call in open_calls.values()]
    return [
        ToolResult(content=(Text(text=NO_RESULT),), tool_call_id=call.id, tool_name=call.name, is_error=True)
        for call in open_calls.values()
    ]


def _raw_result(call: ToolCall) -> dict[str, Any]:
    return {
        "role": "toolResult",
        "toolCallId": call.id,
        "toolName": call.name,
        "content": [{"type": "text", "text": NO_RESULT}],
        "isError": True,
        "timestamp": 0,
    }
