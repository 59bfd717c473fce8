from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leafscar.config import POLICIES, parse_pairs
from leafscar.config._json import loads
from leafscar.config._keys import EDITABLE, checked_pairs
from leafscar.errors import SettingsError

NAMES = ["enabled", "minResultTokens", "protectCurrentTurn", "policy", "pins", "neverPrune.tools", "neverPrune.paths"]
NAMES += ["windowCap", "prompts", "boundThinking", "shedArguments", "continuity"]


def test_the_keys_are_exactly_these():
    """Section pruning has the three shared keys, section leafscar has ours, in the order they are shown."""
    assert [key.name for key in EDITABLE] == NAMES
    assert [key.dotted for key in EDITABLE[:3]] == [f"pruning.{name}" for name in NAMES[:3]]
    assert all(key.dotted.startswith("leafscar.") for key in EDITABLE[3:])


@pytest.mark.parametrize(
    ("pair", "key", "value"),
    [
        ("enabled=false", "pruning.enabled", False),
        ("pruning.enabled=true", "pruning.enabled", True),
        ("minResultTokens=500", "pruning.minResultTokens", 500),
        ("minResultTokens=007", "pruning.minResultTokens", 7),
        ("windowCap=1000000000", "leafscar.windowCap", 10**9),
        ("policy=fewest-cuts", "leafscar.policy", "fewest-cuts"),
        ("leafscar.policy=compaction:0.8", "leafscar.policy", "compaction:0.8"),
        ("policy=compaction:.5", "leafscar.policy", "compaction:.5"),
        ("policy=compaction:1", "leafscar.policy", "compaction:1"),
        ('pins=["a = b","c"]', "leafscar.pins", ["a = b", "c"]),
        ("pins=[]", "leafscar.pins", []),
        ('neverPrune.tools=["read"]', "leafscar.neverPrune.tools", ["read"]),
        ("prompts=pi:/opt/a=b", "leafscar.prompts", "pi:/opt/a=b"),
        ("prompts=own", "leafscar.prompts", "own"),
        ("boundThinking=drop_block", "leafscar.boundThinking", "drop_block"),
        ("shedArguments=true", "leafscar.shedArguments", True),
        ("continuity=false", "leafscar.continuity", False),
    ],
)
def test_good_pairs(pair, key, value):
    """A pair is read with its key bare or dotted; everything after the first = is the value."""
    found = parse_pairs([pair])
    assert found == {key: value}
    assert type(found[key]) is type(value)


@pytest.mark.parametrize(
    ("pair", "message"),
    [
        (
            "windowCap=1000000001",
            "windowCap must be a whole number from 1 to 1,000,000,000, written in digits, got: 1000000001",
        ),
        ("enabled", "expected key=value, got: enabled"),
        ("=true", "expected key=value, got: =true"),
        ("", "expected key=value, got: "),
        ("enabled=True", "enabled must be true or false, got: True"),
        ("enabled=1", "enabled must be true or false, got: 1"),
        ("enabled=", "enabled must be true or false, got: "),
        *(
            (f"minResultTokens={text}", f"minResultTokens must be a positive integer written in digits, got: {text}")
            for text in (
                "0",
                "000",
                "-1",
                "+1",
                "1.0",
                "1e3",
                "1_000",
                " 5",
                "5 ",
                "٣",
                "",
                "9007199254740992",
                "1" * 99,
            )
        ),
        ("policy=compaction:0", "policy must be one of "),
        ("policy=compaction:1.1", "policy must be one of "),
        ("policy=compaction:", "policy must be one of "),
        ("policy=none:0.5", "policy must be one of "),
        ("policy=compaction:nan", "policy must be one of "),
        ("policy=", "policy must be one of none, compaction, classic, source, balanced, fewest-cuts, thrifty or "),
        ("pins=never push", 'pins must be a JSON list of non-empty strings, such as ["one","two"], got: never push'),
        ('pins=["a",1]', "pins must be a JSON list"),
        ('pins=["a"," "]', "pins must be a JSON list"),
        ('pins="a"', "pins must be a JSON list"),
        ("prompts=pi:", "prompts must be own or pi:PATH, got: pi:"),
        ("prompts=mine", "prompts must be own or pi:PATH, got: mine"),
        ("boundThinking=on", "boundThinking must be one of off, drop_block, strip, got: on"),
        ("compaction.reserveTokens=5", "compaction.reserveTokens belongs to pi and is only read here; set it in pi"),
        ("compaction=5", "compaction belongs to pi"),
        ("polcy=none", "unknown key: polcy (did you mean policy?); known keys: enabled, minResultTokens, "),
        ("leafscar.polcy=none", "unknown key: leafscar.polcy (did you mean policy?)"),
        ("neverPrune.tool=[]", "unknown key: neverPrune.tool (did you mean neverPrune.tools?)"),
        ("zzz=1", f"unknown key: zzz; known keys: {', '.join(NAMES)}"),
        ("a\x1b=1", "unknown key: a\\u001b; "),
    ],
)
def test_bad_pairs(pair, message):
    """A bad pair says what was expected and what was given."""
    with pytest.raises(SettingsError) as caught:
        parse_pairs([pair])
    assert str(caught.value).startswith(message)
    assert len(caught.value.problems) == 1


def test_a14_121_the_first_bad_pair_aborts():
    """One bad pair among good ones fails the whole list, and it is the first bad one that is named."""
    with pytest.raises(SettingsError, match="minResultTokens must be"):
        parse_pairs(["enabled=false", "minResultTokens=1e3", "protectCurrentTurn=maybe"])


def test_the_last_of_two_equal_keys_wins():
    """A key given twice, bare and dotted, takes its last value."""
    assert parse_pairs(["enabled=false", "pruning.enabled=true"]) == {"pruning.enabled": True}


@settings(max_examples=100)
@given(st.text())
def test_any_text_gives_pairs_or_a_settings_error(text):
    """No text makes the parser fail in another way."""
    for arg in (text, f"policy={text}", f"pins={text}", f"minResultTokens={text}"):
        with suppress(SettingsError):
            assert len(parse_pairs([arg])) == 1


@pytest.mark.parametrize("policy", POLICIES)
def test_every_policy_name_is_taken(policy):
    """Each policy name is a legal value of the key."""
    assert checked_pairs({"policy": policy}) == {("leafscar", "policy"): policy}


def test_values_from_code_are_checked_too():
    """Values that do not come from text pass the same checks; all faults are named at once."""
    assert checked_pairs({"leafscar.pins": ("a",), "minResultTokens": loads("1e3"), "enabled": None}) == {
        ("leafscar", "pins"): ["a"],
        ("pruning", "minResultTokens"): 1000,
    }
    with pytest.raises(SettingsError) as caught:
        checked_pairs({"enabled": 1, "windowCap": 1.5, "pins": "x", "policy": 3, "prompts": None, "boundThinking": []})
    assert caught.value.problems == (
        "pruning.enabled must be a boolean, got: 1",
        "leafscar.windowCap must be a whole number from 1 to 1,000,000,000, got: 1.5",
        'leafscar.pins must be a list of non-empty strings, got: "x"',
        f"leafscar.policy must be one of {', '.join(POLICIES)} or compaction:FRACTION (above 0, up to 1), got: 3",
        "leafscar.boundThinking must be one of off, drop_block, strip, got: []",
    )
    with pytest.raises(SettingsError, match="prompts must be own or pi:PATH, got: 5"):
        checked_pairs({"prompts": 5})
