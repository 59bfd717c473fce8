"""What holds for every session under every policy."""

from __future__ import annotations

import copy
import json
from contextlib import suppress

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.engine.build import Host, broken, facts, materialise_positions, per_position, summary, user
from tests.engine.pure import measure
from tests.engine.strategies import CANARY, SMALL, branched, odd, play, scripts, small_host

from leafscar.compaction import check_pairs
from leafscar.compaction.settle import NO_RESULT
from leafscar.engine import POLICIES, Controller, ControlState, ShedSettings
from leafscar.engine.decide import decide
from leafscar.engine.fold import fold
from leafscar.engine.plan import sendable
from leafscar.engine.sizers import calibrated_sizer, chars_sizer
from leafscar.errors import ContextOverflow, SummaryFailed
from leafscar.estimate import estimate_tokens
from leafscar.model import Assistant, Image, as_entry
from leafscar.model.messages import parts_of, text_of
from leafscar.pruning import Never
from leafscar.session import Session
from leafscar.session.recall import recall

ALL = [*POLICIES, "compaction:0.70"]
few = settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
MOVES = {"shed", "cut", "resync"}


def _dump(messages):
    bare = [{key: value for key, value in message.items() if key != "timestamp"} for message in messages]
    return [json.dumps(message, sort_keys=True) for message in bare]


BOUND = [(policy, way) for policy in ("balanced", "fewest-cuts", "classic") for way in ("off", "strip", "drop_block")]


@pytest.mark.parametrize(("policy", "way"), [*((policy, None) for policy in ALL), *BOUND])
@given(script=scripts)
@few
def test_the_prefix_extends_between_two_moves(policy, way, script):
    """Between two moves each request begins with the very bytes of the one before; ``kept`` says what a move keeps."""
    last = {"sent": [], "positions": []}

    def check(host: Host) -> None:
        sent, positions = _dump(host.sent), per_position(host.controller, host.outcome.plan)
        if not MOVES & set(host.kinds()):
            assert sent[: len(last["sent"])] == last["sent"]
        kept = host.outcome.plan.kept
        assert positions[:kept] == last["positions"][:kept]
        assert len(positions) == host.outcome.plan.length
        last.update(sent=sent, positions=positions)

    bound = {} if way is None else {"bound_thinking": True, "thinking_way": way}
    play(small_host(policy, facts=facts(**SMALL, **bound)), script, check)


@pytest.mark.parametrize("policy", ALL)
@given(script=scripts)
@few
def test_running_sums_equal_plain_sums(policy, script):
    """After every step, moves and cuts included, the ledger holds what the plain definition gives."""
    _play_against_plain_sums(policy, script)


@pytest.mark.slow
@pytest.mark.parametrize("policy", ALL)
@given(script=scripts)
@settings(few, max_examples=150)
def test_running_sums_equal_plain_sums_in_many_more(policy, script):
    """The same over far more scripts than the unit suite has time for."""
    _play_against_plain_sums(policy, script)


def _play_against_plain_sums(policy, script) -> None:
    def check(host: Host) -> None:
        _assert_pure(host.controller, chars_sizer)

    play(small_host(policy), script, check)


def _assert_pure(controller: Controller, sizer) -> None:
    ledger = controller.ledger
    pure = measure(ledger.items, ledger.rules, sizer, ledger.shed)
    assert ledger.raw() == pytest.approx(pure.raw)
    for name in ("older", "fullest", "already"):
        assert getattr(ledger, name) == pytest.approx(getattr(pure, name)), name
    assert ledger.suffix() == pytest.approx(pure.suffix)
    assert tuple(ledger.chosen(fullest=True)) == pure.ripe


@pytest.mark.parametrize("policy", ALL)
@given(script=branched)
@few
def test_the_estimate_is_the_size_of_the_request_on_every_branch(policy, script):
    """With an exact sizer, rewinds, stray and late results and failed responses never make the estimate miss."""
    _play_against_the_provider(policy, script)


@pytest.mark.slow
@pytest.mark.parametrize("policy", ALL)
@given(script=branched)
@settings(few, max_examples=300)
def test_the_estimate_is_the_size_in_many_more(policy, script):
    """The same over far more scripts than the unit suite has time for."""
    _play_against_the_provider(policy, script)


