"""The cache model against what recordings were billed: the tolerance of docs/cost-model.md."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.replay.sessions import Story

from leafscar.errors import SessionError
from leafscar.replay.check import check_model
from leafscar.session import Session, load

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.jsonl"))
SHARED = Path(os.environ.get("LEAFSCAR_SHARED") or Path(__file__).parents[2].parent / "shared") / "data" / "recorded"
RECORDED = sorted([*SHARED.glob("claude-code/**/*.jsonl"), *SHARED.glob("pi/*.jsonl")])
LEAST_REQUESTS = 5
SHARE = 0.05
"""Points of the read share, and below what a recording's bill may be missed by when its unexplained losses count."""
ALL, BESIDE_LOSSES = 0.25, 0.035


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_are_billed_as_they_were(path):
    """Sessions without surprises are met within 1 % of the bill and of the share that was read."""
    check = check_model(load(path))
    assert check.error <= 0.01
    assert abs(check.read_share - check.modelled_share) <= 0.01
    assert (check.losses, check.rest) == (0, pytest.approx(check.error, abs=0.01))


@pytest.mark.skipif(not RECORDED, reason="the recordings of real sessions are not here")
@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.stem)
def test_recordings_are_billed_within_the_tolerance(path):
    """Real sessions stay within a quarter of the bill, and within 3.5 % beside losses that nothing explains."""
    check = check_model(load(path))
    assert abs(check.read_share - check.modelled_share) <= SHARE
    if check.requests >= LEAST_REQUESTS:
        assert check.error <= ALL
        assert check.rest <= BESIDE_LOSSES


def told(*, read, written, uncached=0.0, **fields):
    """Usage of a request."""
    counts = {"input": uncached, "cacheRead": read, "cacheWrite": written, "output": 40}
    return {**counts, "totalTokens": sum(counts.values()), **fields}


def test_a_loss_that_nothing_explains_is_counted():
    """The cache was lost in the middle of a turn: the model misses it, and is right beside it."""
    story = Story().user()
    for number in range(12):
        usage = story.usage()
        if number == 8:
            usage = {**usage, "cacheRead": 0, "cacheWrite": usage["totalTokens"] - 40}
        story.call("x" * 8_000, usage=usage)
    check = check_model(story.memory())
    assert check.losses == 1
    assert check.error > 0.05
    assert check.rest < 0.01


def test_losses_of_a_shared_prefix_cost_the_input_price():
    """Where the cache fills without a premium, a lost token costs the input price instead of the read's."""
    story = Story(model="gpt-5", provider="openai", api="openai-responses").user()
    for number in range(12):
        usage = story.usage()
        prompt, read = usage["totalTokens"] - 40, 0 if number == 8 else usage["cacheRead"]
        story.call("x" * 8_000, usage=told(read=read, written=0, uncached=prompt - read))
    check = check_model(story.memory())
    assert (check.losses, check.model) == (1, "gpt-5")
    assert check.rest < 0.025 < check.error


def test_a_cut_is_no_loss():
    """What a cut takes away is lost in the recording and in the model alike."""
    story = Story().user().calls(20)
    story.cut(story.entries[-4]["id"])
    story.calls(6)
    check = check_model(story.memory())
    assert (check.losses, check.requests) == (0, 26)


def test_what_is_not_reported_stays_unknown():
    """Without usage there is no share, no bill and no error; a session without requests is refused."""
    story = Story().user()
    for _ in range(6):
        story.call("x", usage=None)
    check = check_model(story.memory())
    assert (check.read_share, check.cost, check.units, check.error, check.rest) == (None, None, None, None, None)
    with pytest.raises(SessionError, match="holds no request to check"):
        check_model(Session.memory())
