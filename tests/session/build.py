"""Session files for these tests: short makers of lines, in pi's shape."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

Raw = dict[str, Any]
STAMP = "2026-05-01T10:00:00.000Z"


def header(version: Any = 3, **fields: Any) -> Raw:
    """Give a header; ``version=None`` leaves it out, as version 1 does."""
    stated = {} if version is None else {"version": version}
    return {"type": "session", **stated, "id": "s-1", "timestamp": STAMP, "cwd": "/home/user/demo", **fields}


def entry(id_: Any, parent: Any, kind: str = "label", **fields: Any) -> Raw:
    """Give an entry."""
    return {"type": kind, "id": id_, "parentId": parent, "timestamp": STAMP, **fields}


def said(id_: Any, parent: Any, text: Any = "hello", role: str = "user", **fields: Any) -> Raw:
    """Give a message entry."""
    return entry(id_, parent, "message", message={"role": role, "content": text, "timestamp": 1, **fields})


def answered(id_: str, parent: str | None, text: str = "done", **fields: Any) -> Raw:
    """Give an assistant's message entry with usage."""
    usage = {"input": 1, "output": 2, "cacheRead": 3, "cacheWrite": 4, "totalTokens": 10}
    content = [{"type": "text", "text": text}]
    return said(id_, parent, content, "assistant", usage=usage, stopReason="stop", provider="p", model="m", **fields)


def result(id_: str, parent: str | None, text: str = "output", call: str = "c1", tool: str = "read") -> Raw:
    """Give a tool result's message entry."""
    return said(id_, parent, [{"type": "text", "text": text}], "toolResult", toolCallId=call, toolName=tool)


def bash(id_: str, parent: str | None, output: str = "output") -> Raw:
    """Give the entry of a command that the user ran."""
    return entry(id_, parent, "message", message={"role": "bashExecution", "command": "ls", "output": output})


def cut(id_: str, parent: str | None, first_kept: Any, summary: str = "earlier", **fields: Any) -> Raw:
    """Give a compaction entry."""
    kept = {"firstKeptEntryId": first_kept, "tokensBefore": 9}
    return entry(id_, parent, "compaction", summary=summary, **kept, **fields)


def chain(*items: Raw) -> list[Raw]:
    """Hang each entry on the one before it."""
    ids = [None, *(item["id"] for item in items)]
    return [{**item, "parentId": parent} for item, parent in zip(items, ids, strict=False)]


def dumped(*items: Raw | bytes) -> bytes:
    """Give the lines of a file; bytes are lines as they are."""
    return b"".join(_line(item) + b"\n" for item in items)


def _line(item: Raw | bytes) -> bytes:
    return item if isinstance(item, bytes) else json.dumps(item, separators=(",", ":")).encode()


def written(path: Path, *items: Raw | bytes) -> Path:
    """Write a file of these lines."""
    path.write_bytes(dumped(*items))
    return path


def small(path: Path) -> Path:
    """Write a small session; its leaf is c, its other branch x."""
    return written(path, header(), said("a", None), answered("b", "a"), said("x", "a"), said("c", "b"))


def failing(fault: type[Exception], pattern: str) -> Any:
    """Expect an error of one line."""
    return pytest.raises(fault, match=r"\A[^\n]*" + pattern + r"[^\n]*\Z")


def ids(entries: Iterable[Any]) -> list[str]:
    """Give the ids of entries."""
    return [entry.id for entry in entries]


def kinds(session: Any) -> list[tuple[str, int]]:
    """Kind and line of each problem."""
    return [(problem.kind, problem.line) for problem in session.problems]
