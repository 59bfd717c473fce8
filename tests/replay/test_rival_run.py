from __future__ import annotations

import pytest
from tests.replay.sessions import Story, autonomous, interactive, text_of
from tests.replay.test_simulate import EXAMPLES, FOREVER, setup_of

from leafscar.engine import Facts, parse_policy
from leafscar.replay.cache import AUTOMATIC
from leafscar.replay.choices import rival_of
from leafscar.replay.rival_run import Rival, simulate_rival
from leafscar.replay.rivals import ClearToolUses, OpencodePrune
from leafscar.replay.simulate import simulate
from leafscar.session import load

RULES = {
    "mask-last-n": rival_of("mask-last-n:5"),
    "mask-last-n+breakpoint": rival_of("mask-last-n:5+breakpoint"),
    "clear-tool-uses": Rival(name="c", tool="c", rule=ClearToolUses(trigger=20_000, clear_tool_inputs=True)),
    "opencode-prune": Rival(name="o", tool="o", rule=OpencodePrune(protect=5_000, minimum=5_000), breakpoint=True),
    "summarize-at": rival_of("summarize-at:0.5+breakpoint"),
}
IDLE = Rival(name="idle", tool="idle", rule=OpencodePrune(minimum=10**9))


@pytest.fixture(scope="module", params=["autonomous", "interactive", *(path.stem for path in EXAMPLES)])
def session(request):
    """A session with something to do for every rule."""
    match request.param:
        case "autonomous":
            return autonomous(45).memory()
        case "interactive":
            return interactive(10).memory()
        case name:
            return load(next(path for path in EXAMPLES if path.stem == name))


def shape_breaks(run):
    """Requests that sent cached tokens again because the rule changed them."""
    return sum(moment.break_cause == "shape" for moment in run.moments)


def test_a_rule_that_never_acts_is_compaction(session):
    """With nothing to clear, requests, cuts and bill are those of the policy compaction."""
    setup = setup_of(session)
    own, other = simulate(setup, parse_policy("compaction")), simulate_rival(setup, IDLE)
    assert other.cuts == own.cuts
    assert other.moments == own.moments
    assert other.bill == own.bill


@pytest.mark.parametrize("name", RULES)
def test_between_two_moves_the_prefix_never_changes(session, name):
    """With a cache that forgets nothing, a request in which the rule did nothing reads all of the one before."""
    run = simulate_rival(setup_of(session, cache=FOREVER), RULES[name])
    held = 0.0
    for moment in run.moments:
        if not (moment.shed or moment.cut):
            assert moment.read == pytest.approx(held, abs=1), moment.request
            assert moment.break_cause is None
        held = moment.context


@pytest.mark.parametrize("name", RULES)
def test_moments_add_up(session, name):
    """Every moment is read + written + uncached, the bill is their sum, and no request is over the window."""
    run = simulate_rival(setup_of(session), RULES[name])
    for moment in run.moments:
        assert moment.read + moment.written + moment.uncached == pytest.approx(moment.context)
    assert run.bill.cost == pytest.approx(sum(moment.cost for moment in run.moments))
    assert max(moment.context for moment in run.moments) <= 60_000


def test_a_breakpoint_changes_only_what_the_cache_does(session):
    """The same requests go out; with the breakpoint the sliding mask costs less than half as much."""
    setup = setup_of(session, window=1_000_000)
    bare, marked = (simulate_rival(setup, RULES[name]) for name in ("mask-last-n", "mask-last-n+breakpoint"))
    assert [moment.context for moment in bare.moments] == pytest.approx([moment.context for moment in marked.moments])
    assert shape_breaks(bare) > len(bare.moments) / 2
    assert marked.bill.units - marked.bill.output * 5 < bare.bill.units - bare.bill.output * 5
    if len(bare.moments) > 100:
        assert bare.bill.cost > 2 * marked.bill.cost


