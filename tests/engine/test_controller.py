"""One session under one controller, request by request."""

from __future__ import annotations

import contextlib
import json

import pytest
from tests.engine.build import STEADY, Host, assistant, broken, call, facts, result, summary, text, user

from leafscar.compaction import SummaryResponse, pins_intact
from leafscar.engine import CacheFacts, Controller, CutSettings, Fallback, Send, ShedSettings, Summarise, materialise
from leafscar.engine.sizers import chars_sizer
from leafscar.errors import ContextOverflow, SummaryFailed
from leafscar.model import Usage, as_entry
from leafscar.pruning import Never

# window 100,000, reserve 10,000: T 90,000, shed line 70,000, goal 62,000, batch 10,000, cold 1,000, protect 10,000


def grown(policy=STEADY, steps=8, tokens=10_000, **given) -> Host:
    """A host whose session holds a prompt and ``steps`` tool results, the last one still unanswered."""
    host = Host(policy, **given)
    host.add(user())
    for _ in range(steps):
        host.step(tokens)
    return host


# --- moves ----------------------------------------------------------------------------------------


def test_nothing_happens_below_the_lines():
    """A small session goes out as it is, and the event says so."""
    host = grown(steps=3)
    outcome = host.request()
    assert (outcome.plan.replacements, host.kinds()) == ({}, ["keep"])


def test_one_batch_leaves_and_the_newest_stays():
    """Above 70 % one move takes what is answered and older than the protected tail, to the goal or below."""
    host = grown(steps=7, tokens=10_400)
    outcome = host.request()
    (event,) = host.new_events
    assert (event.kind, event.outputs) == ("shed", 6)
    assert outcome.plan.estimate == event.after <= 62_000
    assert list(outcome.plan.replacements) == [2, 4, 6, 8, 10, 12]
    assert outcome.plan.boundary == outcome.plan.kept == 2
    assert host.controller.engaged


def test_the_next_move_waits_for_a_batch():
    """After a move the shape stays until there is enough again: an edge, never a level."""
    host = grown(steps=7, tokens=10_400)
    host.request()
    shapes = []
    for _ in range(12):
        host.respond(call(f"c{len(host.path)}"))
        host.add(result(f"c{len(host.path) - 1}", 900))
        host.request()
        shapes.append(host.kinds())
    assert shapes == [["keep"]] * 12
    assert host.events[-1].estimate < 70_000


def test_a_move_goes_out_in_full_pairs():
    """Markers stand in their results; roles, calls and order stay."""
    host = grown(steps=7, tokens=10_400)
    host.request()
    assert [message["role"] for message in host.sent] == ["user", *["assistant", "toolResult"] * 7]
    marker = host.sent[2]["content"][0]["text"]
    assert marker.startswith("[other pruned: ~10.4k tokens.")
    assert "recall e3 for full output" in marker


def test_a_cold_cache_lets_small_moves_go():
    """After an idle time longer than the cache lives, older material goes from 1 % on; at its very end it does not."""
    for gap, kinds in ((300, ["keep"]), (301, ["shed"])):
        host = grown(steps=4, tokens=6_000)
        host.add(user())
        host.request(now=0)
        host.respond("ok")
        host.request(now=gap)
        assert host.kinds() == kinds


def test_an_unknown_clock_is_never_cold():
    """Without times nothing counts as cold, after a time or before one."""
    host = grown(steps=4, tokens=6_000)
    host.add(user())
    host.request(now=None)
    host.respond("ok")
    host.request(now=9e9)
    host.respond("ok")
    host.request(now=None)
    assert {event.kind for event in host.events} == {"keep"}


@pytest.mark.parametrize(("read", "reason"), [(0.1, "it pays back"), (0.01, "pressure")])
def test_a_move_below_the_shed_line_waits_until_it_pays(read, reason):
    """Twenty responses make it worth it where a cached token costs a tenth; where it costs next to nothing, none do."""
    host = Host(cache=CacheFacts(read=read, write=1.25))
    host.add(user())
    for number in range(24):
        host.request()
        host.respond(text(2_000), call(f"c{number}"))
        host.add(result(f"c{number}", 1_500))
    first = next(event for event in host.events if event.kind == "shed")
    assert first.reason == reason
    assert (first.estimate <= 75_000) == (reason == "it pays back")


