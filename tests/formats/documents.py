"""Documents for the readers that take a file's bytes as a whole."""

import copy
import json

from hypothesis import strategies as st
from tests.formats.jsonl import FIXTURES, ODD, check, places

from leafscar.errors import SessionRefused


def fixture(format_, name):
    """Bytes of one of our own files."""
    return (FIXTURES / format_ / name).read_bytes()


def fixtures(format_):
    """All of our own files of a format, by name."""
    return {path.name: path.read_bytes() for path in sorted((FIXTURES / format_).iterdir())}


def raw(value):
    """A JSON document."""
    return json.dumps(value).encode()


def rows(*values):
    """JSON lines."""
    return b"\n".join(value if isinstance(value, bytes) else raw(value) for value in values)


def read_or_refuse(read, data):
    """A reading that holds together, or None after the one refusal that is allowed."""
    try:
        reading = read(data)
    except SessionRefused:
        return None
    return check(reading)


def kinds(reading):
    """Type of each entry, of a message its role."""
    return [(entry.message_data or {}).get("role", entry.type) for entry in reading.entries]


def customs(reading):
    """Custom types of the entries that have one."""
    return [entry.get("customType") for entry in reading.entries if entry.type in ("custom", "custom_message")]


@st.composite
def mangled(draw, data):
    """A JSON file with some of its values replaced by odd ones; of lines, some are gone or stand elsewhere."""
    try:
        value, whole = json.loads(data), True
    except ValueError:
        value, whole = [json.loads(line) for line in data.splitlines() if line.strip()], False
    value = copy.deepcopy(value)
    for _ in range(draw(st.integers(0, 5))):
        holder, key = draw(st.sampled_from(places(value)))
        holder[key] = copy.deepcopy(draw(st.sampled_from(ODD)))
    if isinstance(value, list) and draw(st.booleans()):
        value = [value[at] for at in draw(st.lists(st.integers(0, len(value) - 1), max_size=len(value) + 3))]
    return raw(value) if whole else rows(*value)
