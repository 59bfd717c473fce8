"""The files that the summarised part read and changed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import Struct

from leafscar.compaction.rules import DEFAULT, Rules
from leafscar.model import Entry, Message, MessageLike, ToolResult, as_message
from leafscar.model.jsjson import utf16_key
from leafscar.model.messages import tool_calls
from leafscar.model.shapes import as_list, as_mapping, as_text

__all__ = ["FileLists", "FileOps", "file_ops", "file_text"]


class FileLists(Struct, frozen=True, kw_only=True, rename="camel"):
    """Paths in UTF-16 order; a file that was changed is not listed as read."""

    read_files: tuple[str, ...] = ()
    modified_files: tuple[str, ...] = ()


class FileOps(Struct, frozen=True, kw_only=True):
    """Paths in the order of their first mention."""

    read: tuple[str, ...] = ()
    written: tuple[str, ...] = ()
    edited: tuple[str, ...] = ()

    def lists(self) -> FileLists:
        """Sort into the two lists that a summary ends with."""
        modified = {*self.edited, *self.written}
        return FileLists(
            read_files=tuple(sorted({*self.read} - modified, key=utf16_key)),
            modified_files=tuple(sorted(modified, key=utf16_key)),
        )


def file_ops(messages: Iterable[MessageLike], *, carried: Iterable[Entry] = (), rules: Rules = DEFAULT) -> FileOps:
    """Collect the paths of read, write and edit calls; ``carried`` are earlier summaries whose lists go on."""
    seen: dict[str, dict[str, None]] = {"read": {}, "write": {}, "edit": {}}
    for entry in carried:
        for kind, key in (("read", "readFiles"), ("edit", "modifiedFiles")):
            seen[kind].update(dict.fromkeys(_listed(entry, key)))
    for message in messages:
        for name, arguments in _calls(as_message(message), rules):
            path = _path(arguments)
            if path and name in seen:
                seen[name][path] = None
    return FileOps(read=tuple(seen["read"]), written=tuple(seen["write"]), edited=tuple(seen["edit"]))


def file_text(lists: FileLists) -> str:
    """Give the blocks that end a summary; empty when no file was touched."""
    blocks = (("read-files", lists.read_files), ("modified-files", lists.modified_files))
    texts = [f"<{tag}>\n" + "\n".join(paths) + f"\n</{tag}>" for tag, paths in blocks if paths]
    return "\n\n" + "\n\n".join(texts) if texts else ""


def _listed(entry: Entry, key: str) -> list[str]:
    """Paths that an earlier summary listed; one that a hook wrote is not trusted with lists."""
    details = as_mapping(entry.get("details"))
    if entry.get("fromHook") or details is None:
        return []
    return [path for path in as_list(details.get(key)) or () if isinstance(path, str)]


def _calls(message: Message, rules: Rules) -> Iterable[tuple[str, Any]]:
    if isinstance(message, ToolResult):
        return _nested(message.nested_calls) if rules.nested_calls else ()
    return [(call.name, call.arguments) for call in tool_calls(message)]


def _nested(record: Any) -> list[tuple[str, Any]]:
    calls = map(as_mapping, as_list((as_mapping(record) or {}).get("calls")) or ())
    return [(as_text(call.get("name")) or "", call.get("arguments")) for call in calls if call is not None]


def _path(arguments: Any) -> str | None:
    return as_text((as_mapping(arguments) or {}).get("path"))