def test_superseded_reads_go_even_in_the_current_turn():
    """A read that a whole later read or an edit made stale counts as older material, from 100 tokens on."""
    host = Host(STEADY)
    host.add(user())
    for name, tokens, arguments in (
        ("read", 200, {"path": "a"}),
        ("read", 90, {"path": "a"}),
        ("read", 200, {"path": "a", "offset": 3}),
        ("read", 200, {"path": "b"}),
        ("edit", 200, {"path": "b"}),
        ("read", 200, {"path": "c"}),
        ("read", 200, {"path": "a"}),
        ("other", 30_000, {}),
        ("other", 200, {}),
    ):
        host.step(tokens, name, **arguments)
    host.request(now=0)
    host.respond("ok")
    ledger = host.controller.ledger
    host.controller.follow(host.path)
    stale = [ledger.items[at].entry.id for at in ledger.chosen(fullest=False)]
    assert stale == ["e3", "e7", "e9"]


def _fill(host: Host) -> None:
    with contextlib.suppress(SummaryFailed):
        for _ in range(9):
            host.step(10_000)


def test_never_lists_keep_tools_and_paths():
    """What the user listed stays raw under every policy."""
    never = Never(tools=("recall", "oth*"), paths=("AGENTS.md",))
    for policy in ("balanced", "classic"):
        host = Host(policy, shed=ShedSettings(never=never))
        host.add(user())
        for number in range(8):
            host.step(10_000, *(("read",) if number % 2 else ("other",)), path="docs/AGENTS.md")
        host.add(user())
        host.summariser = broken
        _fill(host)
        assert host.controller.ledger.outputs == {}


def test_settings_of_level_1_are_absolute():
    """``minResultTokens`` set in a file beats the policy's own floor, superseded reads included."""
    host = Host(shed=ShedSettings(min_result_tokens=5_000))
    host.add(user())
    for tokens in (5_000, 5_001, 20_000, 20_000, 20_000, 20_000):
        host.step(tokens, "read", path="a")
    host.controller.follow(host.path)
    assert sorted(host.controller.ledger.outputs) == [4, 6, 8, 10, 12]


def test_pruning_off_means_no_move():
    """``pruning.enabled`` false leaves level 2 alone."""
    host = grown(steps=8, facts=facts(pruning_enabled=False))
    assert {event.kind for event in host.events} == {"keep", "summarise", "cut"}


def test_facts_are_resolved_for_each_request():
    """Another model between two requests draws other lines, and protects as many tokens as they say."""
    host = grown(steps=7, tokens=10_400)
    host.controller.facts = facts(1_000_000)
    host.request()
    assert host.kinds() == ["keep"]
    host.respond("ok")
    host.controller.facts = facts(75_000, reserve_tokens=4_000)
    host.request()
    assert host.controller.ledger.rules.protect == host.controller.lines.protect == 8_875
    assert host.kinds() == ["shed"]


# --- classic: seeds 000 and 002 -------------------------------------------------------------------


def classic(**given) -> Host:
    """Eight old results and a new prompt: 80,000 tokens, a first request just above T is one step away."""
    host = grown("classic", steps=8, **given)
    host.add(user())
    host.request()
    host.respond("so far")
    return host


def test_a14_108_a14_115_below_the_threshold_classic_sends_raw():
    """Never crossed, never engaged."""
    host = classic()
    assert host.kinds() == ["keep"]
    host.request()
    assert (host.kinds(), host.controller.engaged) == (["keep"], False)


def test_a14_107_a14_114_classic_stays_engaged():
    """Once crossed, requests go out pruned with the same references wherever the estimate sits."""
    host = classic()
    host.add(user(10_100))
    host.request()
    assert host.kinds() == ["shed"]
    first, shed = host.outcome.plan.replacements, host.shed
    host.request()
    assert (host.outcome.plan.replacements, host.kinds()) == (first, ["keep"])
    host.respond("small usage now")
    for _ in range(3):
        host.request()
        host.respond("on")
        assert host.shed == shed
    assert host.controller.view().estimate < 90_000


def test_a14_62_engaged_classic_sheds_whatever_becomes_old():
    """Below T and engaged, a new prompt moves the watermark and the pass takes what is now before it."""
    host = classic()
    host.add(user(10_100))
    host.step(3_000)
    host.request()
    assert host.kinds() == ["keep"]
    host.respond("ok")
    host.add(user())
    host.request()
    assert host.kinds() == ["shed"]


def test_a14_111_a14_117_the_gate_cancels():
    """Savings that reach T - reserve_tokens win; the flag stays."""
    host = classic()
    host.add(user(10_100))
    host.request()
    assert host.kinds() == ["shed"]
    host.respond("ok")
    host.request()
    assert host.controller.engaged