def test_a_cache_of_any_prefix_needs_no_breakpoint(session):
    """Where any shared prefix is found, the breakpoint changes nothing."""
    setup = setup_of(session, cache=AUTOMATIC)
    bare, marked = (simulate_rival(setup, RULES[name]) for name in ("mask-last-n", "mask-last-n+breakpoint"))
    assert bare.bill == marked.bill


def test_a_sliding_mask_costs_several_times_what_compaction_does():
    """Without a breakpoint at its boundary the mask reads little but the system prompt from the cache."""
    setup = setup_of(load(next(path for path in EXAMPLES if path.stem == "long-autonomous")), window=100_000)
    compaction = simulate(setup, parse_policy("compaction")).bill.cost
    bare, marked = (simulate_rival(setup, rival_of(f"mask-last-n:10{end}")) for end in ("", "+breakpoint"))
    assert bare.bill.cost > 4 * compaction
    assert marked.bill.cost < 2 * compaction
    assert bare.bill.read < 0.1 * bare.bill.input
    assert marked.bill.read > 0.7 * marked.bill.input


def test_moves_are_counted():
    """A move is a request in which outputs were newly cleared, and its tokens are what went."""
    run = simulate_rival(setup_of(autonomous(10)), rival_of("mask-last-n:3"))
    assert [moment.shed for moment in run.moments] == [0] * 4 + [1] * 7
    assert all(1_300 < moment.shed_tokens < 1_500 for moment in run.moments[4:])


def test_cuts_can_be_switched_off():
    """With compaction off there are no cuts, and requests grow over the threshold."""
    run = simulate_rival(setup_of(autonomous(45), facts=Facts(window=60_000, compaction_enabled=False)), IDLE)
    assert not run.cuts
    assert max(moment.context for moment in run.moments) > 60_000


def test_without_a_window_nothing_is_cut():
    """A rule without a size of its own goes on; there is no line to cut at."""
    for rival in (RULES["mask-last-n"], RULES["summarize-at"]):
        run = simulate_rival(setup_of(autonomous(45), facts=Facts(window=None)), rival)
        assert not run.cuts


def test_cuts_that_free_too_little_end():
    """Two cuts in a row that free less than a tenth of the window are the last."""
    run = simulate_rival(setup_of(autonomous(40, overhead=36_000), window=60_000), IDLE)
    assert len(run.cuts) == 2


def test_what_cannot_be_cut_goes_out():
    """Where nothing stands before what must be kept, the request goes out as it is."""
    run = simulate_rival(setup_of(Story().user(text_of(30_000)).reply().reply(), window=32_768), IDLE)
    assert not run.cuts
    assert run.moments[0].context > 30_000


def test_summaries_keep_their_share_of_the_window():
    """Above its fraction of the window the rule sums up and keeps a tenth of it."""
    run = simulate_rival(setup_of(autonomous(60), window=60_000), rival_of("summarize-at:0.5"))
    assert run.cuts
    for cut in run.cuts:
        assert 30_000 < cut.before < 33_000
        assert cut.after < 3_000 + 1_000 + 6_000 + 2 * 1_600


@pytest.mark.parametrize("system", [False, True])
def test_the_boundary_of_a_summary_is_its_end(system):
    """A breakpoint after the summary: where the prompt alone is cached otherwise, the next cut reads that far."""
    story = autonomous(60)
    if system:
        prompt = {"role": "system", "content": "y" * 4_000}
        story.entries.insert(0, {"type": "message", "id": "s", "parentId": None, "message": prompt})
        story.entries[1]["parentId"] = "s"
    setup = setup_of(story, window=60_000)
    bare, marked = (simulate_rival(setup, rival_of(f"summarize-at:0.5{end}")) for end in ("", "+breakpoint"))
    assert [moment.context for moment in bare.moments] == pytest.approx([moment.context for moment in marked.moments])
    assert marked.bill.cost <= bare.bill.cost
