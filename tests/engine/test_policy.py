"""Names of policies."""

import pytest

from leafscar.engine import DEFAULT_POLICY, POLICIES, parse_policy
from leafscar.errors import PolicyError


def test_the_names_and_the_default():
    """Seven policies; ``balanced`` is what a user gets who says nothing."""
    assert list(POLICIES) == ["none", "compaction", "classic", "source", "balanced", "fewest-cuts", "thrifty"]
    assert DEFAULT_POLICY == "balanced"
    assert all(parse_policy(name) is policy for name, policy in POLICIES.items())


@pytest.mark.parametrize(
    ("name", "fraction"), [("compaction:0.70", 0.7), ("compaction:1", 1.0), ("compaction:.5", 0.5)]
)
def test_compaction_takes_a_fraction(name, fraction):
    """The fraction becomes the cut line, the name stays as given."""
    policy = parse_policy(name)
    assert (policy.name, policy.cut_fraction, policy.cuts) == (name, fraction, "above-line")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("", "no policy"),
        ("Balanced", "known: none, compaction, classic, source, balanced, fewest-cuts, thrifty"),
        ("balanced:0.5", "takes no '0.5'"),
        ("balanced:", "takes no ''"),
        ("compaction:", "above 0 and at most 1"),
        ("compaction:70%", "above 0 and at most 1"),
        ("compaction:0", "above 0 and at most 1"),
        ("compaction:1.01", "above 0 and at most 1"),
        ("compaction:nan", "above 0 and at most 1"),
    ],
)
def test_other_names_are_refused(name, words):
    """The error says what is known and carries the name."""
    with pytest.raises(PolicyError, match=words) as caught:
        parse_policy(name)
    assert caught.value.name == name
