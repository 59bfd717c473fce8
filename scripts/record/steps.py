"""What a scripted model can do: one step is a text and tool calls."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from .tokens import count_text


@dataclass(frozen=True)
class Call:
    """One tool call."""

    name: str
    args: dict


@dataclass(frozen=True)
class Step:
    """One assistant message. An action is something the user does while it is being written."""

    text: str = ""
    calls: tuple[Call, ...] = ()
    action: str = ""
    argument: str = ""
    extra: dict = field(default_factory=dict)

    @property
    def tokens(self) -> int:
        """Output tokens."""
        return count_text(self.text) + sum(
            12 + count_text(call.name) + count_text(json.dumps(call.args)) for call in self.calls
        )


def read(path: str, offset: int = 0, limit: int = 0) -> Call:
    """Read a file, or a part of it."""
    args: dict = {"path": path}
    if offset:
        args["offset"] = offset
    if limit:
        args["limit"] = limit
    return Call("read", args)


def bash(command: str) -> Call:
    """Run a command."""
    return Call("bash", {"command": command})


def edit(path: str, *pairs: tuple[str, str]) -> Call:
    """Replace exact texts in a file."""
    return Call("edit", {"path": path, "edits": [{"oldText": old, "newText": new} for old, new in pairs]})


def write(path: str, content: str) -> Call:
    """Write a whole file."""
    return Call("write", {"path": path, "content": content})
