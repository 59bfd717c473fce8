"""What a recording and the settings say together."""

from __future__ import annotations

import pytest
from tests.replay.sessions import Story, autonomous

from leafscar.config import CompactionSection, OwnSection, PruningSection, Settings
from leafscar.engine import CutSettings, Facts, ShedSettings
from leafscar.errors import WindowUnknown
from leafscar.replay.facts import cut_settings, facts_of, shed_settings, window_of
from leafscar.replay.prices import Prices
from leafscar.replay.recording import read_recording

LISTED = Prices(source="a list", window=1_000_000)


def recording_of(story):
    """Read a story."""
    return read_recording(story.memory())


def with_cut(**fields):
    """A session that was cut at 119,000 tokens."""
    story = autonomous(60)
    return recording_of(story.cut(story.entries[-5]["id"], **{"tokensBefore": 119_000, **fields}).user().reply())


def window(recording, **options):
    """Its window."""
    return window_of(recording, **{"flag": None, "model": None, "prices": LISTED, **options})


def test_without_settings_the_defaults_hold():
    """Nothing stated: pi's reserve as a default, everything on, nothing kept or pinned."""
    recording = recording_of(Story().user("x").reply())
    assert facts_of(recording, Settings(), window=9, model=None) == Facts(window=9)
    assert shed_settings(Settings()) == ShedSettings()
    assert cut_settings(recording, Settings(), model=None) == CutSettings()


def test_every_setting_arrives():
    """Switches, cap, reserve, the way with bound thinking, pins and the kept tail."""
    settings = Settings(
        pruning=PruningSection(enabled=False, min_result_tokens=7, protect_current_turn=False),
        pruning_set=frozenset({"minResultTokens", "protectCurrentTurn"}),
        compaction=CompactionSection(
            enabled=False, reserve_overrides={"p/claude-opus-5-5": 3}, keep_recent_overrides={"p/claude-opus-5-5": 4}
        ),
        leafscar=OwnSection(window_cap=8, bound_thinking="strip", pins=("always",)),
    )
    recording = recording_of(Story(provider="p", model="claude-opus-5-5").user("x").reply())
    assert facts_of(recording, settings, window=None, model=None) == Facts(
        window=None, cap=8, reserve_tokens=3, reserve_is_set=True, compaction_enabled=False, pruning_enabled=False,
        bound_thinking=True, thinking_way="strip",
    )  # fmt: skip
    shed = shed_settings(settings)
    assert (shed.min_result_tokens, shed.protect_current_turn) == (7, False)
    assert cut_settings(recording, settings, model=None) == CutSettings(pins=("always",), keep_recent=4)
    other = facts_of(recording, settings, window=None, model="llama")
    assert (other.reserve_tokens, other.reserve_is_set, other.bound_thinking) == (16_384, False, False)
    assert cut_settings(recording, settings, model="llama").keep_recent is None


@pytest.mark.parametrize(
    ("fields", "source"),
    [
        ({}, "inferred"),
        ({"trigger": "auto"}, "inferred"),
        ({"trigger": "manual"}, "prices"),
        ({"tokensBefore": None}, "prices"),
        ({"tokensBefore": True}, "prices"),
        ({"tokensBefore": 0}, "prices"),
    ],
)
def test_only_a_sized_automatic_cut_tells_the_window(fields, source):
    """A cut that the user asked for, or that has no size, says nothing."""
    assert window(with_cut(**fields)).source == source


def test_the_flag_wins_and_another_model_has_its_own_window():
    """What was recorded of one model is no word about another."""
    recording = with_cut()
    assert window(recording, flag=70_000).detail.startswith("from --window (a what-if")
    assert window(recording, model="other").source == "prices"
    assert window(recording, model="other", flag=70_000).detail == "from --window"
    with pytest.raises(WindowUnknown, match="of other; pass --window"):
        window(recording, model="other", prices=None)
