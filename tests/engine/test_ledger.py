"""Running sums and their plain definition, on one session that holds every kind of message."""

import pytest
from tests.engine.build import Host, assistant, call, execution, facts, result, text, user
from tests.engine.pure import measure

from leafscar.engine import Controller, ShedSettings
from leafscar.engine.sizers import chars_sizer

MESSAGES = [
    user(),
    assistant(call("a", "read", path="x"), call("b", "read", path="y"), call("c", "read", path="x", offset=4)),
    result("a", 3_000, "read"),
    result("b", 200, "read", images=1),
    result("c", 400, "read"),
    assistant(call("d", "edit", path="y"), call("e", "edit"), call("f", "read", path="x"), stop="aborted"),
    result("d", 700, "edit"),
    result("e", 700, "edit"),
    result("f", 900, "read"),
    result("orphan", 700),
    execution(1_200),
    execution(1_200, excludeFromContext=True),
    assistant(call("g", "edit", path="x")),
    result("g", "Error: no match\n" * 60, "edit", error=True),
    assistant("x", total=9_000),
    user(200),
    assistant(call("h", "edit", path="x")),
    result("h", 310, "edit"),
    assistant("done", stop="error"),
    assistant("done", total=9_500),
]


def path():
    """One entry a message, and entries of other types between."""
    entries = [{"type": "message", "id": f"e{n}", "message": message} for n, message in enumerate(MESSAGES)]
    note = {"type": "custom_message", "id": "n", "customType": "note", "content": text(50), "display": True}
    return [*entries[:12], note, {"type": "label", "id": "l", "targetId": "n"}, *entries[12:]]


@pytest.mark.parametrize("policy", ["balanced", "fewest-cuts", "classic", "source"])
@pytest.mark.parametrize("protect", [0, 2_000, 6_000])
def test_the_running_sums_are_the_plain_ones(policy, protect):
    """At each length of the path, and after a move of each kind, both give the same numbers."""
    known = facts(protect * 8 + 10_000 if protect else 10_001, reserve_tokens=10_000)
    for fullest in (False, True):
        controller = Controller(facts=known, policy=policy, sizer=chars_sizer)
        for end in range(1, len(path()) + 1):
            controller.follow(path()[:end])
            ledger = controller.ledger
            pure = measure(ledger.items, ledger.rules, chars_sizer, ledger.shed)
            assert ledger.raw() == pure.raw
            assert (ledger.older, ledger.fullest, ledger.already) == (pure.older, pure.fullest, pure.already)
            assert (ledger.suffix(), tuple(ledger.chosen(fullest=True))) == (pure.suffix, pure.ripe)
            if end == 18:
                ledger.move(ledger.chosen(fullest=fullest))


def test_stale_reads_and_sizes():
    """A whole read or an edit makes earlier reads of its file stale, failed edits do not; a size is its marker's."""
    controller = Controller(facts=facts(10_001, reserve_tokens=10_000), sizer=chars_sizer)
    controller.follow(path())
    ledger = controller.ledger
    assert {at for at, output in ledger.outputs.items() if output.superseded} == {2, 3, 4, 8}
    before = ledger.size(2)
    ledger.move([2])
    assert (before, ledger.size(2)) == (3_000, ledger.outputs[2].marker.tokens)
    assert ledger.size(1) > 0


def test_an_output_whose_marker_saves_nothing_is_none():
    """A sizer may find a marker no smaller than what it stands for."""

    def one(entry, message):
        return 1.0

    controller = Controller(facts=facts(), sizer=one)
    controller.follow(path())
    assert controller.ledger.outputs == {}
    assert measure(controller.items, controller.ledger.rules, one).ripe == ()


def test_what_went_before_it_was_stale_stays_gone():
    """An edit after the move changes nothing about a marker."""
    controller = Controller(facts=facts(10_001, reserve_tokens=10_000), sizer=chars_sizer)
    controller.follow(path()[:15])
    controller.ledger.move([2, 3])
    assert 8 in controller.ledger.chosen(fullest=True)
    controller.ledger.move([8])
    controller.follow(path())
    assert set(controller.ledger.shed) == {2, 3, 8}
    assert not controller.ledger.outputs[8].superseded


def written(*, arguments: bool, steps: int = 12) -> Host:
    """A host whose model writes files of 5,000 tokens, one a response."""
    host = Host(shed=ShedSettings(arguments=arguments))
    host.add(user())
    for number in range(steps):
        host.request()
        host.respond(call(f"c{number}", "write", path=f"f{number}.py", content=text(5_000)))
        host.add(result(f"c{number}", 20, "write"))
    host.request()
    return host


def test_arguments_stay_unless_asked_for():
    """The setting is off by default, and then a write call goes out as it was made."""
    host = written(arguments=False)
    assert not host.shed
    assert not any(event.kind == "shed" for event in host.events)


def test_old_arguments_go_and_the_newest_stay():
    """What is answered and older than the protected tail goes; the call keeps its keys, and the pair is whole."""
    host = written(arguments=True)
    assert any(event.kind == "shed" for event in host.events)
    contents = [
        part["arguments"]["content"]
        for message in host.sent
        if message["role"] == "assistant"
        for part in message["content"]
        if part["type"] == "toolCall"
    ]
    gone = [content.startswith("[argument pruned: ~5.0k tokens in e") for content in contents]
    assert gone == sorted(gone, reverse=True)
    assert gone[0]
    assert not gone[-1]
    assert len(contents) == 12
    assert host.size() == pytest.approx(host.controller.view().estimate, abs=30)


def test_arguments_come_back_from_the_state():
    """Another process sends the same shape."""
    host = written(arguments=True)
    again = Controller(facts=facts(), sizer=chars_sizer, state=host.controller.state, shed=ShedSettings(arguments=True))
    again.follow(host.path)
    assert again.plan().replacements == host.controller.plan().replacements


def test_short_arguments_are_no_output():
    """A write of less than the smallest output is never noted."""
    host = Host(shed=ShedSettings(arguments=True))
    host.add(user())
    host.request()
    host.respond(call("c", "write", path="a", content=text(90)))
    host.add(result("c", 20, "write"))
    host.controller.follow(host.path)
    assert not host.controller.ledger.outputs