def test_a14_112_a14_116_the_gate_passes_and_the_cut_resets():
    """Far too much even when pruned: the cut runs, and the session goes on raw."""
    host = classic()
    host.step(1_000)
    host.add(user(91_000))
    host.request()
    assert host.kinds() == ["summarise", "cut", "over-threshold"]
    assert (host.controller.engaged, host.shed) == (False, set())
    host.respond("ok", total=50_000)
    host.request()
    assert (host.kinds(), host.shed) == (["keep"], set())


def test_a14_113_manual_and_overflow_ignore_the_gate():
    """A cut on request runs where pruning would have been enough."""
    host = classic()
    host.add(user(10_100))
    asked = host.controller.compact(host.path)
    assert isinstance(asked, Summarise)
    assert asked.reason == "manual"


def test_a14_122_new_savings_only():
    """Engaged and above T again with nothing new to shed: the cut runs; the source's arithmetic cancels for ever."""
    for policy, kinds in (("classic", ["summarise", "cut", "over-threshold"]), ("source", ["over-threshold"])):
        host = grown(policy, steps=6, tokens=9_000)
        host.add(user(37_000))
        host.request()
        assert host.kinds() == ["shed"], policy
        host.respond("ok", total=88_000)
        host.add(user(3_000))
        host.request()
        assert host.kinds() == kinds


def test_a14_123_a_split_turn_without_a_prompt():
    """A cut may leave no user message: ours still sheds, classic's setting keeps all, and off lets it act."""

    def shed_by(policy, **given):
        host = Host(policy, **given)
        host.append({"type": "compaction", "summary": "S", "firstKeptEntryId": None, "tokensBefore": 1})
        for _ in range(9):
            host.step(8_000)
        host.add(assistant("look", total=96_000))
        host.summariser = broken
        try:
            host.request()
        except SummaryFailed:
            return set()
        return host.shed

    assert shed_by("balanced")
    assert not shed_by("classic")
    assert shed_by("classic", shed=ShedSettings(protect_current_turn=False))


def test_classic_keeps_its_anchor_over_a_cut_but_does_not_believe_it():
    """The kept tail still carries the old usage: it closes no request, and the latch keeps it from cutting again."""
    host = Host("classic", facts=facts(100_000))
    for tokens in (30_000, 10_000, 15_000):
        host.add(user(tokens))
        host.request()
        host.respond("a")
    host.path[-1]["message"]["usage"]["totalTokens"] = 99_000
    host.request(output=5_000)
    assert "cut" in host.kinds()
    host.respond("half", stop="aborted")
    host.request(output=5_000)
    assert host.controller.anchor is not None
    assert "cut" not in host.kinds()


# --- cuts -----------------------------------------------------------------------------------------


def over(policy="compaction", **given) -> Host:
    """A host just above T."""
    host = grown(policy, steps=9, tokens=10_100, **given)
    host.summariser = given.get("summariser", summary)
    return host


def test_a_cut_is_one_summary_and_a_tail():
    """The request that noticed is already the small one, with the entry's fields to append."""
    host = over()
    outcome = host.request()
    assert host.kinds() == ["summarise", "cut"]
    assert isinstance(outcome, Send)
    assert set(outcome.cut) >= {"summary", "firstKeptEntryId", "tokensBefore", "details", "fromHook"}
    assert host.sent[0]["role"] == "compactionSummary"
    assert outcome.plan.kept == 0
    assert outcome.plan.estimate == host.new_events[-1].after < host.new_events[-1].estimate


@pytest.mark.parametrize(
    ("overhead", "kinds"), [(30_000, ["summarise", "shed", "cut"]), (28_000, ["summarise", "cut"])]
)
def test_what_a_cut_keeps_is_shed_where_it_is_too_large(overhead, kinds):
    """A kept tail that leaves the request above T goes out with markers; below T it is raw."""
    host = Host(facts=facts(60_000), overhead=overhead)
    host.add(user(6_000))
    for id_, said, shown in (("a", 4_000, 10_000), ("b", 0, 7_000)):
        host.request()
        host.respond(text(said), call(id_))
        host.add(result(id_, shown))
    host.request()
    assert host.kinds() == kinds
    assert host.size() <= 50_000


def test_the_hosts_entry_takes_the_place_of_the_announced_one():
    """The next call finds the host's own entry and goes on: no second projection, the same bytes."""
    host = over()
    before = host.request()
    host.respond("ok")
    outcome = host.request()
    assert host.kinds() == ["keep"]
    assert outcome.plan.kept == before.plan.length
    assert host.controller.items[0].entry.id == host.path[-2]["id"]


