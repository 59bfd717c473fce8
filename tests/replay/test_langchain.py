from __future__ import annotations

import pytest

from leafscar.model import as_message
from leafscar.replay.langchain import approximate_tokens

CALL = {"type": "toolCall", "id": "call_1", "name": "read", "arguments": {"path": "a.py"}}


@pytest.mark.parametrize(
    ("message", "tokens"),
    [
        ({"role": "user", "content": "x" * 36}, 10 + 3),
        ({"role": "user", "content": "x" * 37}, 11 + 3),
        ({"role": "user", "content": [{"type": "image", "data": "A" * 9_999, "mimeType": "image/png"}]}, 1 + 3 + 85),
        ({"role": "user", "content": "\U0001f600" * 36}, 10 + 3),
        ({"role": "assistant", "content": [{"type": "text", "text": "x" * 7}]}, 4 + 3),
        ({"role": "assistant", "content": [CALL]}, 23 + 3),
        ({"role": "toolResult", "toolCallId": "call_1", "toolName": "read", "content": "x" * 18}, 8 + 3),
        ({"role": "bashExecution", "command": "ls", "output": "x" * 10}, 4 + 3),
        ({"role": "compactionSummary", "summary": "x" * 8}, 3 + 3),
        ({"role": "system", "content": "x" * 400}, 0),
        ({"role": "elsewhere", "content": "x" * 400}, 0),
    ],
)
def test_messages(message, tokens):
    """Characters / 4, with the role, names and ids, rounded up once, then 3; an image is 85."""
    assert approximate_tokens(as_message(message)) == tokens
