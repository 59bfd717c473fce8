from __future__ import annotations

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.replay.results import CUT, GATE, MARK, WINDOW, row

from leafscar.replay.details import Needed
from leafscar.replay.result import PolicyResult
from leafscar.replay.verdict import compare, cost_ratio, not_helped, session_verdict

BASE = row("none", cost=10.0, units=1_000.0, lines={}, peak=60_000.0)
BASE_CUT = row("none", cost=10.0, units=1_000.0, lines={}, peak=90_000.0, cuts=[MARK, MARK])


def verdict(*rows: PolicyResult, base: PolicyResult = BASE, error: float | None = 0.02) -> str:
    """Verdict on rows that were compared with a baseline."""
    text = session_verdict(compare(rows, base, error), base, error, WINDOW)
    assert "\n" not in text
    return text.replace("\u00a0", " ")


def would_not_help(*rows: PolicyResult, base: PolicyResult = BASE, error: float | None = 0.02) -> list[str]:
    """The sentences on what would not help."""
    return list(not_helped(compare(rows, base, error), WINDOW, error))


@pytest.mark.parametrize(
    ("changes", "base", "error", "expected"),
    [
        ({}, BASE, 0.02, "nothing to gain: the context peaked at 60 % of the window, so balanced would not have acted"),
        (
            {"peak": 80_000.0}, BASE, 0.02,
            "nothing to gain: the context peaked at 60 % of the window, but balanced found nothing to shed or cut",
        ),
        (
            {"peak": 80_000.0, "off": ["nothing was shed: so it is"]}, BASE, 0.02,
            "nothing to gain: the context peaked at 60 % of the window, but under balanced nothing was shed: so it is",
        ),
        (
            {"lines": {}}, BASE, 0.02,
            "nothing to gain: the context peaked at 60 % of the window, but balanced does nothing here: control is off",
        ),
        (
            {"moves": 2}, BASE, 0.02,
            ("balanced would have made no cut, as it was, but 2 moves and cost about 20 % less ($2.00 of $10.00); "
            "the model is off by 2.0 % here"),
        ),
        (
            {"moves": 1, "cost": 11.0}, BASE, 0.015,
            ("balanced would have made no cut, as it was, but 1 move and cost about 10 % more ($1.00 of $10.00); "
            "the model is off by 1.5 % here"),
        ),
        (
            {"moves": 1, "cost": None}, BASE, 0.02,
            ("balanced would have made no cut, as it was, but 1 move and cost about 20 % less; "
            "the model is off by 2.0 % here"),
        ),
        (
            {"cuts": [MARK]}, BASE_CUT, 0.2,
            "balanced would have made 1 cut instead of 2 and cost the same within the model's own error here (20 %)",
        ),
        (
            {"cuts": [MARK], "cost": 1.0}, BASE_CUT, 0.3,
            ("balanced would have made 1 cut instead of 2 and cost what the cache model cannot tell: "
            "it misses the recorded bill by 30 %"),
        ),
        (
            {"cost": 9.95}, BASE_CUT, 0.0,
            "balanced would have made no cut instead of 2 and cost the same within the model's own error here (1.0 %)",
        ),
        (
            {"cuts": [MARK, MARK]}, BASE_CUT, None,
            ("balanced would have made 2 cuts, as it was, and cost about 0.80x by the cache model, "
            "which this recording cannot check"),
        ),
        (
            {"cuts": [MARK] * 3, "cost": None, "units": None}, BASE_CUT, 0.02,
            "balanced would have made 3 cuts instead of 2 and cost an unknown amount",
        ),
    ],
)  # fmt: skip
def test_every_verdict(changes, base, error, expected):
    """Each kind of result has its sentence."""
    assert verdict(row(**changes), base=base, error=error) == expected


def test_a_window_that_the_session_never_had():
    """In a what-if below what was recorded, the verdict says that the baseline would not have fitted."""
    base = msgspec.structs.replace(BASE_CUT, over_window=105)
    said = verdict(row(cuts=[MARK]), base=base)
    assert said.endswith("is off by 2.0 % here; the session as it was had 105 requests over this window")


def test_the_default_policy_is_judged_whatever_its_place():
    """The verdict speaks of the default policy, else of the first that was asked for."""
    rows = (row("none:never-cut"), row("compaction", moves=1), row("balanced", moves=1))
    assert verdict(*rows).startswith("balanced ")
    assert verdict(*rows[:2]).startswith("compaction ")


@pytest.mark.parametrize("rows", [(), (row("none:never-cut"),), (row("none", recorded=True),)])
def test_no_policy_no_claim(rows):
    """Without a policy to judge only the facts are told."""
    assert verdict(*rows) == "20 requests, peak 60,000 of 100,000 tokens; no policy was compared"


def test_dollars_win_over_units():
    """Bills are compared in dollars where both are known, else in units, else not at all."""
    assert cost_ratio(row(), BASE) == 0.8
    assert cost_ratio(row(cost=None, units=900.0), BASE) == 0.9
    assert cost_ratio(row(cost=None, units=None), BASE) is None
    assert cost_ratio(row(), row(cost=0.0, units=0.0)) is None


