from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from tests.replay.sessions import Story, autonomous, interactive, text_of

from leafscar.engine import DEFAULT_POLICY, Facts, parse_policy
from leafscar.replay.bills import Bill
from leafscar.replay.cache import ANTHROPIC, AUTOMATIC, UNCACHED
from leafscar.replay.prices import Prices
from leafscar.replay.recording import read_recording
from leafscar.replay.rows import policy_of
from leafscar.replay.simulate import Setup, simulate
from leafscar.replay.sizes import measure_sizes
from leafscar.replay.tariffs import Tariff, Tariffs
from leafscar.session import load

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.jsonl"))
POLICIES = ("none", "compaction", "compaction:0.50", "classic", "source", "balanced", "fewest-cuts", "thrifty")
PRICES = Prices(source="test", input=3.0, output=15.0, cache_read=0.3, cache_write=3.75)
FOREVER = msgspec.structs.replace(AUTOMATIC, ttl=1e12, min_prefix=0, granularity=1)


def setup_of(session, *, window=60_000, cache=ANTHROPIC, prices=PRICES, others=None, **changes):
    """What policies share, with a stated window and cache."""
    recording = read_recording(session.memory() if isinstance(session, Story) else session)
    fields = {
        "recording": recording,
        "sizes": measure_sizes(recording),
        "facts": Facts(window=window),
        "tariffs": Tariffs(main=Tariff(prices=prices, cache=cache), others=others or {}),
        "summary_tokens": 1_000,
    }
    return Setup(**fields | changes)


def runs(session, **options):
    """One run of each policy."""
    setup = setup_of(session, **options)
    return {name: simulate(setup, policy_of(name)) for name in POLICIES}


@pytest.fixture(scope="module", params=["autonomous", "interactive", "cold", *(path.stem for path in EXAMPLES)])
def session(request):
    """A session with something to do for every policy."""
    match request.param:
        case "autonomous":
            return autonomous(45).memory()
        case "interactive":
            return interactive(10).memory()
        case "cold":
            return interactive(10, pause=400).memory()
        case name:
            return load(next(path for path in EXAMPLES if path.stem == name))


@pytest.mark.parametrize("name", POLICIES)
def test_between_two_moves_the_prefix_never_changes(session, name):
    """With a cache that forgets nothing, a request without move or cut reads all of the one before."""
    run = simulate(setup_of(session, cache=FOREVER), policy_of(name))
    held = 0.0
    for moment in run.moments:
        if not (moment.shed or moment.cut):
            assert moment.read == pytest.approx(held, abs=1), moment.request  # the cache counts whole tokens
            assert moment.break_cause is None
        assert moment.context is not None
        held = moment.context


@pytest.mark.parametrize("name", POLICIES)
def test_moments_add_up(session, name):
    """Every moment is read + written + uncached, and the bill is the sum of all moments."""
    run = simulate(setup_of(session), policy_of(name))
    for moment in run.moments:
        assert moment.read + moment.written + moment.uncached == pytest.approx(moment.context)
        assert moment.missed <= moment.written + moment.uncached + 1e-6
        assert moment.inferred
    assert run.bill.cost == pytest.approx(sum(moment.cost for moment in run.moments))
    assert run.bill.units == pytest.approx(sum(moment.units for moment in run.moments))
    assert len(run.cuts) == sum(moment.cut for moment in run.moments)


@pytest.mark.parametrize("name", POLICIES)
def test_each_cut_is_billed_once_with_its_request(session, name):
    """The summariser reads uncached, writes the summary, and stands in the bill of the request after the cut."""
    run = simulate(setup_of(session), policy_of(name))
    for cut in run.cuts:
        moment = run.moments[cut.request - 1]
        expected = (cut.summariser_input * 3 + cut.summary_tokens * 15) / 1e6
        assert cut.cost == pytest.approx(expected)
        own = (moment.read * 0.3 + moment.written * 3.75 + moment.uncached * 3 + moment.output * 15) / 1e6
        assert moment.cost == pytest.approx(own + expected)
        assert cut.after == pytest.approx(moment.context)
        assert cut.after < cut.before


