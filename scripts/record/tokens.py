"""Token counts of a request and an honest prefix cache.

A count is characters / 3.6 for ASCII text, 0.9 a character for everything else, plus a few tokens for every block.
A prompt is a list of segments (tools, system, one per message); a prefix that ends between two segments is cached for
five minutes after its last use, as Anthropic's default cache does.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
import struct
from dataclasses import dataclass, field

TTL_MS = 5 * 60 * 1000
MIN_PREFIX = 1024
MESSAGE_OVERHEAD = 4
REPLY_PRIMER = 3


def count_text(text: str) -> int:
    """Return the estimated tokens of a text."""
    ascii_only = len(text.encode("ascii", "ignore"))
    return math.ceil(ascii_only / 3.6 + (len(text) - ascii_only) * 0.9)


def count_png(data: str) -> int:
    """Return the tokens of a base64 PNG: width x height / 750."""
    width, height = struct.unpack(">II", base64.b64decode(data[:64])[16:24])
    return max(1, width * height // 750)


def _walk(value: object) -> int:
    if isinstance(value, str):
        return count_text(value)
    if isinstance(value, list):
        return sum(_walk(item) for item in value)
    if isinstance(value, dict):
        source = value.get("source")
        if value.get("type") == "image" and isinstance(source, dict):
            return count_png(source["data"])
        url = value.get("image_url")
        if isinstance(url, dict):
            return count_png(url["url"].partition(",")[2])
        return sum(_walk(item) + 1 for item in value.values())
    return 1


def _without_marks(value: object) -> object:
    """Drop cache breakpoints, which move from request to request and are not part of the prompt."""
    if isinstance(value, list):
        return [_without_marks(item) for item in value]
    if isinstance(value, dict):
        return {key: _without_marks(item) for key, item in value.items() if key != "cache_control"}
    return value


def segments(body: dict) -> list[tuple[bytes, int]]:
    """Return (digest, tokens) of the request's parts in prompt order."""
    parts: list[object] = [body.get("tools") or [], body.get("system") or []]
    for message in body.get("messages", []):
        content = message.get("content")
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        parts.append({**message, "content": blocks})
    out = []
    for part in parts:
        plain = _without_marks(part)
        digest = hashlib.blake2b(json.dumps(plain, sort_keys=True).encode(), digest_size=16).digest()
        out.append((digest, _walk(plain) + MESSAGE_OVERHEAD if plain else 0))
    return out


@dataclass
class Usage:
    """What the provider reports for one request."""

    fresh: int
    read: int
    written: int
    output: int = 0

    @property
    def prompt(self) -> int:
        """The whole prompt."""
        return self.fresh + self.read + self.written


@dataclass
class PrefixCache:
    """Prefixes by the digest of everything up to them, with the time at which they expire."""

    expires: dict[bytes, int] = field(default_factory=dict)

    def measure(self, body: dict, now_ms: int, *, cached: bool) -> Usage:
        """Return the usage of a request and remember its prefixes."""
        total, read, chain = 0, 0, b""
        prefixes: list[tuple[bytes, int]] = []
        for digest, size in segments(body):
            chain = hashlib.blake2b(chain + digest, digest_size=16).digest()
            total += size
            prefixes.append((chain, total))
            if self.expires.get(chain, 0) > now_ms:
                read = total
        if not cached or total < MIN_PREFIX:
            return Usage(total + REPLY_PRIMER, 0, 0)
        for prefix, size in prefixes:
            if size >= MIN_PREFIX:
                self.expires[prefix] = now_ms + TTL_MS
        return Usage(REPLY_PRIMER, read, total - read)