def _play_against_the_provider(policy, script) -> None:
    stand_ins, before = [0], [[]]

    def check(host: Host) -> None:
        stand_ins.append(_stand_ins(host.sent))
        kept = sendable(materialise_positions(host.controller, host.outcome.plan)[: host.outcome.plan.kept])
        while kept and NO_RESULT in json.dumps(kept[-1]):
            kept.pop()
        assert _dump(host.sent)[: len(kept)] == _dump(before[-1])[: len(kept)]
        before.append(host.sent)
        estimate, slack = host.outcome.plan.estimate, max(stand_ins) + 1
        assert estimate >= host.size() - slack
        if host.controller.policy.own_rules:  # the others go by readings from before a cut as well
            assert estimate == pytest.approx(host.size(), abs=slack)
        _assert_pure(host.controller, chars_sizer)

    play(small_host(policy), script, check)


def _stand_ins(sent) -> float:
    """Tokens of the results that stand for missing ones."""
    return sum(estimate_tokens(message) for message in sent if NO_RESULT in json.dumps(message))


@pytest.mark.parametrize("policy", ["balanced", "fewest-cuts", "thrifty", "classic"])
@pytest.mark.parametrize("way", [None, "strip", "drop_block"])
@given(script=odd)
@few
def test_odd_entries_branches_and_restored_states_keep_the_sums(policy, way, script):
    """Edits, custom messages, pictures and branch summaries leave sums, pairs and ``kept`` true, restored or not."""
    last: list[str] = []

    def check(host: Host) -> None:
        _assert_pure(host.controller, chars_sizer)
        check_pairs(host.sent)
        positions, kept = per_position(host.controller, host.outcome.plan), host.outcome.plan.kept
        assert positions[:kept] == last[:kept]
        last[:] = positions

    bound = {} if way is None else {"bound_thinking": True, "thinking_way": way}
    play(small_host(policy, facts=facts(**SMALL, **bound)), script, check)


@pytest.mark.parametrize("policy", ["classic", "balanced", "fewest-cuts"])
@given(script=scripts)
@few
def test_feeding_in_any_portions_gives_the_same(policy, script):
    """One entry at a time, in chunks or all at once, a controller that only follows knows the same."""
    host = small_host("none")
    play(host, script)
    known = []
    for size in (1, 5, len(host.path)):
        controller = Controller(facts=host.controller.facts, policy=policy)
        for end in range(size, len(host.path) + size, size):
            controller.follow(host.path[:end])
            _assert_pure(controller, calibrated_sizer if controller.policy.own_rules else chars_sizer)
        known.append(controller.view())
    for other in known[1:]:
        for name in other.__struct_fields__:
            assert getattr(other, name) == pytest.approx(getattr(known[0], name)), name


@pytest.mark.parametrize("policy", ALL)
@given(script=scripts)
@few
def test_what_may_be_shed(policy, script):
    """Unanswered, newest, never-listed, small, excluded and pictured things stay; each move makes a request smaller."""
    never = Never(tools=("bash",), paths=("b.py",))

    def check(host: Host) -> None:
        own = host.controller.policy.own_rules
        items, plan = host.controller.items, host.outcome.plan
        ledger, lines = host.controller.ledger, host.controller.lines
        for event in host.new_events:
            if event.kind == "shed":
                assert event.after < event.estimate
                assert event.saved > 0
                assert event.outputs > 0
        for position in plan.replacements:
            message = items[position].message
            assert getattr(message, "tool_name", "bash") != "bash"
            assert not getattr(message, "exclude_from_context", False)
            if getattr(message, "tool_name", "") in ("read", "edit"):
                assert not ledger.calls[message.tool_call_id].arguments["path"].endswith("b.py")
            assert ledger.size(position) < ledger.sums[position + 1] - ledger.sums[position]
            if own:
                later = [item.message for item in items[position + 1 :]]
                assert any(isinstance(m, Assistant) and m.stop_reason not in ("error", "aborted") for m in later)
                assert ledger.raw(position + 1) >= lines.protect
        images = sum(isinstance(part, Image) for item in items for part in _parts(item.message))
        sent = [part for message in host.sent for part in _raw_parts(message) if part.get("type") == "image"]
        assert len(sent) == images

    play(small_host(policy, shed=ShedSettings(never=never)), script, check)


def _parts(message):
    return parts_of(getattr(message, "content", None))


def _raw_parts(message):
    content = message.get("content")
    return content if isinstance(content, list) else []


@pytest.mark.parametrize("policy", ["classic", "balanced", "fewest-cuts", "thrifty"])
@given(script=scripts)
@few
def test_a_protected_turn_stays_raw(policy, script):
    """``protectCurrentTurn`` set true is absolute: only what stood before the last prompt, or was stale, goes."""

    def check(host: Host) -> None:
        ledger = host.controller.ledger
        for event in host.new_events:
            if event.kind == "shed":
                boundary = host.outcome.plan.boundary
                assert boundary < ledger.last_user or ledger.outputs[boundary].superseded
        for position in ledger.shed:
            assert position < ledger.last_user or ledger.outputs[position].superseded

    play(small_host(policy, shed=ShedSettings(protect_current_turn=True)), script, check)


