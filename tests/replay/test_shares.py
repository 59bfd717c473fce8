from __future__ import annotations

import pytest
from tests.replay.sessions import Story, autonomous, text_of
from tests.replay.test_run import by_name, replayed

from leafscar.replay import Options, replay_session
from leafscar.replay.shares import COSTLIEST


def told(story, **options):
    """The money of a session."""
    return replayed(story, **options).money


def test_the_classes_are_the_bill():
    """All classes together cost what the session costs under the cache model, recorded summaries included."""
    story = autonomous(20)
    usage = {"input": 9_000, "output": 400, "cacheRead": 0, "cacheWrite": 0}
    story.cut(story.entries[-5]["id"], usage=usage).user("go on").calls(3, name="bash").reply()
    money = told(story)
    shares = {(share.kind, share.tool): share for share in money.shares}
    assert set(shares) == {
        ("overhead", None), ("user", None), ("results", "read"), ("results", "bash"), ("arguments", "read"),
        ("arguments", "bash"), ("text", None), ("summaries", None), ("summariser", None),
    }  # fmt: skip
    assert sum(share.cost for share in money.shares) == pytest.approx(money.modelled.cost)
    assert sum(share.units for share in money.shares) == pytest.approx(money.modelled.units)
    assert sum(share.share for share in money.shares) == pytest.approx(1)
    assert [share.share for share in money.shares] == sorted((s.share for s in money.shares), reverse=True)
    assert (shares["summariser", None].sent, shares["summariser", None].output) == (9_000, 400)
    reads = shares["results", "read"]
    assert (reads.messages, reads.tokens) == (20, pytest.approx(30_000, rel=0.05))


def test_what_readings_count_beyond_the_text_has_a_class_of_its_own():
    """An attachment that is not in the file is nobody's text."""
    story = Story().user().calls(3)
    story.overhead += 20_000
    story.calls(3).reply()
    story.message("user", content=[{"type": "attachment"}])
    story.overhead += 5_000
    (unseen,) = (share for share in told(story.reply().calls(2).reply()).shares if share.kind == "unrecorded")
    assert unseen.tokens == pytest.approx(14_000 + 5_000, rel=0.3)


def test_without_prices_the_shares_are_of_units():
    """Where no price is known the parts of the bill are those of its units."""
    money = told(autonomous(6, model="local", provider="ollama", api="openai-completions"), window=60_000)
    assert all(share.cost is None for share in money.shares)
    assert sum(share.share for share in money.shares) == pytest.approx(1)
    assert money.outputs[0].cost is None
    assert money.outputs[0].units >= money.outputs[-1].units


def test_the_costliest_outputs_are_named():
    """Large and early outputs come first, with a reference, their file and how often they were sent."""
    story = Story().user().call(text_of(9_000), path="big.log").calls(30)
    story.call(text_of(100), name="bash").reply()
    story.message("bashExecution", command="ls", output=text_of(20_000))
    money = told(story.user().reply())
    assert len(money.outputs) == COSTLIEST
    assert money.output_count == 33
    first = next(one for one in money.outputs if one.path == "big.log")
    assert (first.tool, first.requests) == ("read", 33)
    assert first.reference == first.entry_id
    assert [one.cost for one in money.outputs] == sorted((one.cost for one in money.outputs), reverse=True)
    assert ("bash", None, 1) in [(one.tool, one.path, one.requests) for one in money.outputs]


def test_an_output_inside_a_kept_tail_has_no_reference_of_its_own():
    """Only entries can be recalled; what a cut's entry repeats is counted by class alone."""
    story = autonomous(4)
    story.cut(story.entries[-1]["id"], retainedTail=[entry["message"] for entry in story.entries[-3:]])
    assert told(story.user().reply()).output_count == 4


def test_recorded_and_modelled_bills_stand_side_by_side():
    """Both bills by class, over the same requests; a recording without usage has none."""
    session = replayed(autonomous(12))
    money, row = session.money, by_name(session)["none"]
    assert money.recorded.cost == row.cost
    assert money.recorded.read == sum(moment.read for moment in row.moments)
    assert abs(money.modelled.cost / money.recorded.cost - 1) == pytest.approx(session.error)
    silent = Story().user()
    silent.call("x" * 400, usage=None).reply(usage=None)
    money = told(silent, window=60_000)
    assert money.recorded is None
    assert money.modelled.read is not None


def test_another_model_is_checked_on_the_recorded_one():
    """With a model asked for, recorded and modelled bills are still those of the model that answered."""
    usual, asked = (replayed(autonomous(12), model=model) for model in (None, "claude-opus-4-5"))
    assert asked.money.recorded == usual.money.recorded
    assert asked.money.modelled == usual.money.modelled
    assert sum(share.cost for share in asked.money.shares) > sum(share.cost for share in usual.money.shares)


def test_equal_cuts_are_run_only_when_asked_for():
    """More lines of compaction are work that a terminal does not show."""
    story = autonomous(45)
    assert replayed(story).equal_cuts == []
    points = replay_session(story.memory(), Options(window=60_000, equal_cuts=True)).equal_cuts
    assert {point.cuts for point in points} >= {len(by_name(replayed(story))["compaction"].cuts)}
