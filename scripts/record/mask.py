"""Replaces pi's own prompt and tool texts by filler, and checks a recording."""

from __future__ import annotations

import hashlib
import json
import platform
import re

KEPT = set('\n\r\t"\\')
BMP = 0xFFFF
LABEL = "[pi text]"
PREAMBLE_CHARS = 103
PREAMBLE_SHA256 = "8cec318a8d7b328ea984295f5a59325e2f8736059661b70a1b9e957e69788e16"


def filler(text: str) -> str:
    """Return filler of the same length in UTF-16 units, raw and as JSON."""
    units: list[str] = []
    for char in text:
        units += [char] if char in KEPT else ["."] * (2 if ord(char) > BMP else 1)
    head = units[: len(LABEL)]
    if len(head) == len(LABEL) and not KEPT & set(head):
        units[: len(LABEL)] = LABEL
    return "".join(units)


def _schema(value: object) -> object:
    """Mask the descriptions inside a tool's parameter schema."""
    if isinstance(value, list):
        return [_schema(item) for item in value]
    if isinstance(value, dict):
        return {
            key: filler(item) if key == "description" and isinstance(item, str) else _schema(item)
            for key, item in value.items()
        }
    return value


def _system(message: dict) -> dict:
    out = dict(message)
    content = out.get("content")
    if isinstance(content, str):
        out["content"] = filler(content)
    elif isinstance(content, list):
        out["content"] = [{**part, "text": filler(part["text"])} if "text" in part else part for part in content]
    if isinstance(out.get("sections"), dict):
        out["sections"] = {k: filler(v) if isinstance(v, str) else v for k, v in out["sections"].items()}
    if "toolsAdded" in out:
        out["toolsAdded"] = _schema(out["toolsAdded"])
    return out


def _strings(before: object, after: object) -> dict[str, str]:
    """Return the strings that differ between an object and its masked form."""
    if isinstance(before, str):
        return {before: str(after)} if before != after else {}
    pairs: list = []
    if isinstance(before, dict) and isinstance(after, dict):
        pairs = [(before[key], after[key]) for key in before]
    elif isinstance(before, list) and isinstance(after, list):
        pairs = list(zip(before, after, strict=True))
    return {old: new for left, right in pairs for old, new in _strings(left, right).items()}


def _branch_summary(summary: str) -> str:
    """Mask the sentence that pi puts before the summary of a branch; it is known by its digest."""
    head = summary[:PREAMBLE_CHARS]
    known = hashlib.sha256(head.encode()).hexdigest() == PREAMBLE_SHA256
    return filler(head) + summary[PREAMBLE_CHARS:] if known else summary


def mask_line(line: str) -> str:
    """Return a session line without pi's texts; nothing else on the line changes."""
    entry = json.loads(line)
    if entry.get("type") == "branch_summary":
        masked = {**entry, "summary": _branch_summary(entry["summary"])}
    elif isinstance(entry.get("systemMessage"), dict):
        masked = {**entry, "systemMessage": _system(entry["systemMessage"])}
    elif entry.get("type") == "message" and entry["message"].get("role") == "system":
        masked = {**entry, "message": _system(entry["message"])}
    else:
        return line
    swaps = _strings(entry, masked)
    for old in sorted(swaps, key=len, reverse=True):
        line = line.replace(json.dumps(old, ensure_ascii=False), json.dumps(swaps[old], ensure_ascii=False))
    if json.loads(line) != masked:
        raise RuntimeError("masking changed more than pi's texts")
    return line


def leaks(text: str, paths: list[str]) -> list[str]:
    """Return strings that must not be in a recording but are."""
    host = platform.node()
    found = [word for word in ["not-a-key", "/root", *paths] if word and word in text]
    if host and re.search(rf"(?<![A-Za-z0-9_.-]){re.escape(host)}(?![A-Za-z0-9_-])", text):
        found.append(host)
    return found
