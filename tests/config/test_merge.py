from __future__ import annotations

from pathlib import Path

import pytest

from leafscar.config import (
    Layer,
    NeverPrune,
    OwnSection,
    Settings,
    explicit_keep_recent_tokens,
    explicit_reserve_tokens,
    merge_settings,
    reserve_tokens,
)
from leafscar.config._json import loads
from leafscar.config._merge import patched
from leafscar.errors import SettingsError


def merged(project: object = None, global_: object = None) -> Settings:
    """Merge two files' contents."""
    return merge_settings(
        Layer(source="project", path=Path("p.json"), data=project or {}),
        Layer(source="global", path=Path("g.json"), data=global_ or {}),
    )


def pruning(**values: object) -> dict[str, object]:
    """Give a file with section pruning."""
    return {"pruning": values}


def compaction(**values: object) -> dict[str, object]:
    """Give a file with section compaction."""
    return {"compaction": values}


def three(settings: Settings) -> tuple[bool, int, bool]:
    """Give the three keys' values."""
    found = settings.pruning
    return found.enabled, found.min_result_tokens, found.protect_current_turn


def test_a14_88_defaults():
    """With nothing in either file every default stands, nothing counts as set, and nothing is reported."""
    settings = merged()
    assert three(settings) == (True, 1000, True)
    assert settings.pruning_set == frozenset()
    assert settings.problems == ()
    assert set(settings.sources.values()) == {"default"}
    assert settings.leafscar == OwnSection()
    assert settings.leafscar.policy == "balanced"
    assert settings.leafscar.prompts == "own"
    assert settings.leafscar.bound_thinking == "off"
    assert settings.leafscar.shed_arguments is False
    assert settings.leafscar.continuity is None
    assert settings.leafscar.window_cap is None
    assert (settings.compaction.enabled, reserve_tokens(settings)) == (True, 16384)
    assert (settings.compaction.keep_recent_tokens, explicit_keep_recent_tokens(settings)) == (20000, None)


def test_a14_89_one_global_key():
    """One key of the global file stands beside the defaults of the others."""
    settings = merged(None, pruning(minResultTokens=50))
    assert three(settings) == (True, 50, True)
    assert settings.pruning_set == {"minResultTokens"}
    assert settings.sources["pruning.minResultTokens"] == "global"
    assert settings.sources["pruning.enabled"] == "default"


def test_a14_90_the_project_wins_key_by_key():
    """A project key beats the same global key; the other global keys stay."""
    settings = merged(pruning(minResultTokens=7), pruning(enabled=False, minResultTokens=50, protectCurrentTurn=False))
    assert three(settings) == (False, 7, False)
    assert settings.sources["pruning.minResultTokens"] == "project"
    assert settings.sources["pruning.enabled"] == "global"


def test_a14_91_malformed_values_are_reported():
    """Each malformed value becomes the default and is named in a line of its own."""
    settings = merged(pruning(enabled="yes", minResultTokens=0, protectCurrentTurn=1))
    assert three(settings) == (True, 1000, True)
    assert settings.problems == (
        'pruning.enabled must be a boolean, got: "yes"',
        "pruning.minResultTokens must be a positive integer, got: 0",
        "pruning.protectCurrentTurn must be a boolean, got: 1",
    )
    assert settings.pruning_set == frozenset()


@pytest.mark.parametrize("value", [1.5, "1000", -1, True, [], {}, 2**53])
def test_a14_91_counts(value):
    """A count is a positive whole number and nothing else."""
    settings = merged(pruning(minResultTokens=value))
    assert settings.pruning.min_result_tokens == 1000
    assert len(settings.problems) == 1


@pytest.mark.parametrize("spelling", ["1e3", "1000.0", "1000"])
def test_a_whole_number_counts_in_any_spelling(spelling):
    """JSON has one kind of number: a whole one is a count however the file spells it."""
    value = merged(loads(f'{{"pruning": {{"minResultTokens": {spelling}}}}}')).pruning.min_result_tokens
    assert value == 1000
    assert type(value) is int


def test_a14_92_invalid_project_value_hides_the_global_one():
    """An invalid project value becomes the default and does not fall back to the global value."""
    settings = merged(pruning(minResultTokens="many"), pruning(minResultTokens=50))
    assert settings.pruning.min_result_tokens == 1000
    assert settings.sources["pruning.minResultTokens"] == "default"
    assert settings.problems == ('pruning.minResultTokens must be a positive integer, got: "many"',)