def test_an_entry_of_the_hosts_own_making_is_read_again():
    """A cut entry that carries more than was announced is projected afresh, as the same cut."""
    host = over()
    host.request()
    host.path[-1]["systemMessage"] = {"role": "system", "content": "rules"}
    host.respond("ok")
    host.request()
    assert host.kinds() == ["resync", "keep"]
    assert [message["role"] for message in host.sent[:2]] == ["system", "compactionSummary"]


def test_a_cut_that_was_not_appended_is_undone():
    """If the host could not write the entry, the session is what it was."""
    host = over()
    host.request()
    cut = host.path.pop()
    host.add(assistant("went on", total=95_000))
    host.request()
    assert cut["type"] == "compaction"
    assert host.kinds()[:2] == ["resync", "summarise"]


def test_the_latch_waits_for_a_reading_after_the_cut():
    """Failed responses and new prompts open nothing; valid usage does."""
    host = over()
    host.request()
    host.respond("x", stop="error")
    host.add(user(90_000))
    host.request()
    assert host.kinds() == ["over-threshold"]
    host.respond("y", total=95_000)
    host.request()
    assert "cut" in host.kinds()


def test_two_fruitless_cuts_open_the_loop_breaker():
    """Cuts that free less than a tenth of the window, by the next reading, stop after two; a good one re-arms."""
    host = over()
    told = []
    for _ in range(4):
        host.request()
        told += host.kinds()
        host.respond("ok", total=92_000)
        host.add(user(6_000))
    assert told.count("cut") == 2
    assert told.count("loop-breaker") == 1
    assert host.kinds()[-1] == "over-threshold"
    assert host.controller.state.fruitless == 2
    outcome = host.controller.summarised(summary(host.controller.compact(host.path).request))
    host.append({"type": "compaction", **outcome.cut})
    host.respond("ok", total=20_000)
    host.request()
    assert host.controller.state.fruitless == 0


def test_manual_cuts_never_open_the_loop_breaker():
    """A user may cut as often as they like: such cuts do not count, even when they free nothing."""
    host = over()
    for _ in range(3):
        outcome = host.controller.summarised(summary(host.controller.compact(host.path).request))
        host.append({"type": "compaction", **outcome.cut})
        assert host.controller.state.automatic is False
        for _ in range(5):
            host.respond("ok", total=92_000)
            host.add(user(6_000))
    host.controller.follow(host.path)
    assert host.controller.state.fruitless == 0
    assert "loop-breaker" not in host.kinds()


def test_a_first_cut_needs_no_gain_in_advance():
    """The minimum gain is judged afterwards, never a reason to refuse."""
    host = over()
    host.request()
    assert host.controller.state.awaiting_gain == pytest.approx(91_000, rel=0.02)
    host.respond("ok", total=30_000)
    host.request()
    assert host.controller.state.awaiting_gain is None


def test_nothing_to_cut_asks_nobody():
    """A session that is all tail goes on without a call, by a move or as it is."""
    host = Host("compaction")
    host.add(user(95_000))
    host.request()
    assert host.asked == []
    assert host.kinds() == ["nothing-to-cut", "over-threshold"]
    assert host.controller.compact(host.path) is None
    assert Host(STEADY).controller.compact([]) is None


@pytest.mark.parametrize("policy", ["none", "compaction", "classic", "balanced"])
def test_a_manual_cut_ignores_the_lines(policy):
    """On request there is a cut whatever the lines say, with an unknown window and with cuts switched off too."""
    for known in (facts(), facts(None), facts(compaction_enabled=False), facts(reserve_tokens=0)):
        host = Host(policy, facts=known)
        host.add(user())
        for _ in range(8):
            host.step(8_000)
        host.add(user())
        asked = host.controller.compact(host.path, instructions="names")
        assert asked.request.max_tokens > 0
        assert asked.request.prompt
        outcome = host.controller.summarised(summary(asked.request))
        assert "what happened" in outcome.cut["summary"]
        assert 0 < len(host.controller.items) < 18


def test_a_manual_cut_that_fails_says_so():
    """There is no request to save, so there is no way without a cut."""
    host = over()
    asked = host.controller.compact(host.path)
    with pytest.raises(SummaryFailed, match="bad key"):
        host.controller.summarised(broken(asked.request))


def test_keep_recent_can_be_smaller_never_larger():
    """The setting of the tail is held to what the threshold allows."""
    sizes = []
    for keep in (None, 5_000, 500_000):
        host = grown("compaction", steps=30, tokens=3_050, cut=CutSettings(keep_recent=keep))
        host.request()
        sizes.append(len(host.sent))
    assert sizes[0] == sizes[2] > sizes[1]


