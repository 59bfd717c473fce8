"""Small sessions for the tests of pruning."""

import json
from functools import cache
from pathlib import Path

from leafscar.pruning import DEFAULT, prune

WINDOW, RESERVE = 50_000, 6_000


@cache
def vectors(section):
    """Cases of one section of the golden values."""
    path = Path(__file__).parents[1] / "data" / "pruning.json"
    return json.loads(path.read_text(encoding="utf-8"))[section]


def text(value):
    """A text part."""
    return {"type": "text", "text": value}


def image(name="pic"):
    """An image part."""
    return {"type": "image", "data": name, "mimeType": "image/png"}


def user(value="go on", at=1):
    """A message by the user."""
    return {"role": "user", "content": [text(value)], "timestamp": at}


def call(call_id, name, **arguments):
    """A tool call part."""
    return {"type": "toolCall", "id": call_id, "name": name, "arguments": arguments}


def assistant(*parts, tokens=0, stop="stop", at=2):
    """A response; ``tokens`` is what its provider reported."""
    usage = {"input": tokens, "output": 0, "cacheRead": 0, "cacheWrite": 0, "totalTokens": tokens}
    return {"role": "assistant", "content": list(parts), "usage": usage, "stopReason": stop, "timestamp": at}


def result(call_id, name, content, *, error=False, at=3):
    """The result of one tool call."""
    parts = [text(content)] if isinstance(content, str) else content
    return {
        "role": "toolResult",
        "toolCallId": call_id,
        "toolName": name,
        "content": parts,
        "isError": error,
        "details": {"kept": True},
        "timestamp": at,
    }


def execution(command, output, *, code=0, cancelled=False, excluded=False, at=4):
    """A command that the user ran."""
    message = {"role": "bashExecution", "command": command, "output": output, "cancelled": cancelled}
    message |= {"truncated": False, "timestamp": at, "excludeFromContext": excluded}
    return message if code is None else message | {"exitCode": code}


def entries_of(messages):
    """One entry for each message, in order."""
    return [
        {"type": "message", "id": f"e{index}", "parentId": f"e{index - 1}" if index else None, "message": message}
        for index, message in enumerate(messages)
    ]


def by_line(entry):
    """The line of an entry that :func:`entries_of` made, as a reference."""
    return f"#{int(entry['id'][1:]) + 2}"


def run(messages, entries=None, **given):
    """One pass that has been told to engage, over a session of exactly these messages."""
    options = {"context_window": WINDOW, "reserve_tokens": RESERVE, "engage": True, "rules": DEFAULT}
    options |= {"reference_for": by_line} | given
    return prune(messages, entries_of(messages) if entries is None else entries, **options)


def lines(count, width, mark="row"):
    """Numbered lines of exactly ``width`` units."""
    return "\n".join(f"{mark} {number:04d} ".ljust(width, "#") for number in range(1, count + 1))