def test_the_recorded_row_is_its_own_measure():
    """The recording has ratio 1 and saves nothing; where nothing is known it has no ratio."""
    recorded = row("none", recorded=True, cost=9.0)
    assert [(one.ratio, one.saving) for one in compare([recorded], BASE, 0.02)] == [(1.0, None)]
    unknown = row("none", recorded=True, cost=None, units=None)
    assert [one.ratio for one in compare([unknown], BASE, 0.02)] == [None]


@settings(max_examples=200)
@given(cost=st.floats(0.01, 100), base=st.floats(0.01, 100), error=st.none() | st.floats(0, 2), units=st.floats(1, 1e6))
def test_no_difference_below_the_error_is_ever_told(cost, base, error, units):
    """Neither a saving, nor a verdict, nor a warning names a difference that the model cannot see."""
    (compared,) = compare([row(cost=cost, units=units, moves=1)], row("none", cost=base), error)
    told = error is not None and error <= 0.25 and abs(1 - cost / base) > max(error, 0.01)
    assert (compared.saving is not None) == told
    sentence = session_verdict([compared], row("none", cost=base), error, WINDOW)
    assert (" less" in sentence or " more" in sentence) == told
    warned = any("dearer" in each for each in not_helped([compared], WINDOW, error))
    assert warned == (told and cost > base)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"policy": "none", "recorded": True}, []),
        ({"policy": "none:never-cut"}, []),
        (
            {"policy": "none:never-cut", "over_window": 7},
            ["none:never-cut: 7 of 20 requests would have been larger than the window; it is no way to run"],
        ),
        ({"policy": "none", "lines": {}}, []),
        ({"lines": {}}, ["balanced: it does nothing here: control is off"]),
        ({"off": ["one", "two"], "cuts": [MARK]}, ["balanced: one; two"]),
        ({"policy": "compaction", "lines": CUT, "cuts": [MARK]}, []),
        (
            {"policy": "compaction:0.50", "lines": CUT},
            ["compaction:0.50: its line was never crossed (peak 50,000 of 100,000 tokens)"],
        ),
        (
            {"policy": "compaction", "lines": CUT, "peak": 90_000.0},
            ["compaction: there was never any history before what must be kept"],
        ),
        ({"moves": 3}, []),
        ({}, ["balanced: no output was shed, the context never passed its line (50,000 of 70,000 tokens)"]),
        (
            {"peak": 72_000.0, "cuts": [MARK]},
            ["balanced: no output was shed, there was never a batch large enough to reach the goal"],
        ),
        (
            {"policy": "classic", "lines": GATE, "peak": 90_000.0},
            ["classic: no output was shed, nothing large stood before the current turn, which stays raw"],
        ),
        (
            {"policy": "classic", "lines": GATE, "cuts": [MARK]},
            ["classic: no output was shed, pruning what stood before the current turn was never enough, so it cut"],
        ),
        ({"moves": 1, "cost": 13.0}, ["balanced: dearer, 1.30x the session as it was"]),
        ({"moves": 1, "cost": 10.1}, []),
        ({"moves": 1, "cost": None, "units": None}, []),
    ],
)
def test_what_would_not_help(changes, expected):
    """Each sentence is said in its own case only."""
    assert would_not_help(row(**changes)) == expected


NEVER = "its trigger was never reached (peak 50,000 of 60,000 tokens)"
NOTHING = "it found nothing to clear, and nothing had to be cut"


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"moves": 3}, []),
        ({"cuts": [MARK]}, []),
        ({"lines": {"threshold": 83_000.0, "trigger": 60_000.0}}, [NEVER]),
        ({"lines": {"threshold": 83_000.0, "trigger": 40_000.0}}, [NOTHING]),
        ({"lines": {}}, [NOTHING]),
        ({"off": ["nothing was cut: so it is"], "lines": {"threshold": 83_000.0}}, ["nothing was cut: so it is"]),
    ],
)  # fmt: skip
def test_rules_of_other_tools_that_did_nothing(changes, expected):
    """Why another tool's rule was idle: its own trigger, or nothing to do."""
    found = would_not_help(row("mine", rule="clear-tool-uses", **changes))
    assert [text.replace("\u00a0", " ") for text in found] == [f"mine: {each}" for each in expected]


def test_a_policy_that_only_cuts_is_known_by_its_lines():
    """A policy of one's own that never sheds is spoken of as compaction is, whatever its name."""
    (found,) = would_not_help(row("mine", lines=CUT))
    assert found.startswith("mine: its line was never crossed")


@pytest.mark.parametrize(
    ("needed", "words"),
    [
        ((12, 3), ", and of 12 outputs that it took out 3 were needed later"),
        ((12, 1), ", and of 12 outputs that it took out 1 was needed later"),
        ((1, 0), ", and of 1 output that it took out none was needed later"),
        ((0, 0), ""),
        (None, ", and how much of what it took out was needed later is unknown"),
    ],
)
def test_what_was_needed_later_stands_beside_every_saving(needed, words):
    """A saving is told with how much of what went was needed; a higher bill needs no such word."""
    known = needed and Needed(outputs=needed[0], needed=needed[1], tokens=9.0, needed_tokens=1.0)
    saved = row(moves=2, needed_later=known)
    assert verdict(saved).endswith(f"the model is off by 2.0 % here{words}")
    assert verdict(row(moves=2, cost=14.0, units=1_400.0, needed_later=known)).endswith(
        "the model is off by 2.0 % here"
    )
