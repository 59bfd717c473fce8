"""OpenAI Responses: items, request bodies, exchanges, responses, streams.

What the model gave without a result between is one response. A compaction item is a cut with an encrypted summary; only
user messages that stand alone before it are still read. Other wire formats in the same file are read too.
"""

from __future__ import annotations

from leafscar.formats._wire_exchange import RESPONSES
from leafscar.formats._wire_log import log_format, read_log
from leafscar.formats.reading import Reading

__all__ = ["FORMAT", "read_openai_responses", "sniff"]

FORMAT = "openai_responses"


def sniff(head: bytes, name: str) -> bool:  # noqa: ARG001 - one signature for all readers
    """Whether a file that starts with ``head`` is a log in this format."""
    return log_format(head) == FORMAT


def read_openai_responses(data: bytes) -> Reading:
    """Read a log; raises ``SessionRefused`` when it holds no messages in this shape."""
    return read_log(data, RESPONSES)