def test_balanced_moves_once_and_cuts_late():
    """It sheds whole batches, above 75 % only to the goal; when no batch reaches it, it cuts."""
    story = Story().user("think a lot")
    for _ in range(40):
        story.call(text_of(700)).reply("thinking " * 800).user()
    run = runs(story)["balanced"]
    shed, goal, batch = 43_616, 36_000, 7_500  # T, 60 % and an eighth of a window of 60,000
    for before, moment in zip(run.moments, run.moments[1:], strict=False):
        if moment.shed:
            assert moment.shed_tokens >= batch
            assert moment.context <= goal
        elif not moment.cut:
            assert moment.context <= shed
            assert moment.context > before.context
    assert any(moment.shed for moment in run.moments)
    assert {cut.reason for cut in run.cuts} == {"pressure"}
    assert all(cut.before > shed for cut in run.cuts)


def test_balanced_moves_early_when_the_cache_is_cold():
    """A pause longer than the lifetime makes a move free, so the tokens count as expired, not as lost to it."""
    run = runs(interactive(8, pause=400))["balanced"]
    moved = [moment for moment in run.moments if moment.shed]
    assert moved
    assert {moment.break_cause for moment in moved} == {"expired"}
    assert max(moment.context for moment in run.moments) < 42_000


def test_a_warm_move_breaks_the_shape():
    """A move in the middle of a turn sends tokens again that were still cached."""
    run = runs(autonomous(45))["balanced"]
    assert {moment.break_cause for moment in run.moments if moment.shed} == {"shape"}


def test_a_cut_breaks_what_it_keeps():
    """The kept tail of a warm cut is sent again, and its cause is the cut."""
    run = runs(autonomous(60))["compaction"]
    broken = [moment for moment in run.moments if moment.cut]
    assert {moment.break_cause for moment in broken} == {"cut"}
    assert all(moment.missed > 10_000 for moment in broken)


def test_the_first_request_breaks_nothing():
    """Nothing was cached before the first request."""
    for run in runs(autonomous(3)).values():
        assert run.moments[0].break_cause is None
        assert [moment.break_cause for moment in run.moments] == [None] * 4


def test_compaction_states_its_fraction():
    """The fraction is the line: lower ones cut earlier, and no request goes above it."""
    setup = setup_of(autonomous(60), window=100_000)
    cuts = {share: simulate(setup, parse_policy(f"compaction:{share}")) for share in ("0.40", "0.60")}
    assert len(cuts["0.40"].cuts) > len(cuts["0.60"].cuts) >= 1
    assert max(moment.context for moment in cuts["0.40"].moments) <= 40_000
    assert max(moment.context for moment in cuts["0.60"].moments) <= 60_000


def test_its_own_cuts_take_the_place_of_the_recorded_ones():
    """A recorded cut is not made again by another policy, and is made by the modelled session."""
    story = autonomous(20)
    story.cut(story.entries[-5]["id"]).user().calls(2).reply()
    setup = setup_of(story, window=200_000)
    without = simulate(setup, parse_policy("none"))
    assert without.moments[-1].context > story.prompts[-1] + 20_000
    as_it_was = simulate(setup, parse_policy("none"), keep_recorded_cuts=True)
    assert as_it_was.moments[-1].context == pytest.approx(story.prompts[-1], rel=0.02)


def test_a_session_that_starts_with_a_summary_keeps_it():
    """A cut that nothing stands before holds all there is of its history, so it is never taken away."""
    story = Story()
    story.add("compaction", summary="what was done before " * 300, firstKeptEntryId="gone", tokensBefore=90_000)
    story.user("go on").calls(2).reply()
    for run in runs(story).values():
        assert run.moments[0].context == pytest.approx(story.prompts[0])
    assert story.prompts[0] > 4_500


def test_the_system_prompt_stays_cached_through_a_cut():
    """Where the system prompt is a message, a cut sends it again as the same bytes, so it is read from the cache."""
    story = Story(overhead=0)
    story.message("system", content="", sections={"preamble": "You help. " * 2_000})
    story.user("start").calls(40).reply()
    run = simulate(setup_of(story), parse_policy("compaction"))
    cuts = [moment for moment in run.moments if moment.cut]
    assert len(cuts) >= 2
    assert [moment.read for moment in cuts] == pytest.approx([5_000] * len(cuts), rel=0.02)


def test_two_summaries_are_never_the_same_bytes():
    """After a second cut only the overhead is read: its summary is not that of the first one."""
    run = simulate(setup_of(autonomous(80), cache=FOREVER), parse_policy("compaction"))
    assert len(run.cuts) >= 2
    for cut in run.cuts:
        assert run.moments[cut.request - 1].read == pytest.approx(3_000)


