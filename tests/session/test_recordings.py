"""Public recordings that do not ship with the project; read where they are at hand."""

import json
import os
from pathlib import Path

import pytest
from tests.session.build import ids, kinds

from leafscar.errors import SessionRefused
from leafscar.model import Assistant
from leafscar.model.messages import tool_calls
from leafscar.session import load

SHARED = Path(os.environ.get("LEAFSCAR_SHARED") or Path(__file__).parents[2].parent / "shared") / "data"
RECORDED, PI = SHARED / "recorded" / "pi", SHARED / "pi-recorded"
INDEX = {
    # records, assistant messages, tool calls, input, cache read, cache write, output, peak
    "gjc-awesome-agent-ide.v3.jsonl": (159, 60, 78, 848_185, 6_539_072, 0, 88_095, 188_365),
    "gjc-raddit-dashboard.v3.jsonl": (586, 253, 259, 1_389_949, 54_076_160, 0, 193_601, 374_551),
    "pi-before-compaction.v1.jsonl": (1003, 484, 454, 3_689, 54_693_675, 1_685_320, 187_895, 185_014),
}
BROKEN = {
    "gjc-awesome-agent-ide.v3.jsonl": ["broken-line", "missing-parent"],
    "gjc-raddit-dashboard.v3.jsonl": ["broken-line", "missing-parent"],
    "pi-before-compaction.v1.jsonl": [],
}
pytestmark = pytest.mark.skipif(not SHARED.is_dir(), reason=f"no recordings in {SHARED}; set LEAFSCAR_SHARED")


def tell(path):
    """Counts and sums of a session."""
    session = load(path)
    spoken = [it.message for it in session.entries if isinstance(it.message, Assistant)]
    usages = [message.usage for message in spoken]
    sums = [sum(getattr(usage, name) for usage in usages) for name in ("input", "cache_read", "cache_write", "output")]
    peak = max(usage.prompt + usage.output for usage in usages)
    calls = sum(len(list(tool_calls(message))) for message in spoken)
    return (len(session.entries) + 1, len(spoken), calls, *sums, peak)


@pytest.mark.parametrize("name", INDEX)
def test_recordings_give_the_totals_of_the_index(name):
    """Records, answers, calls and tokens of every recording are those that were counted without leafscar."""
    assert tell(RECORDED / name) == INDEX[name]


@pytest.mark.parametrize("name", INDEX)
def test_recordings_are_read_around_their_broken_lines(name):
    """A broken line and the parent that it took along are all that is wrong with them."""
    assert [kind for kind, _ in kinds(load(RECORDED / name))] == BROKEN[name]


def test_no_recording_is_left_out():
    """Every recording at hand is in the list."""
    assert sorted(path.name for path in RECORDED.iterdir()) == sorted(INDEX)


ERRORS = ("anthropic_count_tokens_error.jsonl", "google-429-retry-info.json")
"""Recorded failures: they hold no message."""


@pytest.mark.parametrize(
    "path", sorted(path for path in RECORDED.parent.rglob("*") if path.is_file()), ids=lambda path: path.name
)
def test_every_recording_loads(path):
    """Whatever tool or service it is of, it opens and holds messages, but for two that hold a failure alone."""
    if path.name in ERRORS:
        with pytest.raises(SessionRefused):
            load(path)
    else:
        assert any(entry.message for entry in load(path).entries)


def counted(path):
    """Lines of entries and problems of a file, by a plain count."""
    entries, problems, known = [], [], set()
    for number, raw in enumerate(path.read_bytes().removesuffix(b"\n").split(b"\n"), start=1):
        try:
            data = json.loads(raw)
        except ValueError:
            problems.append(("broken-line" if raw.strip() else "blank-line", number))
            continue
        if number == 1:
            continue
        entries.append(number)
        if data.get("parentId") is not None and data["parentId"] not in known:
            problems.append(("missing-parent", number))
        known.add(data.get("id"))
    return entries, problems


@pytest.mark.parametrize("path", sorted(PI.glob("*.jsonl")), ids=lambda path: path.stem)
def test_files_of_the_real_pi(path):
    """Entries and problems are those that a count of lines gives, and the context is the same from both ends."""
    session = load(path)
    short = ids(session.context().entries)
    assert ([it.line for it in session.entries], kinds(session)) == counted(path)
    assert ids(session.context().entries) == short
    assert short
