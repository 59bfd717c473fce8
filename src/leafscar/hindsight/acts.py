"""What a tool call does to the files and commands of a session: shows lines, changes files, runs something."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from msgspec import Struct

from leafscar.hindsight.patches import is_patch, patched
from leafscar.hindsight.paths import located
from leafscar.hindsight.shell import shown_files
from leafscar.model import ToolCall, canonical_json
from leafscar.model.shapes import as_list, as_mapping, as_number, as_text
from leafscar.pruning.tools import Tool, ToolTable, command_of, path_of, tool_of

__all__ = ["WHOLE", "Act", "Change", "Lines", "act_of", "run_of"]

WHOLE = float("inf")
"""End of a range whose last line is not known."""

Lines: TypeAlias = tuple[str, float, float | None]
"""A file and the lines of it that a call asks for, from 1 on; None where it does not say how many."""


class Change(Struct, frozen=True, kw_only=True):
    """A file that a call changes."""

    path: str
    whole: bool = False
    """Whether it is written anew, whatever stood there."""
    old: tuple[str, ...] = ()
    """Pieces of text that it replaces; none where the call does not hold them."""


class Act(Struct, frozen=True, kw_only=True):
    """What one call does, as far as it matters for what is needed again."""

    shows: tuple[Lines, ...] = ()
    changes: tuple[Change, ...] = ()
    recalls: str | None = None
    """Reference that it asks for."""
    key: str | None = None
    """Equal for calls that ask for exactly the same; None where nothing tells what is asked for."""


_PATHS = ("path", "file_path", "filePath", "absolute_path", "notebook_path")
_FOLDERS = ("workdir", "cwd", "directory")
_CONTENTS = ("content", "file_text")
_OLD = ("old_string", "oldText", "oldString", "old_str")
_NAMED_LINES = re.compile(r"(.+):([0-9]{1,9})(?:-([0-9]{1,9}))?")
"""Some hosts put the lines of a read behind its path."""
_WAITS = re.compile(r"\bsleep\b", re.IGNORECASE)
"""A command that waits is run for what comes, not for what was."""
_PATCHES = ("input", "patch", "patchText")


def act_of(call: ToolCall, tools: ToolTable, folder: str = "") -> Act:
    """Say what ``call`` does; relative paths are taken from ``folder``."""
    tool = tool_of(call.name, tools)
    arguments: Mapping[str, Any] = as_mapping(call.arguments) or {}
    match tool.kind:
        case "recall":
            return Act(recalls=as_text(arguments.get("ref")))
        case "bash":
            return run_of(command_of(call, tool), located(_first_text(arguments, _FOLDERS) or "", folder))
        case "edit" if arguments.get("command") != "view":
            return Act(changes=tuple(_changes(call, tool, arguments, folder)))
        case "read" | "edit":
            return _reading(call, tool, arguments, folder)
        case _:
            return Act(key=_key(call))


def run_of(command: str, folder: str = "") -> Act:
    """Say what a shell command does that runs in ``folder``: a plain look at files counts as reading them."""
    if is_patch(command):
        return Act(changes=tuple(_patch_changes(command, folder)))
    words = " ".join(command.split())
    key = f"$ {folder} $ {words}" if words and _WAITS.search(words) is None else None
    return Act(shows=shown_files(command, folder), key=key)


def _reading(call: ToolCall, tool: Tool, arguments: Mapping[str, Any], folder: str) -> Act:
    path = _path(call, tool, arguments)
    if not path:
        return Act(key=_key(call))
    named = _NAMED_LINES.fullmatch(path)
    if named is not None:
        first = max(1, int(named[2]))
        path, last = named[1], max(first, int(named[3] or first))
    else:
        first, last = _range(arguments, zero_based=tool.zero_based)
    return Act(shows=((located(path, folder), first, last),), key=_key(call))


def _range(arguments: Mapping[str, Any], *, zero_based: bool) -> tuple[float, float | None]:
    """Lines that a read asks for, in the ways in which the tools of the tables do."""
    pair = as_list(arguments.get("view_range")) or (arguments.get("start_line"), arguments.get("end_line"))
    first = as_number(pair[0]) if pair else None
    last = as_number(pair[1]) if len(pair) > 1 else None
    if first is not None:
        return max(1, first), last if last is None or last >= first else WHOLE
    first = max(1, (as_number(arguments.get("offset")) or 0) + zero_based)
    limit = as_number(arguments.get("limit"))
    return first, None if limit is None else max(first, first + limit - 1)


def _changes(call: ToolCall, tool: Tool, arguments: Mapping[str, Any], folder: str) -> Sequence[Change]:
    patch = as_text(call.arguments) or _first_text(arguments, _PATCHES)
    if patch is not None and is_patch(patch):
        return _patch_changes(patch, folder)
    path = _path(call, tool, arguments)
    if not path:
        return ()
    return (Change(path=located(path, folder), whole=_is_whole(arguments), old=tuple(_replaced(arguments))),)


def _patch_changes(patch: str, folder: str) -> Sequence[Change]:
    return [Change(path=located(path, folder), whole=whole, old=old) for path, whole, old in patched(patch)]


def _is_whole(arguments: Mapping[str, Any]) -> bool:
    """Whether the call gives all that the file will hold; with a range of lines only the range from 1 to -1."""
    lines = (arguments.get("start"), arguments.get("end"))
    return _first_text(arguments, _CONTENTS) is not None and lines in ((None, None), (1, -1))


def _replaced(arguments: Mapping[str, Any]) -> list[str]:
    edits = [arguments, *filter(None, map(as_mapping, as_list(arguments.get("edits")) or ()))]
    return [text for edit in edits if (text := _first_text(edit, _OLD))]


def _path(call: ToolCall, tool: Tool, arguments: Mapping[str, Any]) -> str | None:
    """Path by the table, else by the names that tools give it: hosts share names of tools and not of arguments."""
    return path_of(call, tool) or _first_text(arguments, _PATHS)


def _first_text(arguments: Mapping[str, Any], names: Sequence[str]) -> str | None:
    return next((value for name in names if isinstance(value := arguments.get(name), str)), None)


def _key(call: ToolCall) -> str | None:
    if not call.arguments:
        return None
    try:
        return f"{call.name} {canonical_json(call.arguments)}"
    except ValueError:  # numbers that no JSON holds: such a call equals no other
        return None
