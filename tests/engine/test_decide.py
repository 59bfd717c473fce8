"""The policy table, row by row, at the edges of every line."""

import pytest

from leafscar.engine import Facts, parse_policy, resolve_lines
from leafscar.engine.decide import Cut, Keep, Shed, View, decide

WINDOW = 200_000
FACTS = Facts(window=WINDOW)
T, SHED, GOAL, GATE = 183_616, 150_000, 120_000, 167_232
BATCH, COLD = 25_000, 2_000


def action(policy, *, facts=FACTS, estimate, older=0, fullest=None, **given):
    """What a policy does, in short: keep, cut, older, fullest."""
    known = parse_policy(policy)
    view = View(estimate=estimate, older=older, fullest=older if fullest is None else fullest, **given)
    match decide(known, resolve_lines(facts, known), view):
        case Shed(fullest=full):
            return "fullest" if full else "older"
        case Cut():
            return "cut"
        case Keep():
            return "keep"


@pytest.mark.parametrize("policy", ["none", "compaction", "classic", "source", "balanced", "fewest-cuts", "thrifty"])
def test_without_a_window_every_policy_keeps(policy):
    """Control that is off does nothing, and gives the reason."""
    known = parse_policy(policy)
    lines = resolve_lines(Facts(window=None), known)
    decision = decide(known, lines, View(estimate=1e9, older=1e9, fullest=1e9))
    assert decision == Keep(lines.off)


@pytest.mark.parametrize("estimate", [0, T, T + 1, 10 * WINDOW])
def test_none_never_acts(estimate):
    """``none`` sends what there is."""
    assert action("none", estimate=estimate, older=50_000, cold=True, engaged=True) == "keep"


@pytest.mark.parametrize(
    ("policy", "estimate", "may_cut", "expected"),
    [
        ("compaction", T, True, "keep"),
        ("compaction", T + 1, True, "cut"),
        ("compaction", T + 1, False, "keep"),
        ("compaction:0.70", 140_000, True, "keep"),
        ("compaction:0.70", 140_001, True, "cut"),
        ("compaction:1", T, True, "keep"),
        ("compaction:1", T + 1, True, "cut"),
    ],
)
def test_compaction_cuts_above_its_line_and_never_sheds(policy, estimate, may_cut, expected):
    """Level 2 alone; exactly the line is not above it."""
    assert action(policy, estimate=estimate, older=90_000, may_cut=may_cut) == expected


@pytest.mark.parametrize(
    ("estimate", "older", "given", "expected"),
    [
        pytest.param(T, 50_000, {}, "keep", id="a14_55-at"),
        pytest.param(T + 1, 50_000, {}, "older", id="a14_55-above"),
        pytest.param(10, 50_000, {}, "keep", id="a14_56"),
        pytest.param(10, 50_000, {"engaged": True}, "older", id="a14_57"),
        pytest.param(T, 50_000, {"engaged": True}, "older", id="a14_61"),
        pytest.param(10, 0, {"engaged": True}, "keep", id="engaged-nothing-new"),
        pytest.param(T + 1, T + 1 - GATE, {}, "older", id="a14_64-equal"),
        pytest.param(T + 1, T - GATE, {}, "cut", id="a14_64-one-more"),
        pytest.param(GATE + 50_000, 50_000, {}, "older", id="a14_65"),
        pytest.param(GATE + 50_001, 50_000, {}, "cut", id="a14_112"),
        pytest.param(T + 1, 0, {}, "cut", id="a14_66"),
        pytest.param(T + 1, 5, {"may_cut": False}, "older", id="no-gate-when-cuts-are-off"),
        pytest.param(T + 1, 0, {"may_cut": False}, "keep", id="nothing-at-all"),
        pytest.param(T + 1, 50_000, {"may_shed": False}, "cut", id="pruning-off"),
        pytest.param(T + 1, 50_000, {"may_shed": False, "may_cut": False}, "keep", id="both-off"),
        pytest.param(184_000, 0, {"engaged": True, "already": 56_000}, "cut", id="a14_122"),
    ],
)
def test_classic_is_sticky_and_gated(estimate, older, given, expected):
    """Above T it engages; a prune that reaches T - reserve_tokens wins over the cut, equal wins."""
    assert action("classic", estimate=estimate, older=older, **given) == expected


