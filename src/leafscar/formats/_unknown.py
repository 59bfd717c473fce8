"""What a recording cannot tell, counted on the entries that were read from it."""

from __future__ import annotations

from collections.abc import Iterable

from leafscar._words import counted
from leafscar.model import Assistant, Entry, Image, Message, System, ToolResult
from leafscar.model.messages import parts_of, tool_calls

__all__ = ["gaps"]


def gaps(entries: Iterable[Entry], window: int | None = None, *, system: bool = True) -> list[str]:
    """Give a sentence for each thing that the entries leave open.

    ``system`` says whether a recording of this format is expected to be without the system prompt.
    """
    messages = [message for message in (entry.message for entry in entries) if message is not None]
    found = (
        "" if window else "It states no context window.",
        _usage(messages),
        _system(messages) if system else "",
        _answers(messages),
        _images(messages),
    )
    return [sentence for sentence in found if sentence]


def _usage(messages: list[Message]) -> str:
    responses = [message for message in messages if isinstance(message, Assistant)]
    without = sum(1 for message in responses if message.usage is None)
    if not without:
        return ""
    if without == len(responses):
        return f"None of its {without} responses states its usage."
    return f"{without} of its {len(responses)} responses state no usage."


def _system(messages: list[Message]) -> str:
    if any(isinstance(message, System) for message in messages):
        return ""
    return "It holds neither the system prompt nor the tool declarations, so requests were larger than its messages."


def _answers(messages: list[Message]) -> str:
    calls = [call.id for message in messages for call in tool_calls(message)]
    answered = {message.tool_call_id for message in messages if isinstance(message, ToolResult)}
    open_ = sum(1 for call in calls if call not in answered)
    return f"{open_} of its {len(calls)} tool calls have no result." if open_ else ""


def _images(messages: list[Message]) -> str:
    parts = [part for message in messages for part in parts_of(getattr(message, "content", None))]
    away = sum(1 for part in parts if isinstance(part, Image) and (not part.data or ":" in part.data))
    return f"The data of {counted(away, 'image')} are not in the file." if away else ""
