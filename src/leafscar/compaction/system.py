"""The prompt and tools in force: all system messages of a context folded into one (pi 1.3.0)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from leafscar.compaction.slots import Item
from leafscar.model import System
from leafscar.model.messages import text_of
from leafscar.model.shapes import as_list, as_mapping, as_text

__all__ = ["replay_system"]


def replay_system(items: Iterable[Item]) -> dict[str, Any] | None:
    """Give the system message in force, in pi's shape; None when the context has none.

    Texts add up, sections and tools are patched by name, and what a later message removes is gone.
    """
    systems = [(item.message, item.as_dict()) for item in items if isinstance(item.message, System)]
    if not systems:
        return None
    sections: dict[str, Any] = {}
    tools: dict[str, Any] = {}
    for message, data in systems:
        _apply_sections(sections, message)
        _apply_tools(tools, data)
    texts = [text_of(message.content) for message, _ in systems]
    return {
        "role": "system",
        "content": "\n\n".join(text for text in texts if text),
        **({"sections": sections} if sections else {}),
        **({"toolsAdded": list(tools.values())} if tools else {}),
        "timestamp": systems[0][0].timestamp,
    }


def _apply_sections(sections: dict[str, Any], message: System) -> None:
    for name, text in (as_mapping(message.sections) or {}).items():
        if text is None:
            sections.pop(name, None)
        else:
            sections[name] = text


def _apply_tools(tools: dict[str, Any], message: Mapping[str, Any]) -> None:
    for removed in as_list(message.get("toolsRemoved")) or ():
        tools.pop(_name(removed), None)
    for added in as_list(message.get("toolsAdded")) or ():
        tools[_name(added)] = added


def _name(tool: Any) -> str:
    return as_text((as_mapping(tool) or {}).get("name")) or ""
