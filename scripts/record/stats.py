"""Figures of a recording."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

IMAGE_CHARS = 4800
LARGE = 1000


def chars(message: dict) -> int:
    """Return the characters of a message's content."""
    content = message.get("content")
    if message.get("role") == "bashExecution":
        return len(message["command"]) + len(message["output"])
    if isinstance(content, str):
        return len(content)
    total = 0
    for part in content or []:
        if part["type"] == "text":
            total += len(part["text"])
        elif part["type"] == "image":
            total += IMAGE_CHARS
        elif part["type"] == "toolCall":
            total += len(part["name"]) + len(json.dumps(part["arguments"]))
    return total


def figures(path: Path) -> dict:
    """Return counts, peaks and shares of one session file."""
    entries = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    messages = [entry["message"] for entry in entries if entry["type"] == "message"]
    usages = [message["usage"] for message in messages if message["role"] == "assistant" and "usage" in message]
    prompts = [usage["input"] + usage["cacheRead"] + usage["cacheWrite"] for usage in usages]
    sizes = [(message["role"], math.ceil(chars(message) / 4)) for message in messages if message["role"] != "system"]
    total = sum(size for _role, size in sizes)
    large = sum(size for role, size in sizes if role in {"toolResult", "bashExecution"} and size > LARGE)
    return {
        "bytes": path.stat().st_size,
        "entries": len(entries) - 1,
        "messages": len(messages),
        "requests": len(usages),
        "prompts": sum(message["role"] == "user" for message in messages),
        "peak": max(prompts),
        "cuts": [entry["tokensBefore"] for entry in entries if entry["type"] == "compaction"],
        "content_tokens": total,
        "large_share": round(large / total, 3),
        "hit": round(sum(usage["cacheRead"] for usage in usages) / sum(prompts), 3),
        "cost": round(sum(usage["cost"]["total"] for usage in usages), 2),
        "errors": sum(message.get("stopReason") in {"error", "aborted"} for message in messages),
        "failed_tools": sum(bool(message.get("isError")) for message in messages),
        "kinds": sorted({entry["type"] for entry in entries}),
    }
