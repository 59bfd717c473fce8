"""Recordings of every tool replay, or say in one line why not."""

import json
import math
import os
from pathlib import Path

import msgspec
import pytest

from leafscar.replay import Options, find_sessions, replay_files, replay_session
from leafscar.session import Session

ROOT = Path(__file__).parent.parent.parent
FIXTURES = ROOT / "tests" / "data" / "formats"
SHARED = Path(os.environ.get("LEAFSCAR_SHARED", ROOT.parent / "shared")) / "data" / "recorded"


def check(result):
    """Every number is finite or unknown, every row is the sum of its requests."""
    for session in result.sessions:
        for row in session.policies:
            numbers = (row.cost, row.units, row.ratio, row.saving, row.hit_ratio, row.peak)
            assert all(number is None or math.isfinite(number) for number in numbers)
            assert row.hit_ratio is None or 0 <= row.hit_ratio <= 1
            assert len(row.moments) == session.requests
            known = [moment.cost for moment in row.moments]
            if row.cost is not None and None not in known:
                assert sum(known) == pytest.approx(row.cost)
    for line in result.skipped:
        assert "\n" not in line
        assert "; " in line


def test_every_fixture_replays():
    """A folder of all formats: what can be replayed is, what holds no request is named."""
    paths = find_sessions([FIXTURES])
    result = replay_files(paths, Options(policies=("none", "balanced", "compaction"), window=60_000), "0")
    assert len(result.sessions) + len(result.skipped) == len(paths)
    assert len(result.sessions) >= 10
    check(result)


@pytest.mark.parametrize(
    "path", sorted(path for path in FIXTURES.rglob("*") if path.is_file()), ids=lambda path: path.name
)
def test_every_file_of_the_fixtures_replays_or_says_why(path):
    """One of them alone gives a result or a fault of one line, never another exception."""
    result = replay_files([path], Options(window=60_000), "0")
    check(result)
    assert not any("leafscar itself failed" in line for line in result.skipped)
    assert len(result.sessions) + len(result.skipped) == 1
    json.dumps(msgspec.to_builtins(result), allow_nan=False)


@pytest.mark.slow
@pytest.mark.skipif(not SHARED.is_dir(), reason=f"no recordings in {SHARED}")
@pytest.mark.parametrize("tool", sorted(p.name for p in SHARED.iterdir()) if SHARED.is_dir() else ["none"])
def test_real_recordings_replay(tool):
    """Real recordings of a tool give rows that add up."""
    check(replay_files(find_sessions([SHARED / tool]), Options(policies=("none", "balanced"), window=200_000), "0"))


def test_a_system_message_in_parts_is_one_block():
    """Its content may be a list of parts; the block of the cache model is named by what it says."""
    session = Session.memory(
        [
            {"type": "message", "id": "a", "parentId": None, "message": {"role": "system", "content": _parts("rules")}},
            {"type": "message", "id": "b", "parentId": "a", "message": {"role": "user", "content": "go"}},
            {"type": "message", "id": "c", "parentId": "b", "message": {**ANSWER, "content": _parts("done")}},
        ]
    )
    result = replay_session(session, Options(policies=("balanced",), window=60_000))
    assert result.policies[0].moments[0].context == pytest.approx(1_003, abs=1)


ANSWER = {
    "role": "assistant",
    "provider": "anthropic",
    "model": "claude-sonnet-4-5",
    "api": "anthropic-messages",
    "usage": {"input": 1_003, "output": 5, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 1_008},
    "stopReason": "stop",
}


def _parts(text):
    return [{"type": "text", "text": text}]
