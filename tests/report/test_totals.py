"""Several sessions as one table."""

from __future__ import annotations

import pytest
from tests.report.samples import a_cut, a_moment, a_policy, a_result, a_session

from leafscar.replay.details import Needed
from leafscar.report.totals import total_of


def pair(cost, bill, **changes):
    """A session that cost ``cost`` as recorded and ``bill`` under balanced."""
    changes = {"policies": [
        a_policy("none", cost=cost, units=cost * 10, ratio=1.0),
        a_policy(cost=bill, units=bill * 10, ratio=bill / cost, breaks=2, moves=1, cuts=[a_cut()], over_window=1),
    ], **changes}  # fmt: skip
    return a_session(**changes)


def test_sums_and_ratios():
    """Counts and costs add up, the ratio is that of the sums, the peak the largest."""
    total = total_of(a_result(pair(2.0, 1.0, error=0.1), pair(6.0, 3.0, error=0.02)))
    assert total is not None
    assert total.scope == "Sums over all 2 sessions."
    none, balanced = total.session.policies
    assert (none.cost, none.ratio, none.recorded) == (8.0, 1.0, True)
    assert (balanced.cost, balanced.units, balanced.ratio, balanced.saving) == (4.0, 40.0, 0.5, 4.0)
    assert (balanced.breaks, balanced.moves, len(balanced.cuts), balanced.over_window) == (4, 2, 2, 2)
    assert balanced.hit_ratio == pytest.approx(0.9)
    assert total.session.error == pytest.approx((0.1 * 2 + 0.02 * 6) / 8)
    assert (total.session.requests, total.session.messages) == (2, 6)


def test_the_comparison_is_the_sessions_own():
    """What a session was compared with need not be its recorded bill; the total keeps to it."""
    policies = [a_policy("none", cost=2.0, ratio=1.0), a_policy(cost=2.2, ratio=2.0)]
    total = total_of(a_result(a_session(policies), a_session(policies)))
    assert total is not None
    assert total.session.policies[1].ratio == pytest.approx(2.0)


@pytest.mark.parametrize("error", [None, 0.3])
def test_no_saving_without_a_margin_or_inside_it(error):
    """The sum claims no dollars that its sessions could not."""
    total = total_of(a_result(pair(2.0, 1.6, error=error), pair(2.0, 1.6, error=error)))
    assert total is not None
    assert total.session.error == error
    assert total.session.policies[1].ratio == pytest.approx(0.8)
    assert total.session.policies[1].saving is None


def test_only_sessions_whose_cost_is_known_count():
    """A session without a price under one policy is left out of every sum, and the scope says so."""
    unknown = pair(1.0, 1.0, policies=[a_policy("none", cost=None), a_policy()])
    total = total_of(a_result(pair(2.0, 1.0), unknown))
    assert total is not None
    assert total.scope == "Sums over 1 of 2 sessions: those whose cost is known under every policy."
    assert [policy.cost for policy in total.session.policies] == [2.0, 1.0]


def test_units_stand_in_for_dollars():
    """Without prices the sums are input-token equivalents, and nothing in them pretends to be dollars."""
    bare = a_session([a_policy("none", cost=None, units=100.0, ratio=1.0), a_policy(units=50.0, ratio=0.5)])
    total = total_of(a_result(bare, bare))
    assert total is not None
    balanced = total.session.policies[1]
    assert (balanced.cost, balanced.units, balanced.ratio, balanced.saving) == (None, 100.0, 0.5, None)


def test_unknown_stays_unknown():
    """Where a recording tells neither cost nor cache use, the sums of the others stand without a comparison."""
    bare = a_session([
        a_policy("none", cost=None, units=None, ratio=None, moments=[a_moment(read=None)]),
        a_policy(ratio=None, moments=[a_moment(written=None)]),
    ])  # fmt: skip
    total = total_of(a_result(bare, bare))
    assert total is not None
    assert total.scope == "Sums over all 2 sessions."
    assert total.session.error is None
    assert [policy.cost for policy in total.session.policies] == [None, 3.0]
    assert [policy.ratio for policy in total.session.policies] == [None, None]
    assert [policy.hit_ratio for policy in total.session.policies] == [None, None]


def test_no_moments_no_ratio():
    """A hit ratio of nothing is unknown."""
    bare = a_session([a_policy(moments=[])])
    total = total_of(a_result(bare, bare))
    assert total is not None
    assert total.session.policies[0].hit_ratio is None


@pytest.mark.parametrize(
    "sessions",
    [
        [], [a_session()], [a_session(), a_session(baseline="compaction")],
        [a_session([a_policy("none")]), a_session([a_policy("thrifty")])],
    ],
)  # fmt: skip
def test_what_cannot_be_compared_is_not_summed(sessions):
    """One session, different baselines or different policies give no total."""
    assert total_of(a_result(*sessions)) is None


def test_what_was_needed_later_is_added_up():
    """Sums of outputs and of those that were needed; nothing of a single session is left over."""
    total = total_of(a_result(a_session(), a_session())).session
    assert total.policies[1].needed_later == Needed(outputs=182, needed=10, tokens=18e4, needed_tokens=6e3)
    assert (total.money, total.equal_cuts, total.held) == (None, [], None)
    unknown = a_session([a_policy("none", needed_later=None), a_policy(needed_later=None)])
    assert total_of(a_result(a_session(), unknown)).session.policies[1].needed_later is None