def test_source_counts_savings_twice_where_classic_does_not():
    """Usage 184,000 of a pruned request that had saved 56,000: the source finds 128,000 and calls the cut off."""
    view = {"estimate": 184_000, "older": 0, "engaged": True, "already": 56_000}
    assert GATE >= 184_000 - 56_000
    assert action("source", **view) == "keep"
    assert action("classic", **view) == "cut"


@pytest.mark.parametrize(
    ("reserve", "estimate", "older", "expected"),
    [(0, 200_001, 1, "older"), (0, 200_001, 0, "cut"), (150_000, 60_000, 9_000, "cut")],
)
def test_a14_69_a14_70_other_reserves(reserve, estimate, older, expected):
    """Reserve 0 puts T and gate at the window; two reserves larger than the window make the gate negative."""
    facts = Facts(window=WINDOW, reserve_tokens=reserve)
    assert action("classic", facts=facts, estimate=estimate, older=older) == expected


PRESSURE = [
    # below the shed line: while the cache is cold, here where no move would pay otherwise
    (SHED, 90_000, None, {}, "keep"),
    (SHED, COLD, None, {"cold": True}, "older"),
    (SHED, COLD - 1, None, {"cold": True}, "keep"),
    (SHED, 0, COLD, {"cold": True}, "fullest"),
    (SHED, 0, COLD - 1, {"cold": True}, "keep"),
    (SHED, 90_000, None, {"cold": True, "may_shed": False}, "keep"),
    (10, COLD, None, {"cold": True}, "older"),
    # above it: one batch that reaches the goal, else a cut
    (SHED + 1, SHED + 1 - GOAL, None, {}, "older"),
    (SHED + 1, SHED - GOAL, None, {}, "cut"),
    (SHED + 1, 90_000, None, {}, "older"),
    (GOAL + 40_000, 40_000, None, {}, "older"),
    (GOAL + 40_001, 40_000, None, {}, "cut"),
    (GOAL + 40_000, BATCH, 40_000, {}, "fullest"),
    (GOAL + 40_001, BATCH, 40_000, {}, "cut"),
    (GOAL + 40_000, 0, 40_000, {}, "fullest"),
    (GOAL + 40_000, 40_000, 50_000, {}, "older"),
    (SHED + 1, COLD, None, {"cold": True}, "cut"),
    (SHED + 1, 90_000, None, {"may_shed": False}, "cut"),
    # nothing may be cut
    (SHED + 1, BATCH - 1, None, {"may_cut": False}, "keep"),
    (SHED + 1, COLD, None, {"may_cut": False, "cold": True}, "fullest"),
    (T + 50_000, BATCH, None, {"may_cut": False}, "fullest"),
    (T + 50_000, BATCH - 1, None, {"may_cut": False}, "keep"),
    (T + 50_000, 90_000, None, {"may_cut": False, "may_shed": False}, "keep"),
]


@pytest.mark.parametrize("policy", ["balanced", "thrifty"])
@pytest.mark.parametrize(("estimate", "older", "fullest", "given", "expected"), PRESSURE)
def test_balanced_moves_once_or_cuts(policy, estimate, older, fullest, given, expected):
    """One batch that reaches min(60 %, T - 8 %), the current turn only where older material is too little; or a cut."""
    assert action(policy, estimate=estimate, older=older, fullest=fullest, suffix=WINDOW, **given) == expected


LINE = 183_616  # 92 % of 200,000 is above T
LOW = 140_000

