"""Gemini generateContent: a list of contents, a request, exchanges, a response, chunks of a stream.

Exchanges that repeat earlier contents share their entries. Results are paired with calls by id, else by name in order.
"""

from __future__ import annotations

from leafscar.formats._wire_exchange import GEMINI
from leafscar.formats._wire_log import log_format, read_log
from leafscar.formats.reading import Reading

__all__ = ["FORMAT", "read_gemini_content", "sniff"]

FORMAT = "gemini_content"


def sniff(head: bytes, name: str) -> bool:  # noqa: ARG001 - one signature for all readers
    """Whether a file that starts with ``head`` is a log in this format."""
    return log_format(head) == FORMAT


def read_gemini_content(data: bytes) -> Reading:
    """Read a log; raises ``SessionRefused`` when it holds no messages in this shape."""
    return read_log(data, GEMINI)