def test_pins_survive_every_cut():
    """A text of the settings and a labelled prompt stand word for word in the summary message, twice over."""
    pins = ("never push to main",)
    host = Host("compaction", cut=CutSettings(pins=pins))
    host.add({"role": "user", "content": "always answer in Danish", "timestamp": 1})
    host.append({"type": "label", "targetId": "e1", "label": "pin"})
    for _ in range(2):
        for _ in range(9):
            host.step(10_100)
        host.request()
        host.respond("ok")
    cuts = [entry["summary"] for entry in host.path if entry["type"] == "compaction"]
    assert len(cuts) == 2
    for cut in cuts:
        assert pins_intact(cut, ["never push to main", "always answer in Danish"])
    assert all("pinned-rules" not in request.prompt for request in host.asked)


def test_over_the_threshold_after_a_cut_is_sent_and_said():
    """A tail larger than T goes out while nothing is known against it."""
    host = Host("compaction")
    host.add(user())
    host.step(1_000)
    host.step(95_000)
    host.request(output=20_000)
    assert host.kinds() == ["summarise", "cut", "over-threshold"]


# --- failing summaries ----------------------------------------------------------------------------


def test_level_1_steps_in_for_a_failed_summary():
    """Over T, the fullest move that reaches T takes the place of the cut, and the words are passed on."""
    host = grown("balanced", steps=5, tokens=8_000)
    host.add(user(60_000))
    host.summariser = broken
    outcome = host.request()
    assert isinstance(outcome, Fallback)
    assert outcome.words == "Summarization failed: bad key"
    assert host.kinds() == ["summarise", "summary-failed", "shed"]
    assert outcome.plan.estimate <= 90_000


def test_a_request_below_the_threshold_goes_as_it_is():
    """Under pressure but below T a failed summary changes nothing."""
    host = Host(STEADY)
    host.add(user(30_000))
    host.step(100)
    host.add(user(42_000))
    host.summariser = broken
    outcome = host.request()
    assert isinstance(outcome, Fallback)
    assert host.kinds() == ["summarise", "summary-failed", "fallback"]
    assert outcome.plan.replacements == {}


def test_after_a_fallback_the_next_try_waits():
    """No summary is asked for again until the request has grown by the small batch."""
    host = Host(STEADY)
    host.add(user(30_000))
    host.step(100)
    host.add(user(42_000))
    host.summariser = broken
    host.request()
    host.respond("ok")
    host.add(user(500))
    host.request()
    assert host.kinds() == ["keep"]
    host.respond("ok")
    host.add(user(600))
    host.summariser = summary
    host.request()
    assert host.kinds() == ["summarise", "cut"]


def test_without_a_way_the_turn_fails_and_the_next_one_tries_again():
    """Nothing is sent, nothing is appended; the conversation stays usable."""
    host = over(facts=facts(pruning_enabled=False))
    host.summariser = broken
    length = len(host.path)
    with pytest.raises(SummaryFailed, match="ummarization failed: bad key") as caught:
        host.request()
    assert caught.value.code == "failed"
    assert len(host.path) == length
    host.summariser = summary
    host.request()
    assert "cut" in host.kinds()


def test_a_refused_answer_is_asked_for_once_more():
    """An empty summary leads to a second, shorter question; then it fails."""
    host = over()
    answers = [SummaryResponse(texts=(" ",)), SummaryResponse(texts=("S",))]
    host.summariser = lambda request: answers.pop(0)
    host.request()
    assert [request.second_try for request in host.asked] == [False, True]
    assert host.kinds() == ["summarise", "cut"]


# --- what fits ------------------------------------------------------------------------------------


def measured(tokens: float, policy="compaction", **given) -> Host:
    """A session whose last reading says ``tokens``; what it holds is small."""
    host = Host(policy, facts=facts(100_000, reserve_tokens=0, **given))
    host.add(user(200))
    host.request()
    host.respond("ok", total=tokens)
    return host


@pytest.mark.parametrize(("output", "fits"), [(10_000, True), (10_001, False)])
def test_a_request_fits_up_to_the_last_token(output, fits):
    """Estimate + requested output against the real window; what does not fit is not sent."""
    host = measured(90_000, compaction_enabled=False)
    if fits:
        assert isinstance(host.request(output=output), Send)
        return
    with pytest.raises(ContextOverflow) as caught:
        host.request(output=output)
    assert (caught.value.estimate, caught.value.requested, caught.value.window) == (90_000, 10_001, 100_000)


