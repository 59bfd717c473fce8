from __future__ import annotations

import msgspec
import pytest
from tests.replay.sessions import Story

from leafscar.replay.prices import find_prices
from leafscar.replay.recording import read_recording
from leafscar.replay.tariffs import asks_for_hours, prices_of, tariffs_of


def recording_of(*models):
    """A session that several models answered in turn."""
    story = Story()
    for model in models:
        story.model = model
        story.user().reply()
    return read_recording(story.memory())


def test_one_model_has_one_tariff():
    """A session of one model is priced by it, and needs no other tariff."""
    tariffs = tariffs_of(recording_of("claude-sonnet-4-5", "claude-sonnet-4-5"), None)
    assert tariffs.others == {}
    assert tariffs.main.prices.input == 3
    assert tariffs.main.cache.name == "anthropic"


def test_earlier_models_keep_their_own():
    """The newest model is the main one, and each earlier request is priced as what answered it."""
    recording = recording_of("claude-opus-4-5", "no-such-model", "claude-sonnet-4-5")
    tariffs = tariffs_of(recording, None)
    of = [tariffs.of(request.message) for request in recording.requests]
    assert [tariff.prices and tariff.prices.input for tariff in of] == [5, None, 3]
    assert of[2] is tariffs.main


def test_a_what_if_model_stands_for_all():
    """With --model every request is priced as that model."""
    recording = recording_of("claude-opus-4-5", "claude-sonnet-4-5")
    tariffs = tariffs_of(recording, "claude-haiku-4-5")
    assert tariffs.others == {}
    assert all(tariffs.of(request.message) is tariffs.main for request in recording.requests)
    assert tariffs.main.prices.input == 1


def test_a_what_if_model_may_be_sold_elsewhere():
    """A model that the recorded provider does not sell is priced as its maker sells it."""
    tariffs = tariffs_of(recording_of("claude-sonnet-4-5"), "gpt-4o")
    assert tariffs.main.prices.input == 2.5
    assert tariffs.main.cache.name == "openai"
    assert tariffs_of(recording_of("claude-sonnet-4-5"), "no-such-model").main.prices is None


def test_prices_are_those_of_the_session_s_time():
    """Claude Opus 4.6 lost its large-request tier in March 2026; a session of February is billed with it."""
    february = 1_771_545_600.0
    recording = recording_of("claude-opus-4-6")
    early = msgspec.structs.replace(recording, started=february)
    undated = msgspec.structs.replace(recording, started=None)
    assert prices_of(early, None) == find_prices("anthropic", "claude-opus-4-6", at=february)
    assert prices_of(undated, None) == find_prices("anthropic", "claude-opus-4-6")
    assert prices_of(early, None) != prices_of(undated, None)
    assert tariffs_of(early, None).main.prices == prices_of(early, None)


def lifetimes(*splits, model="claude-opus-4-5"):
    """A session whose requests wrote so many tokens in all and for an hour; None where the split is not told."""
    story = Story(model=model)
    for written, long in splits:
        usage = {"input": 1, "output": 1, "cacheRead": 0, "cacheWrite": written, "totalTokens": written + 2}
        story.user().reply(usage={**usage, **({} if long is None else {"cacheWrite1h": long})})
    return read_recording(story.memory())


@pytest.mark.parametrize(
    ("splits", "hour"),
    [
        ([(100, 100)], True),
        ([(100, 50)], True),
        ([(100, 49)], False),
        ([(100, 0)], False),
        ([(900, None), (100, 100)], True),
        ([(900, None)], False),
        ([(0, 0)], False),
    ],
)
def test_the_lifetime_is_the_one_that_was_asked_for(splits, hour):
    """Where most of the writes whose lifetime is told were made for an hour, all are taken to be."""
    recording = lifetimes(*splits)
    assert asks_for_hours(recording) is hour
    cache = tariffs_of(recording, None).main.cache
    assert (cache.hour, cache.ttl) == (hour, 3600 if hour else 300)


def test_only_claude_models_know_hours():
    """A host that asks for hours and is replayed as another maker's model gets that maker's cache."""
    assert not tariffs_of(lifetimes((100, 100)), "gpt-4o").main.cache.hour
    assert tariffs_of(lifetimes((100, 100)), "claude-haiku-4-5").main.cache.hour
