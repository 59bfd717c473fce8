from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from leafscar.engine import parse_policy
from leafscar.errors import PolicyError
from leafscar.replay.choices import choice_of
from leafscar.replay.policy_file import MOST_POLICIES, read_policies
from leafscar.replay.rivals import ClearToolUses, OpencodePrune

PAGE = Path(__file__).parents[2] / "docs" / "policies.md"


@pytest.fixture
def read(tmp_path):
    """Read policies from text, or from what is written as JSON."""

    def reading(content):
        path = tmp_path / "mine.json"
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            path.write_text(content if isinstance(content, str) else json.dumps(content))
        return read_policies(path)

    return reading


def test_a_list_and_an_object_say_the_same(read):
    """Policies stand in a list with their names, or in an object by name."""
    calm = {"base": "balanced", "shedFraction": 0.6, "batchTokens": 10_000, "mustReachGoal": False}
    (listed,) = read([{"name": "calm", **calm}])
    (named,) = read({"calm": calm})
    assert listed == named
    assert (listed.name, listed.shed_fraction, listed.batch_tokens) == ("calm", 0.6, 10_000)
    assert listed.cold_tokens == parse_policy("balanced").cold_tokens


def test_rules_of_other_tools(read):
    """A rule takes its own parameters, and a breakpoint."""
    first, second = read(
        {
            "a": {"rule": "clear-tool-uses", "trigger": 30_000, "excludeTools": ["memory"], "breakpoint": True},
            "b": {"rule": "opencode-prune"},
        }
    )
    assert (first.rule, first.breakpoint) == (ClearToolUses(trigger=30_000, exclude_tools=("memory",)), True)
    assert (second.name, second.tool, second.rule, second.breakpoint) == ("b", "opencode-prune", OpencodePrune(), False)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ({"a": {"base": "balanced", "shedFraktion": 0.6}}, "a.shedFraktion: balanced has no such key; it has shed"),
        ({"a": {"base": "balanced", "shedFraction": 1.4}}, "a.shedFraction: Expected `float` <= 1.0"),
        ([{"name": "a", "base": "balanced", "movesWhenCold": "no"}], "[0].movesWhenCold: Expected `bool`, got `str`"),
        ({"a": {"base": "balanced", "cutFraction": 0.5}}, "a.cutFraction: balanced has no such key"),
        ({"a": {"base": "none", "shedFraction": 0.5}}, "a.shedFraction: none has no such key; it has none"),
        ({"a": {"base": "compaction:0.7"}}, 'a.base: "compaction:0.7" is none of none, compaction'),
        ({"a": {"base": "mask-last-n"}}, 'a.base: "mask-last-n" is none of none, compaction'),
        ({"a": {"base": ["balanced"]}}, "a.base: ["),
        ({"a": {"rule": "balanced"}}, 'a.rule: "balanced" is none of mask-last-n'),
        ({"a": {"base": "balanced", "rule": "mask-last-n"}}, "a: give either base (a policy) or rule"),
        ({"a": {}}, "a: give either base"),
        ({"a": {"base": "balanced", "name": "b"}}, "a.name: balanced has no such key"),
        ({"a": 3}, "a: a policy is an object, not 3"),
        ([[]], "[0]: a policy is an object, not []"),
        ([{"base": "balanced"}], "[0].name: missing"),
        ([{"name": 3, "base": "balanced"}], "[0].name: 3; up to 40 letters"),
        ({"two words": {"base": "balanced"}}, 'two words.name: "two words"'),
        ({"a" * 41: {"base": "balanced"}}, ".name: "),
        ({"\u001b[31m": {"base": "balanced"}}, ".name: "),
        ({"balanced": {"base": "balanced"}}, "balanced.name: balanced is taken"),
        ({"mask-last-n": {"rule": "mask-last-n"}}, "mask-last-n.name: mask-last-n is taken"),
        ([{"name": "a", "base": "balanced"}] * 2, "[1].name: a is there twice"),
        ([], "holds no policy"),
        (3, "neither a list of policies nor an object of them by name"),
        ("", "not JSON: "),
        ("{'a': 1}", "not JSON: "),
        ('{"a": {"base": "balanced", "base": "thrifty"}}', 'not JSON: the key "base" is there twice'),
        ('{"a": {"base": "balanced", "shedFraction": NaN}}', "not JSON: NaN is no number"),
        ('{"a": {"base": "balanced", "shedFraction": 1e999}}', "a.shedFraction: Expected `float` <= 1.0"),
        ('{"a": {"base": "balanced", "batchTokens": ' + "9" * 5_000 + "}}", "not JSON: "),
        ({"a": {"base": "balanced", "shedFraction": "\ud800"}}, "a.shedFraction: holds half a character"),
        ("[" * 100_000, "not JSON: nested too deeply"),
        (b"\xff\xfe", "not JSON: "),
        (b" " * (1024 * 1024 + 1), "larger than 1,048,576 bytes"),
        ([{"name": f"p{n}", "base": "balanced"} for n in range(MOST_POLICIES + 1)], "51 policies; at most 50"),
    ],
)  # fmt: skip
def test_what_is_not_as_it_should_be(read, tmp_path, content, said):
    """One line that begins with the file and names the key at fault by its path."""
    with pytest.raises(PolicyError) as caught:
        read(content)
    line = str(caught.value)
    assert line.startswith(str(tmp_path / "mine.json"))
    assert said in line
    assert line.isprintable()
    assert len(line) < 1_000


def test_a_file_that_cannot_be_read(tmp_path):
    """A missing file and a folder are said to be what they are."""
    for path in (tmp_path / "none.json", tmp_path):
        with pytest.raises(PolicyError, match=f"{re.escape(str(path))}: .*; name a file of policies"):
            read_policies(path)


def test_the_example_of_the_page(read):
    """The file that docs/policies.md shows is read, and its numbers are those that the page speaks of."""
    (block,) = re.findall(r"^```json\n(.*?)^```$", PAGE.read_text(), re.DOTALL | re.MULTILINE)
    found = {choice.name: choice for choice in read(block)}
    assert list(found) == ["early", "late-clearing"]
    assert (found["early"].shed_fraction, found["early"].goal_fraction) == (0.5, 0.4)
    assert found["late-clearing"].rule == ClearToolUses(trigger=150_000, clear_at_least=20_000)
    assert found["late-clearing"].breakpoint
    assert choice_of("balanced").shed_fraction != 0.5
