"""Sessions for these tests: short makers of entries, in pi's shape."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from typing import Any, TypeVar

from leafscar.compaction import SummaryRequest, SummaryResponse

Raw = dict[str, Any]
_T = TypeVar("_T")


def user(text: Any = "question", **fields: Any) -> Raw:
    """A message of the user."""
    return {"role": "user", "content": text, "timestamp": 1, **fields}


def call(id_: str, name: str = "read", **arguments: Any) -> Raw:
    """One tool call, as a part."""
    return {"type": "toolCall", "id": id_, "name": name, "arguments": arguments}


def assistant(*parts: Any, total: int | None = None, stop: str = "stop", **fields: Any) -> Raw:
    """A response; strings become text parts, ``total`` its reported tokens."""
    content = [{"type": "text", "text": part} if isinstance(part, str) else part for part in parts]
    usage = {"input": total, "output": 0, "cacheRead": 0, "cacheWrite": 0, "totalTokens": total}
    counted = {} if total is None else {"usage": usage}
    return {"role": "assistant", "content": content, "stopReason": stop, "timestamp": 2, **counted, **fields}


def result(id_: str, text: str = "output", **fields: Any) -> Raw:
    """The answer to a call."""
    content = [{"type": "text", "text": text}]
    return {"role": "toolResult", "toolCallId": id_, "toolName": "read", "content": content, "timestamp": 3, **fields}


def bash(command: str = "ls", output: str = "out", **fields: Any) -> Raw:
    """A command that the user ran."""
    return {"role": "bashExecution", "command": command, "output": output, "timestamp": 4, **fields}


def tokens(count: int) -> str:
    """Text of ``count`` tokens by the sources' rule."""
    return "x" * (4 * count)


def session(*items: Raw) -> list[Raw]:
    """Give a path of entries e1, e2, ...; a message becomes a message entry, an entry keeps its own id."""
    path: list[Raw] = []
    for number, item in enumerate(items, start=1):
        entry = {"type": "message", "message": item} if "role" in item else item
        parent = path[-1]["id"] if path else None
        head = {"id": f"e{number}", "parentId": parent, "timestamp": "2026-05-01T00:00:00.000Z"}
        path.append({**head, **entry})
    return path


def entry(kind: str, **fields: Any) -> Raw:
    """An entry that is no message."""
    return {"type": kind, **fields}


def mark() -> Raw:
    """The mark of a submission."""
    return entry("custom", customType="leafscar.submission", data={})


def compaction(first_kept: str | None, summary: str = "earlier", **fields: Any) -> Raw:
    """A cut that keeps from ``first_kept``."""
    return entry("compaction", summary=summary, firstKeptEntryId=first_kept, tokensBefore=5, **fields)


def settings(keep: int = 20, reserve: int = 1000) -> Raw:
    """Settings in pi's names."""
    return {"enabled": True, "reserveTokens": reserve, "keepRecentTokens": keep}


def ids(items: Sequence[Any]) -> list[str]:
    """Ids of the entries that items come from."""
    return [item.entry.id for item in items]


def run(
    asking: Generator[SummaryRequest, SummaryResponse, _T], *answers: SummaryResponse | str
) -> tuple[_T, list[SummaryRequest]]:
    """Answer a generator's requests in turn; texts stand for whole responses."""
    asked: list[SummaryRequest] = []
    queue = list(answers)
    try:
        request = next(asking)
        while True:
            asked.append(request)
            answer = queue.pop(0)
            request = asking.send(answer if isinstance(answer, SummaryResponse) else SummaryResponse(texts=(answer,)))
    except StopIteration as done:
        return done.value, asked


def usage(count: int, **fields: Any) -> Mapping[str, Any]:
    """Usage in pi's shape."""
    costs = {"input": count, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": count}
    parts = {"input": count, "output": 1, "cacheRead": 0, "cacheWrite": 0, "totalTokens": count + 1}
    return {**parts, "cost": costs, **fields}
