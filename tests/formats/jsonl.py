"""Lines for the readers of line formats, what their readings must always hold, and recordings from outside."""

import copy
import json
import math
import os
from pathlib import Path

from hypothesis import strategies as st

from leafscar.compaction import project_context
from leafscar.errors import SessionRefused
from leafscar.model import Assistant, ToolResult
from leafscar.model.messages import tool_calls

FIXTURES = Path(__file__).parents[1] / "data" / "formats"
SHARED = Path(os.environ.get("LEAFSCAR_SHARED") or Path(__file__).parents[2].parent / "shared")
RECORDED = SHARED / "data" / "recorded"
ODD = [None, 5, -1, True, "", "x", [], {}, [[]], 1e308, math.nan, {"type": 5}, [None, 7, "a"], {"content": 4}]


def numbered(data):
    """Physical lines of a file's bytes, numbered from 1."""
    return list(enumerate(data.split(b"\n"), start=1))


def lines(*items):
    """Lines of JSON values, or of bytes as they are."""
    raws = [item if isinstance(item, bytes) else json.dumps(item).encode() for item in items]
    return list(enumerate(raws, start=1))


def text(words):
    """A text part, or a text block."""
    return {"type": "text", "text": words}


def kinds(reading):
    """Type of each entry, with its custom type where it has one, and its role where it is a message."""
    return [
        entry.message_data["role"] if entry.message_data else entry.get("customType") or entry.type
        for entry in reading.entries
    ]


def branch(reading, leaf=None):
    """Path from the root to an entry, by default the last one."""
    at = len(reading.entries) - 1 if leaf is None else [entry.id for entry in reading.entries].index(leaf)
    path = []
    while at >= 0:
        path.append(reading.entries[at])
        at = reading.parents[at]
    return path[::-1]


def context(reading, leaf=None):
    """Messages that the model sees at an entry, by default the last one."""
    return project_context(branch(reading, leaf)).messages


def messages(reading, role=None):
    """Message dicts of all entries, or those of one role."""
    every = [entry.message_data for entry in reading.entries if entry.type == "message"]
    return [message for message in every if role in (None, message["role"])]


def responses(reading):
    """Typed responses of all entries."""
    every = [entry.message for entry in reading.entries if entry.type == "message"]
    return [message for message in every if isinstance(message, Assistant)]


def calls(reading):
    """All tool calls."""
    return [call for response in responses(reading) for call in tool_calls(response)]


def tokens(reading):
    """Sums of the four classes over all responses, and the largest request with its output."""
    usages = [response.usage for response in responses(reading) if response.usage]
    names = ("input", "cache_read", "cache_write", "output")
    sums = {name: sum(getattr(usage, name) or 0 for usage in usages) for name in names}
    return {**sums, "peak": max((usage.prompt + (usage.output or 0) for usage in usages), default=0)}


def broken(path):
    """Ids of the calls and results on a path that do not stand right after one another."""
    faults, waiting = [], []
    for message in (entry.message for entry in path if entry.type == "message"):
        if isinstance(message, ToolResult):
            found = message.tool_call_id in waiting
            faults += [] if found else [message.tool_call_id]
            waiting = [id_ for id_ in waiting if id_ != message.tool_call_id]
        elif isinstance(message, Assistant):
            faults += waiting
            waiting = [call.id for call in tool_calls(message)]
    return faults, waiting


def check(reading):
    """What every reading holds, whatever the file was."""
    ids = [entry.id for entry in reading.entries]
    assert len(set(ids)) == len(ids)
    for position, (entry, parent) in enumerate(zip(reading.entries, reading.parents, strict=True)):
        assert -1 <= parent < position
        assert entry.parent_id == (ids[parent] if parent >= 0 else None)
        assert entry.data["type"] == entry.type
        assert entry.message is None or entry.type != "custom"
        if entry.type == "compaction":
            assert entry.get("firstKeptEntryId") in ids[: position + 1]
    for response in responses(reading):
        assert response.usage is None or not response.usage.faults
    context(reading)
    return reading


def read_anyway(read, sniff, numbered_lines):
    """A reading that holds together, or the one refusal that is allowed; a look at the head never raises."""
    assert sniff(b"\n".join(raw for _, raw in numbered_lines)[:2000], "x.jsonl") in (True, False)
    try:
        reading = read(numbered_lines)
    except SessionRefused:
        return None
    return check(reading)


@st.composite
def damaged(draw, data):
    """Bytes of a file with some of them flipped, and perhaps its end cut off."""
    raw = bytearray(data)
    for at, value in draw(st.lists(st.tuples(st.integers(0, len(raw) - 1), st.integers(0, 255)), max_size=6)):
        raw[at] = value
    return bytes(raw[: draw(st.one_of(st.just(len(raw)), st.integers(0, len(raw))))])


@st.composite
def disordered(draw, data):
    """Lines of a file with some of their values replaced by odd ones, some lines repeated and some gone."""
    records = [json.loads(line) for line in data.splitlines()]
    order = draw(st.lists(st.integers(0, len(records) - 1), min_size=1, max_size=len(records) + 4))
    chosen = [copy.deepcopy(records[at]) for at in (sorted(order) if draw(st.booleans()) else order)]
    for _ in range(draw(st.integers(0, 4))):
        holder, key = draw(st.sampled_from(places(draw(st.sampled_from(chosen)))))
        holder[key] = copy.deepcopy(draw(st.sampled_from(ODD)))
    return lines(*chosen)


def places(value):
    """Every place in a JSON value that holds another: its holder and the key."""
    found, left = [], [value]
    while left:
        item = left.pop()
        for key, inner in item.items() if isinstance(item, dict) else enumerate(item):
            found.append((item, key))
            if isinstance(inner, dict | list):
                left.append(inner)
    return found or [({}, "nothing")]