def test_what_does_not_fit_is_shed_first():
    """One move, whatever its size, before a cut is asked for."""
    host = grown(steps=6, tokens=10_000, facts=facts(100_000, reserve_tokens=0))
    outcome = host.request(output=50_000)
    assert isinstance(outcome, Send)
    assert host.kinds() == ["keep", "shed"]
    assert outcome.plan.kept == 2
    assert outcome.plan.estimate + 50_000 <= 100_000


def test_then_it_is_cut_even_while_the_latch_is_closed_or_the_breaker_open():
    """Overflow is no automatic reason: latch, gate and breaker do not hold it back."""
    host = grown(steps=6, tokens=10_000, facts=facts(100_000, reserve_tokens=0, pruning_enabled=False))
    outcome = host.request(output=50_000)
    assert host.kinds() == ["keep", "summarise", "cut"]
    assert outcome.cut is not None


def test_a_failed_summary_never_lets_an_overflow_through():
    """Below T but too large for the output it asks for: the turn fails."""
    host = grown(steps=6, tokens=10_000, facts=facts(100_000, reserve_tokens=0, pruning_enabled=False))
    host.summariser = broken
    with pytest.raises(SummaryFailed):
        host.request(output=50_000)


def test_shedding_that_is_not_enough_is_followed_by_the_cut():
    """Both levels in one request."""
    host = grown(steps=6, tokens=10_000, facts=facts(100_000, reserve_tokens=0))
    outcome = host.request(output=95_000)
    assert host.kinds() == ["keep", "shed", "summarise", "cut"]
    assert outcome.plan.replacements == {}


def test_a_refused_request_was_not_sent():
    """After ``ContextOverflow`` the next request still extends the last one that went."""
    host = measured(90_000, compaction_enabled=False)
    host.add(user(10))
    with pytest.raises(ContextOverflow):
        host.request(output=20_000)
    assert host.request(output=0).plan.kept == 1


def test_a_guess_never_stops_a_request():
    """Without a reading the size is only an estimate: it is sent, and the event says that it is over."""
    host = Host("compaction")
    host.add(user(500_000))
    assert isinstance(host.request(output=50_000), Send)
    assert host.kinds() == ["nothing-to-cut", "over-threshold"]


def test_none_is_never_stopped():
    """``none`` sends what there is."""
    host = measured(99_000, policy="none")
    assert isinstance(host.request(output=50_000), Send)


def test_cuts_switched_off_are_off_on_every_path():
    """``compaction.enabled`` false: pruning goes on, overflow does not cut either."""
    host = grown(steps=16, facts=facts(compaction_enabled=False))
    assert {event.kind for event in host.events} == {"keep", "shed"}
    host = measured(95_000, compaction_enabled=False)
    host.request()
    assert host.kinds() == ["keep"]


# --- the path -------------------------------------------------------------------------------------


def test_another_branch_is_read_again_with_its_markers():
    """Markers whose outputs still stand stay; a reading from before a move counts what the move took."""
    host = grown(steps=7, tokens=10_400, typed=True)
    host.request()
    host.respond("ok")
    host.request()
    shed, branch = host.shed, host.path[:-1]
    host.path[:] = [*branch, as_entry({"id": "other", "type": "message", "message": user(100)})]
    host.request()
    assert host.kinds()[0] == "resync"
    assert host.shed == shed
    assert host.outcome.plan.kept == 15
    assert host.controller.view().estimate == pytest.approx(host.size(), abs=30)


def test_rewinding_beyond_the_moves_brings_the_outputs_back():
    """A shorter path has only the markers of what stands on it."""
    host = grown(steps=7, tokens=10_400)
    host.request()
    host.path = host.path[:5]
    host.request()
    assert host.shed == {"e3", "e5"}


def test_a_context_edit_is_projected():
    """An edit of an entry changes its message; what the anchor knows of markers stays known."""
    host = grown(steps=7, tokens=10_400)
    host.request()
    host.respond("ok")
    before = host.controller.view().estimate
    host.append({"type": "context_edit", "targetId": "e1", "replacement": {"content": "new"}})
    host.request()
    assert host.sent[0]["content"] == "new"
    assert host.outcome.plan.kept == 0
    assert host.controller.view().estimate == pytest.approx(host.size(), abs=30)
    assert before != 0
    assert len(host.shed) == 6


def test_a_cut_by_the_host_starts_afresh():
    """A compaction entry that someone else wrote resets as our own cut does."""
    host = classic()
    host.add(user(10_100))
    host.request()
    assert host.controller.engaged
    host.append({"type": "compaction", "summary": "S", "firstKeptEntryId": "e14", "tokensBefore": 1})
    host.add(user())
    host.controller.follow(host.path)
    assert not host.controller.engaged
    assert host.shed == set()