def test_a14_93_project_null_falls_to_global():
    """A null in the project file counts as not set."""
    settings = merged(pruning(enabled=None), pruning(enabled=False))
    assert settings.pruning.enabled is False
    assert settings.problems == ()


def test_a14_94_a_section_that_is_no_object():
    """Shared sections that are not objects are passed over in silence, ours is reported."""
    assert merged({"pruning": "x", "compaction": [1]}).problems == ()
    assert merged({"leafscar": "x"}).problems == ('leafscar must be an object, got: "x"',)


@pytest.mark.parametrize(
    ("project", "global_", "expected", "explicit"),
    [
        (None, None, 16384, None),
        (None, compaction(reserveTokens=5000), 5000, 5000),
        (compaction(reserveTokens=4000), compaction(reserveTokens=5000), 4000, 4000),
        (compaction(reserveTokens="x"), None, 16384, None),
        (compaction(reserveTokens="x"), compaction(reserveTokens=5000), 5000, 5000),
        (compaction(reserveTokens=16384), None, 16384, 16384),
        pytest.param(compaction(reserveTokens=0), None, 0, 0, id="a14_101"),
        pytest.param(compaction(reserveTokens=0), compaction(reserveTokens=9), 0, 0, id="a14_101-before-global"),
    ],
)
def test_a14_100_reserve(project, global_, expected, explicit):
    """The reserve comes from the project, else the global file, else the default; a malformed one is skipped."""
    settings = merged(project, global_)
    assert reserve_tokens(settings) == expected
    assert explicit_reserve_tokens(settings) == explicit


@pytest.mark.parametrize("value", [-1, 1.5, "8192", None, {}, [], True, 2**53, float("inf"), float("nan")])
def test_a14_102_malformed_reserves(value):
    """What is not a non-negative safe integer counts as not there, and is reported unless it is null."""
    settings = merged(compaction(reserveTokens=value))
    assert reserve_tokens(settings) == 16384
    assert len(settings.problems) == (value is not None)


def override(value: object, model: str = "acme/large") -> dict[str, object]:
    """Give an override for one model."""
    return {"modelOverrides": {model: value}}


@pytest.mark.parametrize(("model", "expected"), [("acme/large", 100), ("acme/small", 5000), (None, 5000)])
def test_a14_103_override_of_the_live_model(model, expected):
    """An override holds for its own model only."""
    settings = merged(compaction(reserveTokens=5000, **override({"reserveTokens": 100, "keepRecentTokens": 7})))
    assert reserve_tokens(settings, model) == explicit_reserve_tokens(settings, model) == expected
    assert explicit_keep_recent_tokens(settings, model) == (7 if model == "acme/large" else None)


@pytest.mark.parametrize(
    ("project", "global_", "expected"),
    [
        ({}, {}, None),
        ({}, {"keepRecentTokens": 20000}, 20000),
        ({"keepRecentTokens": 0}, {"keepRecentTokens": 9}, 0),
        ({"keepRecentTokens": "x"}, {}, None),
        ({"keepRecentTokens": 5}, override({"keepRecentTokens": 0}), 0),
        ({"keepRecentTokens": 5}, override({"keepRecentTokens": -1}), 5),
        (override({"keepRecentTokens": 7}, "acme/small"), {}, None),
        (override({"reserveTokens": 7}), {}, None),
    ],
)
def test_kept_tokens_are_known_only_when_stated(project, global_, expected):
    """An override of either file, else the plain value; a default or a malformed number states nothing."""
    assert explicit_keep_recent_tokens(merged(compaction(**project), compaction(**global_)), "acme/large") == expected


@pytest.mark.parametrize(
    ("project", "global_", "expected"),
    [
        (override({"reserveTokens": 0}), {"reserveTokens": 5000}, 0),
        ({"reserveTokens": 5000}, override({"reserveTokens": 100}), 100),
        (override({"reserveTokens": 1}), override({"reserveTokens": 100}), 1),
        (override({"reserveTokens": "x"}), {"reserveTokens": 5000}, 5000),
        (override({"reserveTokens": "x"}), override({"reserveTokens": 100}), 100),
        (override({}), override({"reserveTokens": 100}), 100),
        (override(None), override({"reserveTokens": 100}), 100),
        (override(5), {"reserveTokens": 5000}, 5000),
        ({"modelOverrides": [5]}, {"reserveTokens": 5000}, 5000),
    ],
)
def test_a14_104_overrides_of_two_files(project, global_, expected):
    """An override of either file beats a plain value of either; a malformed one is skipped, never raised."""
    settings = merged(compaction(**project), compaction(**global_))
    assert reserve_tokens(settings, "acme/large") == expected


