"""From the messages of a session to the roles that a model knows: user, assistant, tool result (and system)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from leafscar.compaction.prompts import OWN, Texts
from leafscar.compaction.rules import DEFAULT, Rules
from leafscar.model import (
    Assistant,
    BashExecution,
    BranchSummary,
    CompactionSummary,
    Custom,
    Message,
    MessageLike,
    System,
    Text,
    ToolResult,
    User,
    as_message,
)
from leafscar.model.jsjson import js_number

__all__ = ["bash_text", "to_model_messages"]


def to_model_messages(
    messages: Sequence[MessageLike], *, texts: Texts = OWN, rules: Rules = DEFAULT
) -> list[MessageLike]:
    """Convert a context for sending; a message that needs no change is given back as it is.

    Summaries, custom messages and commands become user messages, unknown roles and excluded commands fall away.
    """
    converted = (_convert(message, texts, rules) for message in messages)
    return [message for message in converted if message is not None]


def bash_text(message: BashExecution) -> str:
    """What the model reads of a command that the user ran."""
    output = f"```\n{message.output}\n```" if message.output else "(no output)"
    return f"Ran `{message.command}`\n{output}{_outcome(message)}"


def _convert(raw: MessageLike, texts: Texts, rules: Rules) -> MessageLike | None:
    message = as_message(raw)
    match message:
        case User() | Assistant() | ToolResult():
            return raw
        case System():
            return raw if rules.system_messages else None
        case Custom():
            return _custom(raw, message)
        case _:
            text = _as_text(message, texts)
            return None if text is None else _user(raw, message, text)


def _as_text(message: Message, texts: Texts) -> str | None:
    match message:
        case BashExecution():
            return None if message.exclude_from_context else bash_text(message)
        case BranchSummary():
            return f"{texts.branch_opening}{message.summary}{texts.branch_closing}"
        case CompactionSummary():
            return f"{texts.summary_opening}{message.summary}{texts.summary_closing}"
        case _:
            return None


def _outcome(message: BashExecution) -> str:
    lines: list[str] = []
    if message.cancelled:
        lines.append("(command cancelled)")
    elif message.exit_code:
        lines.append(f"Command exited with code {js_number(message.exit_code)}")
    if message.truncated and message.full_output_path:
        lines.append(f"[Output truncated. Full output: {message.full_output_path}]")
    return "".join(f"\n\n{line}" for line in lines)


def _custom(raw: MessageLike, message: Custom) -> MessageLike:
    if isinstance(message.content, str):
        return _user(raw, message, message.content)
    if isinstance(raw, Mapping):
        return _dict_user(raw, raw.get("content"))
    return User(content=message.content, timestamp=message.timestamp)


def _user(raw: MessageLike, message: Message, text: str) -> MessageLike:
    if isinstance(raw, Mapping):
        return _dict_user(raw, [{"type": "text", "text": text}])
    return User(content=(Text(text=text),), timestamp=message.timestamp)


def _dict_user(raw: Mapping[str, Any], content: Any) -> dict[str, Any]:
    user = {"role": "user", "content": content}
    return {**user, "timestamp": raw["timestamp"]} if "timestamp" in raw else user