def test_observe_decides_nothing():
    """A request that a host sends as it stands is noted: no move, no event, and the next one extends it."""
    host = grown("none", steps=8)
    plan = host.controller.observe(host.path, now=5)
    assert (plan.replacements, plan.length) == ({}, 17)
    assert host.controller.take_events() == []
    assert host.controller.observe(host.path, now=6).kept == 17
    assert host.controller.state.last_request == 6


def test_a_marker_returns_only_where_its_output_may_still_go():
    """Settings that changed between two processes are obeyed: what must stay raw now comes back raw."""
    host = grown(steps=7, tokens=10_400)
    host.request()
    state = host.controller.state
    again = Controller(
        facts=facts(),
        policy=STEADY,
        sizer=chars_sizer,
        state=state,
        shed=ShedSettings(never=Never(ids=frozenset({"e3"}))),
    )
    again.follow(host.path)
    assert sorted(again.plan().replacements) == [4, 6, 8, 10, 12]


def test_references_are_the_hosts():
    """A host names its references; the default is the entry's id."""
    host = grown(steps=7, tokens=10_400, reference_for=lambda entry: f"#{entry.id[1:]}")
    host.request()
    assert "recall #3 for full output" in host.outcome.plan.replacements[2]


# --- bound thinking -------------------------------------------------------------------------------


def thinking(way: str, policy=STEADY, steps=7) -> Host:
    """A session whose responses think, on a model that binds thinking."""
    host = Host(policy, facts=facts(bound_thinking=True, thinking_way=way))
    host.add(user())
    for _ in range(steps):
        host.request()
        id_ = f"c{len(host.path)}"
        host.respond({"type": "thinking", "thinking": "hm", "thinkingSignature": "s"}, call(id_))
        host.add(result(id_, 10_400))
    return host


def thoughts(host: Host) -> list[int]:
    """Positions that went out with thinking."""
    return [at for at, message in enumerate(host.sent) if '"thinking"' in json.dumps(message)]


def test_bound_thinking_makes_no_moves_by_default():
    """Level 1 is off on such models; the cut strips the thinking of what it keeps, and later turns keep theirs."""
    host = thinking("off")
    host.request()
    assert host.kinds() == ["summarise", "cut"]
    assert thoughts(host) == []
    assert host.outcome.plan.strip_thinking == (0, len(host.sent))
    stripped = host.outcome.plan.strip_thinking
    host.respond({"type": "thinking", "thinking": "new"}, "ok")
    host.request()
    assert host.outcome.plan.strip_thinking == stripped
    assert thoughts(host) == [len(host.sent) - 1]
    again = Controller(facts=host.controller.facts, policy=STEADY, sizer=chars_sizer, state=host.controller.state)
    again.follow(host.path)
    assert again.plan().strip_thinking == stripped


def test_strip_lets_later_thinking_go_with_the_move():
    """From the first changed block on, and only there."""
    host = thinking("strip")
    host.request()
    assert host.kinds() == ["shed"]
    assert thoughts(host) == [1]
    assert host.outcome.plan.kept == 2
    assert host.outcome.plan.strip_thinking == (2, 15)
    again = Controller(facts=host.controller.facts, policy=STEADY, sizer=chars_sizer, state=host.controller.state)
    again.follow(host.path)
    assert again.plan().strip_thinking == (2, 15)


def test_a_second_move_strips_from_where_the_first_one_ended():
    """What was stripped stays stripped; ``kept`` ends where the shape changes."""
    host = thinking("strip")
    host.request()
    host.respond({"type": "thinking", "thinking": "x"}, "ok")
    host.request()
    for _ in range(7):
        id_ = f"c{len(host.path)}"
        host.respond({"type": "thinking", "thinking": "hm"}, call(id_))
        host.add(result(id_, 10_400))
        host.request()
    assert [event.kind for event in host.events].count("shed") == 2
    start, end = host.outcome.plan.strip_thinking
    assert start == 2
    assert [at for at in thoughts(host) if start <= at < end] == []


def test_drop_block_leaves_thinking_to_the_provider():
    """The request allows the provider to drop blocks; nothing is stripped here."""
    host = thinking("drop_block")
    host.request()
    assert host.kinds() == ["shed"]
    assert host.outcome.plan.drop_block
    assert host.outcome.plan.strip_thinking is None
    assert len(thoughts(host)) == 7


