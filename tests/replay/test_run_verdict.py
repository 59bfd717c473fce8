"""A whole run in words: never more than the model can tell, and never less than what was billed."""

from __future__ import annotations

from typing import Any

import pytest
from tests.replay.results import MARK, row, session

from leafscar.replay.run_verdict import run_not_helped, run_verdict


def was(**changes: Any):
    """The session in its own numbers: 10 dollars, 1,000 units, 3 breaks."""
    return row("none", **{"recorded": True, "cost": 10.0, "units": 1e6, "breaks": 3, "lines": {}, **changes})


def said(*sessions: Any) -> str:
    """The sentence with plain blanks."""
    return run_verdict(sessions).replace("\u00a0", " ")


def test_a_run_opens_with_what_was_billed():
    """Bill and error, the range of the default, cuts, breaks, and how many sessions are cheaper or dearer."""
    sessions = [
        session(was(), row(ratio=0.8, cuts=[MARK], breaks=1)),
        session(was(), row(ratio=0.6)),
        session(was(), row(ratio=1.2)),
        session(was(), row(ratio=0.99)),
    ]
    assert said(*sessions) == (
        "4 sessions were billed $40.00; the cache model misses that by 2.0 %. "
        "balanced would have cost $35.10 to $36.70 (8.3 % to 12 % less), with 1 cut instead of 8 and "
        "1 cache break instead of 12; 2 cheaper, 1 dearer, 1 the same within the model's error or unknown"
    )


@pytest.mark.parametrize(
    ("ratios", "errors", "expected"),
    [
        ((2.0, 2.0), (0.02, 0.02), "balanced would have cost $39.60 to $40.40 (98 % to 102 % more)"),
        ((1.0, 1.01), (0.02, 0.02), "balanced would have cost the same within the model's error (2.0 %)"),
        ((0.5, 2.0), (0.3, 0.9), "What balanced would have cost is more than the model can tell"),
        ((0.5, 0.9), (0.02, None), "balanced would have cost $4.80 to $5.20 (48 % to 52 % less), over the 1 that can"),
        ((None, 0.9), (0.02, None), "What balanced would have cost cannot be checked"),
    ],
)
def test_the_range_is_what_the_model_can_tell(ratios, errors, expected):
    """Over the sessions that can be checked, with the errors of the model on both sides."""
    pairs = zip(ratios, errors, strict=True)
    assert expected in said(*(session(was(), row(ratio=ratio), error=error) for ratio, error in pairs))


def test_bills_without_a_price_are_told_in_units():
    """Where no session has a price, tokens stand for dollars; where some have one, those are added up."""
    free = session(was(cost=None), row(ratio=0.5, cost=None))
    assert said(free, free).startswith(
        "2 sessions were billed 2.00M input-token equivalents; the cache model misses that by 2.0 %. "
        "balanced would have cost 0.96M to 1.04M input-token equivalents (48 % to 52 % less)"
    )
    assert said(free, session(was(), row(ratio=0.5))).startswith("1 of 2 sessions were billed $10.00;")
    unknown = session(was(cost=None, units=None), row(ratio=None), error=None)
    assert said(unknown, unknown).startswith("What 2 sessions were billed is not known. What balanced would have cost")
    unchecked = session(was(), row(ratio=0.5), error=None)
    assert "the cache model cannot be checked on all of them" in said(unchecked, unchecked)


def test_rows_without_the_recording_beside_them():
    """Where the session itself was not asked for, its bill and its breaks are not told."""
    told = said(session(row(ratio=0.5)), session(row(ratio=0.5)))
    assert told.startswith("What 2 sessions were billed is not known.")
    assert told.endswith("with no cut instead of 4; 2 cheaper")


def test_what_stayed_as_it_was_is_said_so():
    """Counts that did not change are not put against each other."""
    told = said(*[session(was(breaks=0), row(ratio=0.5), cuts=0)] * 2)
    assert told.endswith("with no cut, as it was, and no cache break, as it was; 2 cheaper")


def test_other_runs():
    """No session, one session, and sessions without a policy have their own sentences."""
    assert run_verdict([]) == "no session could be replayed"
    assert run_verdict([session(row())]) == "its own sentence"
    assert run_verdict([session(), session()]) == "2 sessions, no policy was compared"


@pytest.mark.parametrize(
    ("changes", "error", "reason"),
    [
        ({"ratio": 1.3, "moves": 1}, 0.02, "dearer, 1.30x the session as it was"),
        ({"ratio": 1.0}, 0.02, "no output was shed, the context never passed its line (50,000 of 70,000 tokens)"),
        ({"ratio": 0.8, "moves": 1}, None, "nothing recorded tells how far the cache model is off"),
        ({"ratio": None, "moves": 1}, 0.02, "nothing recorded tells how far the cache model is off"),
        ({"ratio": 0.5, "moves": 1}, 0.4, "the cache model misses its bill by 40 %, too far to tell"),
        ({"ratio": 0.99, "moves": 1}, 0.02, "the same within the model's error (2.0 %)"),
    ],
)
def test_who_is_not_helped_and_why(changes, error, reason):
    """Each session with its reason; those with the same one are counted together, and cheaper ones are left out."""
    cheaper = session(was(), row(ratio=0.5, moves=1))
    idle = session(was(), row(**changes), error=error, path="/a/b.jsonl")
    told = [sentence.replace("\u00a0", " ") for sentence in run_not_helped([cheaper, idle])]
    assert told == [f"b.jsonl: {reason}"]
    again = session(was(), row(**changes), error=error, path="/a/c.jsonl")
    told = [sentence.replace("\u00a0", " ") for sentence in run_not_helped([idle, again])]
    assert told == [f"2 sessions (b.jsonl, c.jsonl): {reason}"]
    assert run_not_helped([idle]) == []
