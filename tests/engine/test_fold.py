"""Getting a lost projection back."""

import pytest
from tests.engine.build import Host, assistant, broken, facts, user

from leafscar.engine import Controller
from leafscar.engine.fold import fold, was_controlled
from leafscar.engine.sizers import chars_sizer
from leafscar.model import as_entry


def folded(host, policy="balanced", **given):
    """Ids of what a fresh controller sheds when it folds over the host's path."""
    controller = Controller(facts=host.controller.facts, policy=policy, sizer=chars_sizer, **given)
    fold(controller, [as_entry(entry) for entry in host.path])
    return {controller.items[at].entry.id for at in controller.ledger.shed}


@pytest.mark.parametrize(
    ("entry", "controlled"),
    [
        ({"type": "custom", "customType": "leafscar.submission"}, True),
        ({"type": "custom", "customType": "leafscarf"}, False),
        ({"type": "custom"}, False),
        ({"type": "message", "message": user()}, False),
    ],
)
def test_our_own_entries_tell_a_controlled_session(entry, controlled):
    """A custom entry of ours means that readings were measured on shed requests."""
    assert was_controlled([as_entry(entry)]) is controlled


def test_moves_are_made_again():
    """Request by request, the fold sheds what the run shed."""
    host = Host()
    host.add(user())
    for _ in range(14):
        host.step(10_400)
    assert len(host.shed) > 6
    assert folded(host) == host.shed


@pytest.mark.parametrize("note", [False, True])
def test_the_request_of_a_cut_is_not_decided_again(note):
    """It went out as the cut left it; entries that the model does not see change nothing about that."""
    host = Host("classic")
    host.add(user())
    for _ in range(10):
        host.request()
        host.respond("ok")
        host.add(user(9_500))
    host.request()
    assert "cut" in [event.kind for event in host.events]
    if note:
        host.append({"type": "label", "targetId": "e1", "label": "x"})
    host.respond("ok")
    assert folded(host, "classic") == host.shed == set()


def test_a_failed_summary_is_failed_again():
    """Where no cut followed, the summary failed, and level 1 stepped in."""
    host = Host()
    host.add(user())
    for _ in range(5):
        host.step(8_000)
    host.add(user(60_000))
    host.summariser = broken
    host.request()
    host.respond("ok")
    assert len(host.shed) == 4
    assert folded(host) == host.shed


def test_a_request_that_could_not_be_sent_does_not_stop_the_fold():
    """Recorded responses exist, whatever our numbers say about their requests."""
    host = Host("none", facts=facts(1_000_000))
    host.add(user(100))
    host.request()
    host.respond("ok", total=95_000)
    host.add(user(40_000))
    host.add(assistant("went through all the same", total=20_000))
    controller = Controller(facts=facts(compaction_enabled=False), sizer=chars_sizer)
    fold(controller, [as_entry(entry) for entry in host.path])
    assert len(controller.items) == 3
    controller.follow(host.path)
    assert controller.anchor.tokens == 20_000