def test_unknown_times_are_never_cold():
    """Without timestamps nothing expires, so no policy moves because of a pause."""
    story = Story()
    story.timed = False
    for _ in range(5):
        story.user().calls(3).reply()
    run = runs(story, window=200_000)["balanced"]
    assert not any(moment.shed for moment in run.moments)
    assert {moment.at for moment in run.moments} == {None}
    assert {moment.break_cause for moment in run.moments} == {None}


def test_a_pause_around_an_unknown_time_is_not_cold():
    """One request without a time lies between two known ones: nobody knows how long the pauses were."""
    story = interactive(5, pause=10)
    middle = story.entries[len(story.entries) // 2 :]
    answer = next(entry for entry in middle if entry["message"]["role"] == "assistant")
    answer["message"]["timestamp"] = 0
    answer.pop("timestamp")
    later = story.entries[story.entries.index(answer) + 1 :]
    for entry in later:
        entry["message"]["timestamp"] += 400_000
    run = runs(story, window=200_000)["balanced"]
    assert not any(moment.shed for moment in run.moments)


def test_another_model_starts_with_an_empty_cache():
    """A switch of model reads nothing, is billed at its own prices, and says why."""
    story = Story().user("start").calls(4)
    story.model = "claude-opus-4-5"
    story.calls(2).reply()
    dear = Tariff(prices=msgspec.structs.replace(PRICES, input=300.0, cache_write=375.0), cache=ANTHROPIC)
    setup = setup_of(story, others={("anthropic", "claude-sonnet-4-5"): dear})
    run = simulate(setup, parse_policy("none"))
    assert [moment.break_cause for moment in run.moments] == [None] * 4 + ["model"] + [None] * 2
    assert run.moments[4].read == 0
    assert run.moments[0].cost > 50 * run.moments[4].cost / 2


def test_a_request_that_cannot_fit_is_counted_and_said():
    """A message larger than the window, with no cut allowed, is sent all the same in a what-if, with a note."""
    story = Story().user("start").reply().user(text_of(70_000)).reply()
    for name, run in runs(story, facts=Facts(window=60_000, compaction_enabled=False)).items():
        assert run.moments[-1].context > 60_000
        said = ["a request that could not have been sent is counted as if it had been"]
        assert run.notes == ([] if name == "none" else said)


def test_without_prices_there_are_units_only():
    """Money is unknown without a price, the units are not."""
    run = simulate(setup_of(autonomous(30), prices=None), policy_of(DEFAULT_POLICY))
    assert run.bill.cost is None
    assert {moment.cost for moment in run.moments} == {None}
    assert {cut.cost for cut in run.cuts} <= {None}
    assert run.bill.units > 0


def test_without_a_cache_nothing_is_read():
    """Under a provider without a prompt cache every token is plain input, and nothing ever breaks."""
    run = simulate(setup_of(autonomous(40), cache=UNCACHED), policy_of(DEFAULT_POLICY))
    assert sum(moment.read + moment.written for moment in run.moments) == 0
    assert {moment.break_cause for moment in run.moments} == {None}


def test_a_session_of_one_request():
    """One request: its context is the reading, and no policy does anything."""
    for run in runs(Story().user("hello").reply()).values():
        assert [moment.context for moment in run.moments] == pytest.approx([3_002], abs=1)
        assert run.cuts == []


def test_no_request_no_run():
    """Without requests the run is empty."""
    run = simulate(setup_of(Story().user("hello")), policy_of(DEFAULT_POLICY))
    assert (run.moments, run.cuts, run.bill) == ([], [], Bill())


@pytest.mark.parametrize("content", ["cleared", [{"type": "text", "text": "cleared"}]])
def test_an_edited_message_has_other_bytes(content):
    """What the host replaced in the context is no longer in the cache, nor is what stands behind it."""
    story = Story().user("start").calls(6)
    story.add("context_edit", targetId=story.entries[4]["id"], replacement={"content": content})
    story.calls(2).reply()
    moments = simulate(setup_of(story), parse_policy("none")).moments
    before, after = moments[5], moments[6]
    assert after.break_cause == "shape"
    assert after.read < 3_000 + 2 * 1_600 < before.read
