from __future__ import annotations

import msgspec
import pytest
from tests.replay.sessions import Story, autonomous, interactive, text_of
from tests.replay.test_simulate import setup_of

from leafscar.engine import Facts, parse_policy
from leafscar.errors import PolicyError
from leafscar.replay.cache import ANTHROPIC
from leafscar.replay.choices import changed
from leafscar.replay.rows import lines_of, modelled_row, policy_of, recorded_row, virtual_row
from leafscar.replay.tariffs import Tariff

ALL = ("none:never-cut", "compaction", "compaction:0.50", "classic", "source", "balanced", "fewest-cuts", "thrifty")


def with_cut(*, usage=None, follow=True, **options):
    """A session that its host compacted once."""
    story = autonomous(20, **options)
    fields = {} if usage is None else {"usage": usage}
    story.cut(story.entries[-5]["id"], **fields)
    return story.user().calls(2).reply() if follow else story


@pytest.mark.parametrize("name", ALL)
def test_a_row_counts_its_moments(name):
    """Breaks, moves, peak and requests over the window are those of the moments."""
    row = virtual_row(setup_of(interactive(10)), name)
    assert row.policy == name
    assert not row.recorded
    assert row.moves == sum(moment.shed > 0 for moment in row.moments)
    assert row.breaks == sum(moment.break_cause is not None for moment in row.moments)
    assert row.peak == max(moment.context for moment in row.moments)
    assert row.over_window == sum(moment.context > 60_000 for moment in row.moments)
    assert row.cost == pytest.approx(sum(moment.cost for moment in row.moments))
    assert row.units == pytest.approx(sum(moment.units for moment in row.moments))
    read = sum(moment.read for moment in row.moments)
    assert row.hit_ratio == pytest.approx(read / sum(moment.context for moment in row.moments))
    assert (row.ratio, row.saving) == (None, None)


def test_never_cut_counts_what_no_provider_would_take():
    """Requests over the window are counted, not left out."""
    row = virtual_row(setup_of(autonomous(60)), "none:never-cut")
    assert row.over_window > 10
    assert row.cuts == []


@pytest.mark.parametrize(
    ("name", "drawn"),
    [
        ("none", set()),
        ("none:never-cut", set()),
        ("compaction", {"threshold", "cut"}),
        ("compaction:0.50", {"threshold", "cut"}),
        ("classic", {"threshold", "gate"}),
        ("balanced", {"threshold", "shed", "goal"}),
        ("fewest-cuts", {"threshold", "shed", "goal", "cut"}),
        ("thrifty", {"threshold", "shed", "goal"}),
    ],
)
def test_lines_are_those_that_the_policy_has(name, drawn):
    """Only lines that the policy acts on are drawn."""
    assert lines_of(Facts(window=200_000), policy_of(name)).keys() == drawn


def test_no_line_while_control_is_off():
    """An unknown window draws no line."""
    assert lines_of(Facts(window=None), policy_of("balanced")) == {}


def test_names_of_rows():
    """The rows' own name is known besides the policies', anything else is not."""
    assert policy_of("none:never-cut") == parse_policy("none")
    for name in ("none:ever", "balanced:0.5", "compaction:2", "best"):
        with pytest.raises(PolicyError):
            policy_of(name)


def test_the_recorded_row_is_the_recording():
    """Policy none shows the provider's own numbers, request by request."""
    story = interactive(4, pause=400)
    row = recorded_row(setup_of(story))
    assert row.recorded
    assert [moment.context for moment in row.moments] == story.prompts
    assert not any(moment.inferred for moment in row.moments)
    usages = [e["message"]["usage"] for e in story.entries if e["message"].get("usage")]
    assert [moment.read for moment in row.moments] == [usage["cacheRead"] for usage in usages]
    assert [moment.written for moment in row.moments] == [usage["cacheWrite"] for usage in usages]
    assert row.cost == pytest.approx(
        sum(u["cacheRead"] * 0.3 + u["cacheWrite"] * 3.75 + u["output"] * 15 for u in usages) / 1e6
    )
    assert row.cost == pytest.approx(sum(moment.cost for moment in row.moments))
    assert row.peak == max(story.prompts)
    assert row.lines == {}


