"""OpenAI Chat Completions: a list of messages, a request, conversations or messages one a line, exchanges, streams.

Exchanges that repeat earlier messages share their entries; a request that changed old messages is a branch. Messages of
the assistant that follow each other in a plain log are one response. Results without a known id answer the oldest open
call; results that stand elsewhere than behind their call stay where they are.
"""

from __future__ import annotations

from leafscar.formats._wire_exchange import CHAT
from leafscar.formats._wire_log import log_format, read_log
from leafscar.formats.reading import Reading

__all__ = ["FORMAT", "read_openai_chat", "sniff"]

FORMAT = "openai_chat"


def sniff(head: bytes, name: str) -> bool:  # noqa: ARG001 - one signature for all readers
    """Whether a file that starts with ``head`` is a log in this format."""
    return log_format(head) == FORMAT


def read_openai_chat(data: bytes) -> Reading:
    """Read a log; raises ``SessionRefused`` when it holds no messages in this shape."""
    return read_log(data, CHAT)