@pytest.mark.parametrize("policy", ["classic", "balanced", "fewest-cuts"])
@given(script=scripts)
@few
def test_every_marker_recalls_its_original(policy, script):
    """The reference that a marker prints gives the whole original back."""
    wanted: dict[str, str] = {}

    def check(host: Host) -> None:
        for position, marker in host.outcome.plan.replacements.items():
            item = host.controller.items[position]
            assert f"recall {item.entry.id} for" in marker
            message = item.message
            wanted[item.entry.id] = message.output if hasattr(message, "output") else text_of(message.content)

    host = small_host(policy)
    play(host, script, check)
    session = Session.memory(host.path)
    for id_, original in wanted.items():
        assert recall(session, f"{id_}:full").text.startswith(original)


@pytest.mark.parametrize("policy", ALL)
@given(script=scripts)
@few
def test_nothing_stored_changes_and_nothing_leaks(policy, script):
    """Entries stay as they were, pairs stay whole, summarisers see no marker, events hold no text of the session."""
    host = small_host(policy)
    copies = []

    def check(host: Host) -> None:
        check_pairs(host.sent)
        copies[:] = [*copies, *copy.deepcopy(host.path[len(copies) :])]
        for asked in host.asked:
            assert " pruned: ~" not in asked.prompt

    play(host, script, check)
    assert host.path[: len(copies)] == copies
    for event in host.events:
        assert CANARY not in repr(event)
        assert all(isinstance(value, str | int | float | None) for value in msgspec.structs.astuple(event))


@pytest.mark.parametrize("policy", ALL)
@given(script=scripts)
@few
def test_a_restored_controller_goes_on_the_same(policy, script):
    """Through JSON and back, the state gives the same projection, the same view and the same next decision."""

    def check(host: Host) -> None:
        controller = host.controller
        written = msgspec.json.encode(controller.state)
        state = msgspec.json.decode(written, type=ControlState)
        assert state == controller.state
        again = Controller(
            facts=controller.facts, policy=controller.policy, sizer=chars_sizer, state=state, reference_for=_id_of
        )
        again.follow(host.path)
        controller.follow(host.path)
        assert again.ledger.shed == controller.ledger.shed
        mine, other = controller.view(), again.view()
        for name in mine.__struct_fields__:
            assert getattr(other, name) == pytest.approx(getattr(mine, name)), name
        assert decide(again.policy, again.lines, other) == decide(controller.policy, controller.lines, mine)

    play(small_host(policy, overhead=500), script, check)


def _id_of(entry):
    return entry.id


@pytest.mark.parametrize("policy", ["balanced", "fewest-cuts", "thrifty", "classic", "compaction"])
@pytest.mark.parametrize("summariser", [summary, broken])
@given(script=scripts)
@few
def test_a_lost_state_is_folded_back(policy, summariser, script):
    """Folding over the session from its newest cut sheds what the run had shed, failed summaries included."""
    host = small_host(policy)
    host.summariser = summariser
    try:
        play(host, script)
    except SummaryFailed:
        return  # a request that was never sent leaves no trace to fold
    if any(event.kind == "loop-breaker" for event in host.events):
        return  # how often cuts failed to help before the newest one is not in the session
    again = Controller(facts=host.controller.facts, policy=policy, sizer=chars_sizer)
    fold(again, [as_entry(entry) for entry in host.path])
    assert {again.items[position].entry.id for position in again.ledger.shed} == host.shed
    assert again.take_events() == []


OURS = ("compaction", "balanced", "fewest-cuts", "thrifty")


@pytest.mark.parametrize("policy", OURS)
@few
@given(script=scripts, overhead=st.integers(0, 6_000))
def test_nothing_known_to_be_too_large_is_sent(policy, script, overhead):
    """A request that rests on a reading fits the window, or it is refused."""
    host = small_host(policy, overhead=overhead)

    def check(host):
        if host.controller.anchor is not None:
            assert host.size() <= SMALL["window"] + 1

    with suppress(ContextOverflow):
        play(host, script, check)


@pytest.mark.parametrize("policy", OURS)
@few
@given(sizes=st.lists(st.integers(600, 2_500), min_size=25, max_size=30))
def test_every_policy_acts_in_a_session_of_one_turn(policy, sizes):
    """Without a second prompt outputs go, or a summary comes, and each request fits."""
    host = small_host(policy)
    host.add(user(20))
    for tokens in sizes:
        host.step(tokens)
        assert host.size() <= SMALL["window"]
    kinds = {event.kind for event in host.events}
    assert ("cut" if policy == "compaction" else "shed") in kinds
