"""Window, reserve, and the lines drawn from them."""

import pytest

from leafscar.engine import Facts, Policy, parse_policy, resolve_lines

OWN = ("none", "compaction", "balanced", "fewest-cuts", "thrifty")
SEED = ("classic", "source")


def lines(window, policy="balanced", **given):
    """Lines of a window under a policy, by its name or as data."""
    return resolve_lines(Facts(window=window, **given), parse_policy(policy) if isinstance(policy, str) else policy)


@pytest.mark.parametrize("policy", [*OWN, *SEED])
@pytest.mark.parametrize("window", [None, 0, -5])
def test_an_unknown_window_switches_control_off(policy, window):
    """Without a window there are no lines, and the reason names what to give."""
    drawn = lines(window, policy)
    assert "windowCap" in drawn.off
    assert (drawn.window, drawn.threshold, drawn.protect) == (0, 0, 0)


@pytest.mark.parametrize(
    ("window", "cap", "expected"),
    [(200_000, None, 200_000), (200_000, 0, 200_000), (200_000, 80_000, 80_000), (200_000, 300_000, 200_000)],
)
def test_the_cap_makes_a_window_smaller_never_larger(window, cap, expected):
    """Lines are drawn in the smaller of window and cap; what fits is still decided by the real window."""
    drawn = lines(window, cap=cap)
    assert (drawn.window, drawn.real_window) == (expected, 200_000)


def test_a_cap_stands_for_an_unknown_window():
    """What the user states is used where nothing else is known."""
    drawn = lines(None, cap=90_000)
    assert (drawn.window, drawn.real_window, drawn.off) == (90_000, 90_000, "")


@pytest.mark.parametrize("policy", OWN)
@pytest.mark.parametrize(
    ("window", "given", "reserve"),
    [
        (200_000, {}, 16_384),
        (200_000, {"max_output": 32_000}, 32_000),
        (32_768, {}, 10_922),
        (16_384, {}, 5_461),
        (8_192, {}, 2_730),
        (200_000, {"reserve_tokens": 9_000, "reserve_is_set": True, "max_output": 32_000}, 9_000),
        (200_000, {"reserve_tokens": 9_000}, 16_384),
        (8_192, {"reserve_tokens": 0, "reserve_is_set": True}, 0),
    ],
)
def test_our_policies_reserve_a_whole_response_unless_told_otherwise(policy, window, given, reserve):
    """R is the stated reserve, else room for one full response; T is what is left."""
    drawn = lines(window, policy, **given)
    assert (drawn.reserve, drawn.threshold) == (reserve, window - reserve)


@pytest.mark.parametrize("policy", SEED)
@pytest.mark.parametrize(
    ("window", "given", "reserve"),
    [
        (200_000, {}, 16_384),
        (200_000, {"max_output": 64_000}, 16_384),
        (200_000, {"reserve_tokens": 0}, 0),
        (16_385, {}, 16_384),
        (16_384, {}, 5_461),
        (8_192, {}, 2_730),
        (1_025, {}, 1_024),
    ],
)
def test_classic_reserves_the_setting_while_that_leaves_anything(policy, window, given, reserve):
    """R is reserve_tokens; where T would not be above 0 it is the reserve of one response."""
    drawn = lines(window, policy, **given)
    assert (drawn.reserve, drawn.threshold, drawn.off) == (reserve, window - reserve, "")


@pytest.mark.parametrize("policy", [*OWN, *SEED])
@pytest.mark.parametrize("window", [1_024, 500])
def test_a_window_that_holds_no_response_switches_control_off(policy, window):
    """T of 0 or less is said, with both numbers."""
    drawn = lines(window, policy)
    assert "1,024" in drawn.off
    assert f"{window:,}" in drawn.off


def test_a_stated_reserve_larger_than_the_window_switches_ours_off():
    """Only ``classic`` falls back to another reserve."""
    given = {"reserve_tokens": 20_000, "reserve_is_set": True}
    assert "20,000" in lines(16_000, "balanced", **given).off
    assert lines(16_000, "classic", **given).reserve == 5_333


@pytest.mark.parametrize("policy", [*OWN, *SEED])
def test_the_gate_margin_is_always_reserve_tokens(policy):
    """Whatever R is, the gate lies reserve_tokens below T."""
    drawn = lines(200_000, policy, reserve_tokens=12_000, max_output=50_000)
    assert drawn.gate == drawn.threshold - 12_000


@pytest.mark.parametrize(
    ("window", "given", "expected"),
    [
        (200_000, {}, (100_000, 150_000, 120_000, 183_616, 25_000, 2_000, 10_000, 20_000)),
        (1_000_000, {}, (500_000, 750_000, 600_000, 983_616, 40_000, 2_000, 10_000, 20_000)),
        (100_000, {}, (50_000, 75_000, 60_000, 83_616, 12_500, 1_000, 10_000, 20_000)),
        (16_384, {}, (8_192, 10_923, 9_613, 10_923, 2_048, 163, 1_365, 5_461)),
        (8_192, {}, (4_096, 5_462, 4_807, 5_462, 1_024, 81, 682, 2_731)),
        (
            8_192,
            {"reserve_tokens": 0, "reserve_is_set": True},
            (4_096, 6_144, 4_915, 8_192, 1_024, 81, 1_024, 4_096),
        ),
    ],
)
def test_the_lines_of_balanced(window, given, expected):
    """Pay from 50 %, shed above 75 %, reach 60 % or T less 8 %, batches of 40,000 or an eighth; no line above T."""
    drawn = lines(window, "balanced", **given)
    names = ("payback", "shed", "goal", "cut", "batch", "cold_batch", "protect", "keep")
    assert tuple(getattr(drawn, name) for name in names) == expected


@pytest.mark.parametrize(
    ("policy", "window", "cut", "protect"),
    [
        ("fewest-cuts", 200_000, 183_616, 20_000),
        ("fewest-cuts", 1_000_000, 920_000, 20_000),
        ("fewest-cuts", 60_000, 43_616, 10_904),
        ("compaction", 200_000, 183_616, 10_000),
        ("compaction:0.70", 200_000, 140_000, 10_000),
        ("compaction:1", 200_000, 183_616, 10_000),
        ("classic", 200_000, 183_616, 0),
    ],
)
def test_the_cut_line_is_never_above_the_threshold(policy, window, cut, protect):
    """92 % for ``fewest-cuts``, the stated fraction for ``compaction``; newest tokens by policy."""
    drawn = lines(window, policy)
    assert (drawn.cut, drawn.protect) == (cut, protect)


def test_lines_follow_the_policy_as_data():
    """A policy of one's own draws its own lines."""
    drawn = lines(100_000, Policy(name="mine", shed_fraction=0.5, batch_tokens=10, cold_tokens=1))
    assert (drawn.shed, drawn.batch, drawn.cold_batch) == (50_000, 10, 1)