def test_a_stated_cost_wins():
    """What the host wrote down in dollars is what the session cost."""
    story = Story().user("start").reply(usage={"input": 10_000, "output": 9, "cost": {"total": 0.25}})
    assert recorded_row(setup_of(story)).cost == 0.25


def test_the_summary_is_booked_with_the_request_after_the_cut():
    """A summary whose usage the recording holds is in that moment, so that moments still add up."""
    usage = {"input": 30_000, "output": 500, "cacheRead": 0, "cacheWrite": 0, "cost": {"total": 0.4}}
    row = recorded_row(setup_of(with_cut(usage=usage)))
    (cut,) = row.cuts
    after = row.moments[cut.request - 1]
    assert after.cut
    assert cut.reason == "recorded"
    assert cut.cost == 0.4
    assert cut.summariser_input == 30_000
    assert cut.after == after.context < cut.before
    assert after.cost > 0.4
    assert row.cost == pytest.approx(sum(moment.cost for moment in row.moments))
    assert row.notes == []
    assert row.lines.keys() == {"threshold"}


def test_a_cut_at_the_end_is_booked_too():
    """The summary of a cut that no request follows is in the bill, and what came after is unknown."""
    usage = {"input": 30_000, "output": 500, "cacheRead": 0, "cacheWrite": 0, "cost": {"total": 0.4}}
    row = recorded_row(setup_of(with_cut(usage=usage, follow=False)))
    (cut,) = row.cuts
    assert cut.request == len(row.moments) + 1
    assert cut.after is None
    assert row.cost == pytest.approx(sum(moment.cost for moment in row.moments) + 0.4)


def test_an_unrecorded_summary_is_unknown_and_said():
    """A summary without usage has an unknown cost, and the row says that the bill lacks it."""
    row = recorded_row(setup_of(with_cut()))
    assert row.cuts[0].cost is None
    assert row.notes == ["1 summary was written by calls that it does not record"]
    story = with_cut()
    story.cut(story.entries[-2]["id"]).reply()
    assert recorded_row(setup_of(story)).notes == ["2 summaries were written by calls that it does not record"]


@pytest.mark.parametrize("usage", [None, {}, {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0}])
def test_what_was_not_reported_is_unknown(usage):
    """No usage and the zeros of a local server make an unknown bill, never one of 0."""
    row = recorded_row(setup_of(Story().user("start").reply(usage=usage)))
    moment = row.moments[0]
    assert (moment.context, moment.read, moment.written, moment.uncached, moment.cost) == (None,) * 5
    assert (row.cost, row.units, row.peak, row.hit_ratio) == (None, None, None, None)
    assert row.over_window == 0


def test_one_unreported_request_makes_the_bill_unknown():
    """A sum with an unknown part is unknown, but the known peak and hits stay."""
    story = Story().user("start").calls(3)
    story.reply(usage=None)
    row = recorded_row(setup_of(story))
    assert (row.cost, row.units) == (None, None)
    assert row.peak == max(story.prompts)
    assert row.hit_ratio > 0


def test_a_provider_that_hides_its_cache_use():
    """Prompt tokens without cache figures: the size is known, the cache use and the units are not."""
    story = Story().user("start").reply(usage={"input": 5_000, "output": 9})
    row = recorded_row(setup_of(story))
    assert row.moments[0].context == 5_000
    assert row.moments[0].read is None
    assert (row.units, row.hit_ratio) == (None, None)


def test_a_failed_request_that_was_billed_counts():
    """An aborted request with usage is in the bill; it is no break by itself."""
    story = Story().user("start").calls(2).reply(stop="aborted").user().reply()
    row = recorded_row(setup_of(story))
    assert len(row.moments) == 4
    assert row.cost == pytest.approx(sum(moment.cost for moment in row.moments))