FEWEST = [
    (LOW, 90_000, None, {}, "keep"),
    (LOW + 1, BATCH, None, {}, "older"),
    (LOW + 1, BATCH - 1, None, {}, "keep"),
    (LOW + 1, BATCH - 1, None, {"cold": True}, "older"),
    (LOW + 1, 0, BATCH, {}, "fullest"),
    (LINE, 0, None, {}, "keep"),
    (LINE + 1, 0, None, {}, "cut"),
    (LINE + 1, BATCH, None, {}, "older"),
    (LINE + BATCH, BATCH, None, {}, "older"),
    (LINE + BATCH + 1, BATCH, None, {}, "cut"),
    (LINE + BATCH + 1, BATCH, BATCH + 1, {}, "fullest"),
    (LINE + BATCH + 1, BATCH, None, {"may_cut": False}, "fullest"),
    (LINE + 1, BATCH - 1, None, {"may_cut": False}, "keep"),
    (LINE + 1, 90_000, None, {"may_shed": False}, "cut"),
]


@pytest.mark.parametrize(("estimate", "older", "fullest", "given", "expected"), FEWEST)
def test_fewest_cuts_sheds_first_and_cuts_last(estimate, older, fullest, given, expected):
    """A batch whenever there is one above 70 %; a cut only when no move brings the request to its line."""
    assert action("fewest-cuts", estimate=estimate, older=older, fullest=fullest, suffix=WINDOW, **given) == expected


@pytest.mark.parametrize(("estimate", "expected"), [(920_000, "keep"), (920_001, "cut")])
def test_fewest_cuts_has_its_line_at_92_percent(estimate, expected):
    """In a large window 92 % lies below T."""
    assert action("fewest-cuts", facts=Facts(window=1_000_000), estimate=estimate) == expected


@pytest.mark.parametrize(
    ("policy", "estimate", "responses", "given", "expected"),
    [
        ("balanced", 100_001, 32, {}, "older"),
        ("balanced", 100_001, 31, {}, "keep"),
        ("balanced", 100_000, 32, {}, "keep"),
        ("balanced", 100_001, 32, {"older": BATCH - 1}, "fullest"),
        ("balanced", 100_001, 32, {"older": BATCH - 1, "fullest": BATCH - 1}, "keep"),
        ("balanced", 100_001, 32, {"may_shed": False}, "keep"),
        ("balanced", 100_001, 66, {"read_price": 0.05}, "keep"),
        ("balanced", 100_001, 67, {"read_price": 0.05}, "older"),
        ("balanced", 100_001, 0, {"cold": True, "older": 0, "fullest": COLD}, "fullest"),
        ("fewest-cuts", 100_001, 32, {}, "older"),
        ("fewest-cuts", 100_001, 31, {}, "keep"),
        ("thrifty", 50_001, 32, {}, "older"),
        ("thrifty", 50_001, 31, {}, "keep"),
    ],
)
def test_below_the_shed_line_a_move_must_pay_for_itself(policy, estimate, responses, given, expected):
    """Read price x what goes x responses in the context, against writing the rest instead of reading it all."""
    sizes = {"older": BATCH, "fullest": BATCH, "suffix": 95_680.0, **given}
    assert action(policy, estimate=estimate, responses=responses, **sizes) == expected


@pytest.mark.parametrize(
    ("window", "estimate", "older", "expected"),
    [
        (16_384, 10_923, 9_000, "keep"),
        (16_384, 10_924, 2_048, "older"),
        (16_384, 10_924, 2_047, "cut"),
        (16_384, 9_613 + 2_048, 2_048, "older"),
        (16_384, 9_613 + 2_049, 2_048, "cut"),
        (8_192, 5_463, 1_024, "older"),
        (8_192, 5_463, 1_023, "cut"),
    ],
)
def test_small_windows_have_lines_of_their_own(window, estimate, older, expected):
    """Where 75 % lies above T, T is the line; the goal keeps 8 % free below it."""
    assert action("balanced", facts=Facts(window=window), estimate=estimate, older=older, suffix=window) == expected
