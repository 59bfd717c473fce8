"""Attachments of Claude Code: what it put into a request beside the conversation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from leafscar.model.shapes import as_list, as_mapping, as_text

__all__ = ["attachment_text", "is_typed", "was_sent"]

_UNSENT = frozenset(
    {
        "already_read_file",
        "command_permissions",
        "dynamic_skill",
        "edited_image_file",
        "hook_cancelled",
        "hook_error_during_execution",
        "hook_non_blocking_error",
        "hook_permission_decision",
        "hook_system_message",
        "structured_output",
    }
)
_FIELDS = {
    "agent_listing_delta": ("addedLines", "removedTypes"),
    "compact_file_reference": ("filename",),
    "deferred_tools_delta": ("addedLines", "removedNames"),
    "edited_text_file": ("filename", "snippet"),
    "mcp_instructions_delta": ("addedBlocks", "removedNames"),
    "queued_command": ("prompt",),
    "skill_listing": ("content",),
    "task_reminder": ("content",),
    "todo_reminder": ("content",),
}
"""What of an attachment is its text, where other fields repeat it in another form."""
_NAMES = frozenset({"type", "uuid", "source_uuid", "id", "toolUseID", "hookName", "hookEvent", "timestamp"})


def was_sent(attachment: Mapping[str, Any]) -> bool:
    """Whether it became part of a request; those of an unknown kind did."""
    return as_text(attachment.get("type")) not in _UNSENT


def is_typed(attachment: Mapping[str, Any]) -> bool:
    """Whether it is what a person typed while the model worked."""
    return attachment.get("type") == "queued_command" and attachment.get("commandMode", "prompt") == "prompt"


def attachment_text(attachment: Mapping[str, Any]) -> str:
    """Give the texts that it carries, one a line; the words that Claude Code put around them are not recorded."""
    fields = _FIELDS.get(as_text(attachment.get("type")) or "")
    values = [attachment.get(name) for name in fields] if fields else [attachment]
    return "\n".join(text for value in values for text in _texts(value) if text)


def _texts(value: object, depth: int = 20) -> Iterable[str]:
    """All strings inside a value, names and ids left out."""
    items, fields = as_list(value), as_mapping(value)
    if isinstance(value, str):
        yield value
    elif depth and items is not None:
        for item in items:
            yield from _texts(item, depth - 1)
    elif depth and fields is not None:
        for name, item in fields.items():
            if name not in _NAMES:
                yield from _texts(item, depth - 1)
