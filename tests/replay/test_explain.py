from __future__ import annotations

import json

import msgspec
import pytest
from tests.replay.sessions import Story, autonomous, interactive, text_of
from tests.replay.test_rows import ALL
from tests.replay.test_run import by_name, replayed

from leafscar.config import CompactionSection, Settings
from leafscar.errors import LeafscarError, SessionError
from leafscar.replay import Options
from leafscar.replay.explain import explain_request


def explained(story, number, policy="balanced", **options):
    """Explain one request of a story."""
    return explain_request(story.memory(), Options(**{"window": 60_000, **options}), number, policy)


@pytest.mark.parametrize("name", ALL)
def test_every_request_can_be_explained(name):
    """What is explained is what the row shows: the same request, the same move, the same cut."""
    story = interactive(6)
    row = by_name(replayed(story, policies=(name,)))[name]
    for moment in row.moments[::7]:
        told = explained(story, moment.request, name)
        assert told.sent == moment
        assert told.decision
        assert told.estimate >= 0
        assert (told.request, told.requests) == (moment.request, len(row.moments))
        assert json.loads(json.dumps(msgspec.to_builtins(told), allow_nan=False))["policy"] == name


def test_a_move_is_explained_with_its_numbers():
    """The outputs that went, what the estimate rested on, and the moves around it."""
    story = interactive(12)
    row = by_name(replayed(story))["balanced"]
    moves = [moment for moment in row.moments if moment.shed]
    told = explained(story, moves[1].request)
    assert told.decision.startswith(f"moved {moves[1].shed} outputs out (~{moves[1].shed_tokens:,.0f} tokens): ")
    assert told.move_before == moves[0].request
    assert told.move_after == (moves[2].request if len(moves) > 2 else None)
    assert told.engaged
    assert told.already > 0
    assert told.rests_on.messages_after >= 1
    assert told.rests_on.tokens < told.estimate
    assert sum(output.saved for output in told.outputs) == pytest.approx(told.fullest)
    assert sum(output.saved for output in told.outputs if output.older) == pytest.approx(told.older)
    assert {output.tool for output in told.outputs} == {"read"}
    assert [output.saved for output in told.outputs] == sorted((o.saved for o in told.outputs), reverse=True)


def test_a_cut_is_explained():
    """Both sizes, what was asked, and the cuts around it."""
    story = autonomous(90)
    cuts = by_name(replayed(story))["compaction"].cuts
    told = explained(story, cuts[1].request, "compaction")
    assert told.decision.startswith("cut (threshold): ")
    assert [event.kind for event in told.events][-2:] == ["summarise", "cut"]
    assert (told.cut_before, told.cut_after) == (cuts[0].request, cuts[2].request)
    assert told.rejected == ["a move: compaction never sheds"]


def test_a_cold_cache_is_stated_with_its_times():
    """How long it was idle and how long it lives; the first request has nothing before it."""
    story = interactive(4, pause=400)
    moments = by_name(replayed(story))["balanced"].moments
    cold = next(moment for moment in moments if moment.request > 5 and moment.break_cause == "expired")
    told = explained(story, cold.request)
    assert told.cold
    assert told.idle > told.ttl == 300
    first = explained(story, 1)
    assert (first.idle, first.cold, first.rests_on, first.engaged) == (None, False, None, False)
    assert first.decision == "sent as it was: below the shed line"


def test_an_execution_by_the_user_is_named_as_such():
    """What is no tool's result is a command."""
    story = Story().user().calls(3)
    story.message("bashExecution", command="make", output=text_of(3_000), exitCode=0)
    told = explained(story.user().calls(9).reply(), 13)
    assert "bash" in {output.tool for output in told.outputs}


def test_control_that_is_off_says_so():
    """A window that leaves nothing is explained, not refused."""
    told = explained(autonomous(3), 2, window=100, settings=_reserve(200))
    assert told.decision.startswith("sent as it was, control is off: reserve 200 leaves nothing")
    assert (told.lines, told.rejected) == ({}, [])


def _reserve(tokens):
    """Settings that state a reserve."""
    return Settings(
        compaction=CompactionSection(reserve_tokens=tokens), sources={"compaction.reserveTokens": "project"}
    )


@pytest.mark.parametrize("number", [0, -1, 5, 10**12])
def test_a_number_out_of_range_is_refused(number):
    """One line names the requests that there are."""
    with pytest.raises(LeafscarError, match=r"the session has requests 1 to 4$"):
        explained(autonomous(3), number)


def test_a_session_without_requests_is_refused():
    """Nothing was sent, so there is nothing to explain."""
    with pytest.raises(SessionError, match="holds no request"):
        explained(Story().user(), 1)


def test_a_wish_to_cut_that_found_nothing_is_told():
    """One huge prompt leaves no history to cut; the explanation says what was wanted and what happened."""
    story = Story().user(text_of(50_000)).reply().reply()
    told = explained(story, 2, "compaction")
    assert told.decision == (
        "wanted to cut, but nothing can be cut: no history before what must be kept; "
        "sent above the threshold: above the cut line, but nothing may be cut"
    )
    assert told.rejected[-1] == "a cut: there was nothing to cut"