# --- readings -------------------------------------------------------------------------------------


def test_what_the_host_reports_counts_for_the_response():
    """Entries without usage: the report of ``after_response`` is the reading, also after another projection."""
    host = Host("compaction", trust_entries=False)
    host.add(user(100))
    host.request()
    host.controller.after_response(Usage(total_tokens=60_000))
    host.add(assistant("ok"))
    host.request()
    assert host.controller.anchor.tokens == 60_000
    host.append({"type": "context_edit", "targetId": "e1", "replacement": {"content": "new"}})
    host.request()
    assert host.controller.anchor.tokens == 60_000


def test_an_entrys_own_usage_comes_before_the_report():
    """Of two sources the session's own record is the one that the next process will see."""
    host = Host("compaction")
    host.add(user(100))
    host.request()
    host.controller.after_response(Usage(total_tokens=7))
    host.respond("ok", total=50_000)
    host.request()
    assert host.controller.anchor.tokens == 50_000


@pytest.mark.parametrize("total", [0, float("nan"), float("inf"), -5])
@pytest.mark.parametrize("policy", ["balanced", "classic"])
def test_no_number_is_no_reading(total, policy):
    """0, NaN, infinities and negative totals are not used."""
    host = Host(policy)
    host.add(user(100))
    host.request()
    host.controller.after_response(Usage(total_tokens=total, input=total, output=0, cache_read=0, cache_write=0))
    host.add(assistant("ok", total=total))
    host.request()
    assert host.controller.anchor is None


@pytest.mark.parametrize("stop", ["error", "aborted"])
def test_a_failed_response_is_no_reading(stop):
    """Neither its own usage nor a report for it."""
    host = Host(STEADY)
    host.add(user(100))
    host.request()
    host.controller.after_response(Usage(total_tokens=5_000))
    host.respond("half", stop=stop, total=60_000)
    host.request()
    assert host.controller.anchor is None
    assert host.controller.view().estimate < 200


def test_a_reading_larger_than_the_window_is_refused():
    """1,364,156 tokens cannot have been in a window of 1,000,000; classic takes what the sources take."""
    for policy, anchor in (("balanced", None), ("classic", 1_364_156)):
        host = Host(policy, facts=facts(1_000_000))
        host.add(user(100))
        host.request()
        host.respond("ok", total=1_364_156)
        host.controller.follow(host.path)
        found = host.controller.anchor
        assert (found.tokens if found else None) == anchor


def test_a_jump_without_content_is_refused_once():
    """More than twice what was expected and a quarter of the window: refused, until it is said again."""
    host = Host(STEADY)
    host.add(user(100))
    host.request()
    host.respond("ok", total=20_000)
    host.request()
    host.respond("ok", total=60_000)
    host.request()
    assert host.kinds() == ["anchor-refused", "keep"]
    assert host.controller.anchor.tokens == 20_000
    host.respond("ok", total=61_000)
    host.request()
    assert host.controller.anchor.tokens == 61_000


def test_the_overhead_outlives_a_cut():
    """System prompt and tools are still there when no reading is."""
    host = over(overhead=3_000)
    host.request()
    assert host.controller.anchor is None
    assert host.controller.overhead == pytest.approx(3_000, abs=10)
    assert host.outcome.plan.estimate == pytest.approx(host.size(), abs=20)


def test_calibration_learns_within_bounds():
    """With the calibrated estimator the factor follows the readings, from 0.5 to 2; a wild one says nothing."""
    for told, factor in ((1.5, 1.5), (4.0, 2.0), (0.3, 0.5), (9.0, None)):
        host = Host("balanced", sizer=None)
        host.add(user(100))
        own = 0.0
        total = 1_000.0
        for _ in range(3):
            host.request()
            host.respond("ok", total=total)
            host.add(user(1_000))
            own = host.controller.ledger.raw() or own
            host.controller.follow(host.path)
            total += told * (host.controller.ledger.raw() - own)
        host.request()
        ratios = [measured / own for own, measured in host.controller.state.learnt[-1:]]
        assert ratios == ([] if factor is None else pytest.approx([factor], rel=0.05))
        assert host.controller.view().estimate > 0


def test_a_plan_is_fresh_for_each_host():
    """Building the messages twice gives equal lists that share nothing a host could change."""
    host = grown(steps=7, tokens=10_400)
    outcome = host.request()
    first, second = (materialise(host.controller.items, outcome.plan) for _ in range(2))
    assert first == second
    first[2]["content"] = []
    assert second[2]["content"]
    assert host.path[2]["message"]["content"][0]["text"] == text(10_400)
