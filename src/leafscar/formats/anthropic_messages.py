"""Anthropic Messages: request bodies, exchanges, responses, streams, conversations one a line.

A compaction block is a cut: nothing before it is read any more. Blocks of server tools stay as they are. Other wire
formats in the same file are read too.
"""

from __future__ import annotations

from leafscar.formats._wire_exchange import ANTHROPIC
from leafscar.formats._wire_log import log_format, read_log
from leafscar.formats.reading import Reading

__all__ = ["FORMAT", "read_anthropic_messages", "sniff"]

FORMAT = "anthropic_messages"


def sniff(head: bytes, name: str) -> bool:  # noqa: ARG001 - one signature for all readers
    """Whether a file that starts with ``head`` is a log in this format."""
    return log_format(head) == FORMAT


def read_anthropic_messages(data: bytes) -> Reading:
    """Read a log; raises ``SessionRefused`` when it holds no messages in this shape."""
    return read_log(data, ANTHROPIC)