def break_of(*usages, gap=8.0, models=("m", "m"), ttl=300.0):
    """Cause and size of what broke at the second of two requests."""
    story = Story().user("start")
    for usage, model in zip(usages, models, strict=True):
        story.model = model
        story.reply(usage=usage).user()
        story.wait(gap)
    setup = setup_of(story, cache=msgspec.structs.replace(ANTHROPIC, ttl=ttl))
    moment = recorded_row(setup).moments[-1]
    return moment.break_cause, moment.missed


HELD = {"input": 0, "output": 1, "cacheRead": 15_000, "cacheWrite": 5_000}


@pytest.mark.parametrize(
    ("second", "options", "expected"),
    [
        ({"input": 0, "output": 1, "cacheRead": 20_000, "cacheWrite": 900}, {}, (None, 0)),
        ({"input": 0, "output": 1, "cacheRead": 19_200, "cacheWrite": 900}, {}, (None, 0)),
        ({"input": 0, "output": 1, "cacheRead": 5_000, "cacheWrite": 16_000}, {}, ("shape", 15_000)),
        ({"input": 0, "output": 1, "cacheRead": 5_000, "cacheWrite": 4_000}, {}, ("shape", 4_000)),
        ({"input": 0, "output": 1, "cacheRead": 0, "cacheWrite": 21_000}, {"gap": 400.0}, ("expired", 20_000)),
        ({"input": 0, "output": 1, "cacheRead": 0, "cacheWrite": 21_000}, {"models": ("m", "n")}, ("model", 20_000)),
    ],
)
def test_recorded_breaks_have_a_cause(second, options, expected):
    """What was cached before and was sent again is a break; it is never more than what was sent outside the cache."""
    assert break_of(HELD, second, **options) == expected


def test_small_or_unknown_caches_do_not_break():
    """Less than a cacheable prefix cannot break, and nothing is said after a request that did not report."""
    small = {"input": 500, "output": 1, "cacheRead": 0, "cacheWrite": 400}
    assert break_of(small, small) == (None, 0)
    assert break_of(None, HELD) == (None, 0)
    assert break_of({"input": 0, "output": 0}, HELD) == (None, 0)


def test_a_recorded_cut_breaks_what_it_keeps():
    """At a warm cut the cause is the cut, and what the cut dropped is not counted as sent again."""
    story = with_cut()
    row = recorded_row(setup_of(story))
    moment = row.moments[row.cuts[0].request - 1]
    assert moment.break_cause == "cut"
    assert 0 < moment.missed <= moment.written


def test_the_modelled_session_is_the_session():
    """With exact readings the cache model gives the recorded bill back, recorded cuts and summaries included."""
    usage = {"input": 30_000, "output": 500, "cacheRead": 0, "cacheWrite": 0, "cost": {"total": 0.4}}
    setup = setup_of(with_cut(usage=usage, k=1.2))
    recorded, modelled = recorded_row(setup), modelled_row(setup)
    assert modelled.cost == pytest.approx(recorded.cost, rel=0.02)
    assert len(modelled.cuts) == 1
    assert [a.context for a in modelled.moments[:21]] == pytest.approx([b.context for b in recorded.moments[:21]])


def test_each_model_has_its_own_prices():
    """A session of two models is billed request by request at the prices of the model that answered."""
    story = Story().user("start").reply(usage={"input": 1_000_000, "output": 0, "cacheRead": 0, "cacheWrite": 0})
    story.model = "other"
    story.user().reply(usage={"input": 1_000_000, "output": 0, "cacheRead": 0, "cacheWrite": 0})
    setup = setup_of(story)
    dear = Tariff(prices=msgspec.structs.replace(setup.tariffs.main.prices, input=30.0), cache=ANTHROPIC)
    others = {("anthropic", "claude-sonnet-4-5"): dear}
    row = recorded_row(setup_of(story, others=others))
    assert [moment.cost for moment in row.moments] == [30.0, 3.0]