def test_malformed_overrides_are_reported():
    """A skipped override is named with its model."""
    assert merged(compaction(**override({"reserveTokens": "x"}))).problems == (
        'compaction.modelOverrides.acme/large.reserveTokens must be a non-negative integer, got: "x"',
    )
    assert merged(compaction(modelOverrides=[5])).problems == ("compaction.modelOverrides must be an object, got: [5]",)


def test_own_section():
    """Every key of section leafscar is read, lists as tuples, and merged key by key down to neverPrune's two."""
    project = {"policy": "thrifty", "pins": ["a"], "neverPrune": {"tools": ["read"]}, "continuity": False}
    global_ = {"neverPrune": {"tools": ["x"], "paths": ["*.md"]}, "windowCap": 100, "prompts": "pi:/opt/pi"}
    global_ |= {"boundThinking": "strip", "shedArguments": True}
    settings = merged({"leafscar": project}, {"leafscar": global_})
    assert settings.leafscar == OwnSection(
        policy="thrifty",
        pins=("a",),
        never_prune=NeverPrune(tools=("read",), paths=("*.md",)),
        window_cap=100,
        prompts="pi:/opt/pi",
        bound_thinking="strip",
        shed_arguments=True,
        continuity=False,
    )
    assert settings.sources["leafscar.neverPrune.tools"] == "project"
    assert settings.sources["leafscar.neverPrune.paths"] == "global"
    assert settings.problems == ()


def test_invalid_own_values_become_the_default():
    """The rule for invalid values is one rule for both of leafscar's sections."""
    settings = merged({"leafscar": {"policy": "best", "neverPrune": {"paths": "x"}}}, {"leafscar": {"policy": "none"}})
    assert settings.leafscar == OwnSection()
    assert len(settings.problems) == 2


def test_unknown_own_keys_are_reported_with_the_nearest_name():
    """A key that nobody knows is named, with the one that was probably meant."""
    settings = merged(
        {"leafscar": {"polcy": 1, "neverPrune": {"tool": []}}}, {"leafscar": {"\x1b": 1, "neverPrune": 5}}
    )
    assert settings.problems == (
        "leafscar.polcy is not a known setting (did you mean policy?); it is kept in p.json, unused",
        "leafscar.neverPrune.tool is not a known setting (did you mean tools?); it is kept in p.json, unused",
        "leafscar.neverPrune must be an object, got: 5",
        "leafscar.\\u001b is not a known setting; it is kept in g.json, unused",
    )


def test_a_flood_of_problems_is_cut():
    """However many keys are wrong, a reader gets about fifty lines, in little time."""
    unknown = merged({"leafscar": {f"policy{n}": 1 for n in range(2_000)}}).problems
    assert len(unknown) == 51
    assert unknown[-1] == "and 1 more problems"
    models = merged(compaction(modelOverrides={f"m{n}": {"reserveTokens": "x"} for n in range(2_000)})).problems
    assert models[-1] == "and 1950 more problems"


def test_problems_of_the_files_come_first_and_once():
    """What is wrong with a file stands before its values, and equal lines stand once."""
    layers = [Layer(source=name, path=Path("x"), problems=("invalid JSON in x",)) for name in ("project", "global")]
    assert merge_settings(*layers).problems == ("invalid JSON in x",)


def test_a14_99_patching_merges_below_a_dotted_key():
    """A value at a path leaves its neighbours, and the order of all keys, alone."""
    data = {"z": 1, "leafscar": {"neverPrune": {"paths": ["a"], "other": 0}, "x": None}, "a": 2}
    found = patched(data, {("leafscar", "neverPrune", "tools"): ["t"], ("pruning", "enabled"): False})
    assert found == {
        "z": 1,
        "leafscar": {"neverPrune": {"paths": ["a"], "other": 0, "tools": ["t"]}, "x": None},
        "a": 2,
        "pruning": {"enabled": False},
    }
    assert list(found) == ["z", "leafscar", "a", "pruning"]
    assert data["leafscar"] == {"neverPrune": {"paths": ["a"], "other": 0}, "x": None}
    assert patched({"pruning": None}, {("pruning", "enabled"): True}) == {"pruning": {"enabled": True}}


@pytest.mark.parametrize("data", [{"pruning": "x"}, {"pruning": [1]}, {"pruning": False}])
def test_patching_does_not_replace_what_is_no_section(data):
    """A value that stands where a section belongs is not thrown away."""
    with pytest.raises(
        SettingsError, match=r"pruning must be an object, got: .*; correct it first, nothing was written"
    ):
        patched(data, {("pruning", "enabled"): True})
