"""Requests that repeat what was sent before, as one tree: a request that changes old messages starts a branch."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from typing import Any

from msgspec import Struct

from leafscar.formats._cuts import add_cut
from leafscar.formats._json import as_json_text
from leafscar.formats._pieces import iso_time, mappings
from leafscar.formats.reading import Builder
from leafscar.model.shapes import as_text

__all__ = ["Item", "Tree", "merged"]


class Item(Struct, frozen=True, kw_only=True):
    """One message of a request or a response, or a cut that it contains."""

    message: Mapping[str, Any] | None = None
    cut: Mapping[str, Any] | None = None
    """Fields of a ``compaction`` entry."""
    keeps_before: bool = False
    """Whether the messages that stand before a cut in the same request are still read."""

    @property
    def role(self) -> str:
        """Role of the message; empty for a cut."""
        return "" if self.message is None else as_text(self.message.get("role")) or ""

    def key(self, format_: str) -> bytes:
        """Give what two sendings of the same message have in common: neither ids of calls nor thinking."""
        if self.message is None:
            cut = self.cut or {}
            told: list[Any] = ["cut", cut.get("summary"), cut.get("encrypted")]
        elif self.role == "assistant":
            told = ["assistant", *map(_spoken, mappings(self.message.get("content")))]
        else:
            told = [self.role, _plain(self.message.get("content")), self.message.get("toolsAdded")]
        told = [part for part in told if part is not None]
        return blake2b(as_json_text(told, format_).encode("utf-8", "surrogatepass")).digest()


def _plain(content: Any) -> Any:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _spoken(part: Mapping[str, Any]) -> Any:
    match part.get("type"):
        case "thinking":
            return None
        case "toolCall":
            return ["call", part.get("name"), part.get("arguments")]
        case _:
            return part


def merged(items: Iterable[Item]) -> list[Item]:
    """Join assistant messages that follow each other without a result between: parts of one response, logged apart."""
    joined: list[Item] = []
    for item in items:
        last = joined[-1].message if joined else None
        if last is None or item.message is None or (item.role, joined[-1].role) != ("assistant", "assistant"):
            joined.append(item)
        else:
            content = [*last["content"], *item.message["content"]]
            stop = {key: item.message[key] for key in ("stopReason", "usage") if key in item.message}
            joined[-1] = Item(message={**last, **stop, "content": content})
    return joined


class Tree:
    """Entries of all requests; a message that stood at the same place before is not added again."""

    def __init__(self, builder: Builder, format_: str) -> None:
        self._builder = builder
        self._format = format_
        self._children: dict[tuple[int, bytes], int] = {}
        self._aliases: dict[str, str] = {}  # call ids of this request to those of its first sending
        self.line = 0
        """Line of the exchange that is being read, with its bytes."""
        self.raw: bytes | None = None

    def follow(self, items: Sequence[Item], start: int = -1) -> int:
        """Add what is new of a request; gives the position of its last message."""
        self._aliases = {}
        at, first = start, None
        for item in items:
            key = (at, item.key(self._format))
            found = self._children.get(key)
            at = self._add(item, at, first) if found is None else found
            self._children[key] = at
            self._learn(item, at)
            if first is None and item.role != "system":
                first = self._builder.entries[at].id
        return at

    def respond(self, items: Iterable[Item], at: int) -> int:
        """Add a response; a second one to the same request stands beside the first."""
        for item in items:
            key = (at, item.key(self._format))
            at = self._add(item, at, None)
            self._children.setdefault(key, at)
        return at

    def systems(self, at: int) -> set[bytes]:
        """Keys of the system messages on the way to a position."""
        found: set[bytes] = set()
        while at >= 0:
            message = self._builder.entries[at].message_data
            if message is not None and message.get("role") == "system":
                found.add(Item(message=message).key(self._format))
            at = self._builder.parents[at]
        return found

    def _add(self, item: Item, parent: int, first: str | None) -> int:
        position = len(self._builder.entries)
        where: dict[str, Any] = {"id_": f"m{position + 1}", "line": self.line, "raw": self.raw, "parent": parent}
        if item.message is None:
            add_cut(self._builder, item.cut or {}, first=first if item.keeps_before else None, **where)
        else:
            fields = {"message": self._renamed(item.message)}
            self._builder.add("message", fields, timestamp=iso_time(item.message.get("timestamp")), **where)
        return position

    def _renamed(self, message: Mapping[str, Any]) -> Mapping[str, Any]:
        alias = self._aliases.get(as_text(message.get("toolCallId")) or "")
        return message if alias is None else {**message, "toolCallId": alias}

    def _learn(self, item: Item, at: int) -> None:
        if item.message is None or item.role != "assistant":
            return
        known = self._builder.entries[at].message_data or {}
        pairs = zip(_call_ids(item.message), _call_ids(known), strict=False)
        self._aliases.update({new: old for new, old in pairs if new != old})


def _call_ids(message: Mapping[str, Any]) -> list[str]:
    return [part["id"] for part in mappings(message.get("content")) if part.get("type") == "toolCall"]