def test_a_summary_is_priced_as_the_model_before_it():
    """A recorded summary without stated dollars is priced by the model that was in use; a first entry by the main."""
    usage = {"input": 1_000_000, "output": 0, "cacheRead": 0, "cacheWrite": 0}
    story = Story()
    story.add("compaction", summary="earlier", firstKeptEntryId="x", tokensBefore=5, usage=usage)
    story.user("start").reply()
    story.cut(story.entries[1]["id"], usage=usage)
    story.model = "other"
    story.user().reply()
    setup = setup_of(story)
    dear = Tariff(prices=msgspec.structs.replace(setup.tariffs.main.prices, input=30.0), cache=ANTHROPIC)
    row = recorded_row(setup_of(story, others={("anthropic", "claude-sonnet-4-5"): dear}))
    assert [cut.cost for cut in row.cuts] == [3.0, 30.0]


def test_a_cut_without_its_size():
    """A compaction entry that lost its numbers is still a cut."""
    story = autonomous(8)
    story.cut(story.entries[-5]["id"], tokensBefore="many").user().reply()
    assert recorded_row(setup_of(story)).cuts[0].before == 0


def test_no_window_no_requests_over_it():
    """Without a window nothing can be larger than it."""
    setup = setup_of(Story().user(text_of(500)).reply(), facts=Facts(window=None))
    assert virtual_row(setup, "none").over_window == 0


@pytest.mark.parametrize(
    ("name", "drawn"),
    [
        ("mask-last-n:5", {"threshold"}),
        ("clear-tool-uses+breakpoint", {"threshold", "trigger"}),
        ("langchain-clear", {"threshold", "trigger"}),
        ("opencode-prune", {"threshold"}),
        ("summarize-at:0.50", {"threshold", "cut"}),
    ],
)
def test_a_rule_of_another_tool_is_a_row(name, drawn):
    """Its row counts its moments as others do, and draws its own lines."""
    row = virtual_row(setup_of(interactive(10)), name)
    assert (row.policy, row.rule) == (name, name.split(":")[0].split("+")[0])
    assert row.lines.keys() == drawn
    assert row.moves == sum(moment.shed > 0 for moment in row.moments)
    assert row.breaks == sum(moment.break_cause is not None for moment in row.moments)
    assert row.shape_breaks == sum(moment.break_cause == "shape" for moment in row.moments)
    assert bool(row.shape_breaks) == bool(row.notes) == (name == "mask-last-n:5")
    assert row.lines.get("cut", 30_000) == 30_000


def test_a_rule_without_a_window():
    """Where control is off there is no threshold; a rule that waits for a size keeps that line."""
    setup = setup_of(autonomous(5), facts=Facts(window=None))
    assert virtual_row(setup, "summarize-at").lines == {}
    assert virtual_row(setup, "clear-tool-uses").lines == {"trigger": 100_000}


def test_what_a_rule_cannot_do_is_said():
    """Cuts that the settings switch off, and thinking that a model binds, are named."""
    off = virtual_row(setup_of(autonomous(10), facts=Facts(window=60_000, compaction_enabled=False)), "mask-last-n")
    assert off.off == ["nothing was cut: compaction.enabled is false"]
    setup = setup_of(autonomous(10), facts=Facts(window=60_000, bound_thinking=True))
    notes = virtual_row(setup, "mask-last-n:3").notes
    assert notes[-1].startswith("this model binds its thinking; ")
    assert len(virtual_row(setup, "opencode-prune").notes) == 0


def test_a_policy_with_numbers_of_its_own():
    """A changed policy has its name, and is run and drawn by its numbers."""
    policy = changed(parse_policy("balanced"), "mine", {"shed_fraction": 0.3, "goal_fraction": 0.2})
    row = virtual_row(setup_of(interactive(10)), policy)
    assert (row.policy, row.rule, row.lines["shed"], row.lines["goal"]) == ("mine", "", 18_000, 12_000)
    assert row.moves + len(row.cuts) > 0
